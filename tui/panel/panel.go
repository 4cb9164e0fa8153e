package panel

import (
	"time"

	"gcity/city"

	"gcity/tui/keymap"
	"gcity/tui/widget"
)

// ID names a place that can have the focus. The name is also that of its settings in the memory of a room.
type ID string

// The panels that the layout has a place of its own for.
const (
	IDAgents      ID = "agents"
	IDPools       ID = "pools"
	IDQuarantine  ID = "quarantine"
	IDAutomations ID = "automations"
	IDEvents      ID = "events"
	IDWatchdogs   ID = "watchdogs"
	IDPeek        ID = "peek"   // no Panel: it shows a terminal
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
	KindBead       Kind = "work"
	KindMessage    Kind = "mail"
)

// Ref is a thing of a city. Its name is empty if there is no such thing to act on.
type Ref struct {
	Kind Kind
	Name string
}

// Panel is one of the lists of the control room. It does no I/O; the room calls it from one goroutine.
type Panel interface {
	// About returns what never changes about the panel.
	About() *About
	// Update makes the rows anew from the snapshot of the city.
	Update(e *Env)
	// Refill applies the filter to the rows. A row for which holds is true stays although it does not pass.
	Refill(e *Env, holds func(id string) bool)
	// Subject returns what verbs act on: the thing under the cursor.
	Subject() Ref
	// Actions returns what only this panel can do.
	Actions() []Action
	// Draw returns h lines of w columns.
	Draw(e *Env, at Box) []string
	// Entered tells the panel that it got the focus.
	Entered()

	lister
	teller
}

// lister is the part of a Panel that is about its list: cursor, filter, order and marks.
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

// teller is the part of a Panel that says things about the row under the cursor, and about all rows.
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

// About is what never changes about a panel.
type About struct {
	ID       ID
	Title    string
	Hotkey   string      // that goes to it
	Noun     string      // one of the things that it lists
	Zone     keymap.Zone // where its keys work
	Kind     Kind
	Opens    string   // the id of the action of a double click
	Details  string   // the id of the action that shows the thing in detail
	Nouns    []string // the first words of the ids of the actions that are about the thing
	Optional bool     // it is not shown while it is empty and has no focus
	// it shows some rows of another panel, with the filter, order and marks of that one
	Part     bool
	Shared   bool // another panel shows the same rows: the room chooses among them
	Plain    bool // no heads above its columns
	Exact    bool // its columns are never wider than it
	Unmarked bool // its rows cannot be marked
	Always   bool // the attention filter does not apply
	Follows  bool // the selected agent is the one that the row stands for
	// why there is no agent that the row stands for, "" = rows do not stand for agents
	Proxy string
	// the part of a column of panels that it gets on a wide screen: 1/share, 0 = what is left
	Share    int
	Least    int  // the rows that it gets there at least
	Explains bool // while it is empty it takes the rows that its help needs
}

// Env is what panels know about the room around them.
type Env struct {
	Look      *widget.Styles
	KeyOf     func(id string) string // the keys of an action
	Key       func(id string) string // its usual key, "" = it has none
	Now       time.Time
	Snap      *city.Snapshot // nil = nothing has been heard yet
	H         int            // of the screen
	Single    bool           // the screen has room for one panel
	ReadOnly  bool
	Attention bool   // only what needs attention is shown
	Still     bool   // the user is at work in the lists: rows keep their order
	UI        uint64 // grows with everything that may change what is shown besides data
}

// Box is the place that a panel is drawn into.
type Box struct {
	W, H  int
	Focus bool
	Tabs  []widget.Tab // the titles in its rule
}
