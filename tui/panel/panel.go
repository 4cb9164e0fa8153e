package panel

import (
	"time"

	"gcity/city"

	"gcity/tui/keymap"
	"gcity/tui/widget"
)

// ID names a place that can have the focus. It is also the name of its stored settings.
type ID string

// The panels that have a fixed place in the layout.
const (
	IDAgents      ID = "agents"
	IDPools       ID = "pools"
	IDQuarantine  ID = "quarantine"
	IDAutomations ID = "automations"
	IDEvents      ID = "events"
	IDWatchdogs   ID = "watchdogs"
	IDRigs        ID = "rigs"
	IDPeek        ID = "peek"   // not a Panel: it shows a terminal
	IDDetail      ID = "detail" // never has the focus
)

// Kind is the kind of a thing that verbs act on.
type Kind string

// The kinds of the things that the control room shows.
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

// Ref names a thing of a city. The name is empty if there is nothing to act on.
type Ref struct {
	Kind Kind
	Name string
}

// Panel is one of the lists of the control room. It does no I/O; the room calls it from one goroutine.
type Panel interface {
	// About returns the constant properties of the panel.
	About() *About
	// Update rebuilds the rows from the snapshot of the city.
	Update(e *Env)
	// Refill applies the filter. A row for which holds returns true stays even if it does not match.
	Refill(e *Env, holds func(id string) bool)
	// Subject returns what verbs act on: the thing under the cursor.
	Subject() Ref
	// Actions returns the actions that only this panel has.
	Actions() []Action
	// Draw returns h lines of w columns.
	Draw(e *Env, at Box) []string
	// Entered is called when the panel gets the focus.
	Entered()

	lister
	teller
}

// lister is the list of a Panel: cursor, filter, order and marks.
type lister interface {
	Move(n int)
	Select(id string) bool
	Has(id string) bool
	Cursor() (at, offset, shown, total int)
	Headed(e *Env, w, h int) bool
	Hidden(e *Env, w, h int) (above, below int)
	Settled(holds func(id string) bool) bool
	Key() string
	Query() *widget.Filter
	Marking() Marking
	Sorting(now time.Time) (o *widget.Order, ways []string)
	Sort(now time.Time)
	Sorted(now time.Time) bool
	Forget()
}

// teller describes the row under the cursor, and all rows.
type teller interface {
	Title(e *Env) widget.Tab
	Search(e *Env) (text, found string)
	Help(e *Env, w int) []string
	Agent() string
	Rig() string
	Called() string
	Copies() []Copied
	Strip(e *Env, w int) []string
}

// About has the constant properties of a panel.
type About struct {
	ID       ID
	Title    string
	Hotkey   string      // focuses it
	Noun     string      // a name for one of its things
	Zone     keymap.Zone // the zone of its keys
	Kind     Kind
	Opens    string   // the action of a double click
	Details  string   // the action that shows details
	Nouns    []string // prefixes of the ids of actions about its things
	Optional bool     // hidden while it is empty and not focused
	Slot     bool     // on a wide screen it takes the place of Events while it was focused last
	// it shows some rows of another panel, with that panel's filter, order and marks
	Part     bool
	Shared   bool // another panel shows the same rows: the room selects among them
	Plain    bool // no column headings
	Exact    bool // its columns are never wider than it
	Unmarked bool // its rows cannot be marked
	Always   bool // the attention filter does not apply
	Follows  bool // the agent of the row becomes the selected one
	// why the row stands for no agent; "" = rows do not stand for agents
	Proxy string
	// the part of the height that it gets on a wide screen: 1/Share, 0 = the rest
	Share    int
	Least    int  // its least height there
	Explains bool // while empty it takes the rows that its help needs
}

// Env is what panels know about the room.
type Env struct {
	Look      *widget.Styles
	KeyOf     func(id string) string // the keys of an action
	Key       func(id string) string // its default key, "" = none
	Now       time.Time
	Snap      *city.Snapshot // nil = not received yet
	H         int            // of the screen
	Single    bool           // the screen has room for one panel
	ReadOnly  bool
	Attention bool   // only what needs attention is shown
	Still     bool   // the user works in the lists: rows keep their order
	UI        uint64 // grows with every change of the view that is not data
}

// Box is the place of a panel on the screen.
type Box struct {
	W, H  int
	Focus bool
	Tabs  []widget.Tab // the titles in its rule
}
