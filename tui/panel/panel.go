package panel

import (
	"time"

	"gcity/city"

	"gcity/tui/keymap"
	"gcity/tui/widget"
)

// ID identifies a place on the screen. Settings are stored under it.
type ID string

const (
	IDAgents      ID = "agents"
	IDPools       ID = "pools"
	IDQuarantine  ID = "quarantine"
	IDAutomations ID = "automations"
	IDEvents      ID = "events"
	IDWatchdogs   ID = "watchdogs"
	IDRigs        ID = "rigs"
	IDWork        ID = "work"
	IDMail        ID = "mail"
	IDPeek        ID = "peek"   // not a Panel: it shows a terminal
	IDDetail      ID = "detail" // never has the focus
)

// Kind is the kind of an object, such as an agent or a pool.
type Kind string

const (
	KindAgent      Kind = "agent"
	KindPool       Kind = "pool"
	KindAutomation Kind = "automation"
	KindEvent      Kind = "event"
	KindWatchdog   Kind = "watchdog"
	KindRig        Kind = "rig"
	KindBead       Kind = "work"
	KindMessage    Kind = "mail"
)

// Ref names an object in a city. An empty name means no object.
type Ref struct {
	Kind Kind
	Name string
}

// Panel is one of the control room's lists. It performs no I/O, and is used from one goroutine.
type Panel interface {
	// About returns the constant properties of the panel.
	About() *About
	// Update rebuilds the rows from the snapshot of the city.
	Update(e *Env)
	// Refill applies the filter, but keeps shown rows for which holds(id) is true.
	Refill(e *Env, holds func(id string) bool)
	// Subject returns the object under the cursor.
	Subject() Ref
	// Actions returns the actions that only this panel has.
	Actions() []Action
	// Draw returns at.H lines of at.W columns.
	Draw(e *Env, at Box) []string
	// Entered is called when the panel receives the focus.
	Entered()

	rowList
	describer
}

type rowList interface {
	Move(n int)
	Select(id string) bool
	Has(id string) bool
	Cursor() (at, offset, shown, total int)
	Headed(e *Env, w, h int) bool
	Hidden(e *Env, w, h int) (above, below int)
	Settled(holds func(id string) bool) bool
	Key() string
	Preferred() string
	Prefer(key string)
	Query() *widget.Filter
	Marking() Marking
	Sorting(now time.Time) (o *widget.Order, ways []string)
	OrderAt(e *Env, w, x int) int
	NextOrder(e *Env, w int) int
	Sort(now time.Time)
	Sorted(now time.Time) bool
	Recall(now time.Time) bool
	Vanished(now time.Time) string
	Forget()
}

type describer interface {
	Title(e *Env) widget.Tab
	Search(e *Env) (text, found string)
	Help(e *Env, w int) []string
	Agent() string
	Rig() string
	Called() string
	Copies() []Copied
	Summary(e *Env, w int) []string
}

// About contains the constant properties of a panel.
type About struct {
	ID        ID
	Title     string
	Hotkey    string
	Key2      string // a second key that focuses it
	Short     string // its name in the footer; "" = not shown there
	Noun      string // noun for one of its rows
	Zone      keymap.Zone
	Kind      Kind
	Opens     string // ID of the action that a double click runs
	Details   string
	Nouns     []string // ID prefixes of the actions on its rows
	Optional  bool     // hidden while it is empty and not focused
	InSlot    bool     // on a wide screen, it can replace Events
	Subset    bool
	NoHeads   bool
	FitsWidth bool // its columns never exceed its width
	NoMarks   bool
	Always    bool // it ignores the attention filter
	Follows   bool // the pane shows the agent of the row under the cursor
	// on a small screen, a description of the row replaces the pane
	Described bool
	// message for a row without an agent; "" = no row refers to an agent
	NoAgent string
	// 1/Share of the height on a wide screen; 0 = the remaining height
	Share     int
	MinHeight int  // on a wide screen
	Explains  bool // an empty panel is as high as its help text
}

// Env contains what panels need from the room.
type Env struct {
	Look      *widget.Styles
	KeyOf     func(id string) string // returns an action's main key, or "the palette"
	Key       func(id string) string // returns an action's main key, or ""
	Now       time.Time
	Snap      *city.Snapshot // nil = not received yet
	W         int
	H         int
	Single    bool // the screen has room for one panel at a time
	ReadOnly  bool
	Stopped   string         // why no controller runs the city, and what to do
	Attention bool           // show only what needs attention
	Alerts    func() []Alert // returns the alerts of the whole city, worst first; nil = unknown
	Still     bool           // the user is working in the lists, so rows keep their order
	UI        uint64         // changes with the view, but not with new data
}

// Box is the space for a panel on the screen.
type Box struct {
	W, H  int
	Focus bool
	Tabs  []widget.Tab
}
