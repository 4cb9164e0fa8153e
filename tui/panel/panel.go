package panel

import (
	"time"

	"gcity/city"

	"gcity/tui/keymap"
	"gcity/tui/widget"
)

// ID identifies a place on the screen that can have the focus. It is also the key of its stored settings.
type ID string

// The IDs of the panels, of the pane and of the details.
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

// Kind is the kind of an object that verbs act on, such as an agent or a pool.
type Kind string

// The kinds of objects that the control room shows.
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

// Ref names an object in a city. If there is nothing to act on, the name is empty.
type Ref struct {
	Kind Kind
	Name string
}

// Panel is one of the control room's lists. It performs no I/O. The room calls it from one goroutine.
type Panel interface {
	// About returns the constant properties of the panel.
	About() *About
	// Update rebuilds the rows from the snapshot of the city.
	Update(e *Env)
	// Refill applies the filter. Rows for which holds(id) is true stay even if they do not match.
	Refill(e *Env, holds func(id string) bool)
	// Subject returns the object under the cursor, on which verbs act.
	Subject() Ref
	// Actions returns the actions that only this panel has.
	Actions() []Action
	// Draw returns the drawn panel, as at.H lines of at.W columns.
	Draw(e *Env, at Box) []string
	// Entered is called when the panel receives the focus.
	Entered()

	rowList
	describer
}

// rowList is the list of a Panel: cursor, filter, order and marks.
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
	Forget()
}

// describer describes the row under the cursor and the whole list.
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
	ID       ID
	Title    string
	Hotkey   string
	Key2     string // a second key that focuses it; "" = none
	Short    string // its name in the footer; "" = not shown there
	Noun     string // noun for one of its rows
	Zone     keymap.Zone
	Kind     Kind
	Opens    string   // ID of the action that a double click runs
	Details  string   // ID of the action that shows details
	Nouns    []string // ID prefixes of the actions on its rows
	Optional bool     // hidden while it is empty and not focused
	InSlot   bool     // on a wide screen, it replaces Events after it has had the focus
	// it shows a subset of another panel's rows
	Subset    bool
	NoHeads   bool
	FitsWidth bool // its columns never exceed its width
	NoMarks   bool
	Always    bool // it ignores the attention filter
	Follows   bool // the pane shows the agent of the row under the cursor
	// on a small screen, a description of the row replaces the pane
	Described bool
	// message for a row without an agent; "" = no row of the panel refers to an agent
	NoAgent string
	// 1/Share of the height on a wide screen; 0 = the remaining height
	Share     int
	MinHeight int  // its minimum height on a wide screen
	Explains  bool // an empty panel is as high as its help text
}

// Env contains the values from the room that panels need.
type Env struct {
	Look      *widget.Styles
	KeyOf     func(id string) string // returns an action's main key, or "the palette"
	Key       func(id string) string // returns an action's main key, or ""
	Now       time.Time
	Snap      *city.Snapshot // nil = not received yet
	W         int            // width of the screen
	H         int            // height of the screen
	Single    bool           // the screen has room for one panel at a time
	ReadOnly  bool
	Stopped   string         // why no controller runs the city, and what to do; "" = one runs it
	Attention bool           // show only what needs attention
	Alerts    func() []Alert // returns the alerts of the whole city, worst first; nil = unknown
	Still     bool           // the user is working in the lists, so rows keep their order
	UI        uint64         // changes with every change of the view, but not with new data
}

// Box is the space for a panel on the screen.
type Box struct {
	W, H  int
	Focus bool
	Tabs  []widget.Tab // titles in the panel's top line
}
