package tui

import (
	"time"

	"gcity/city"

	"gcity/tui/keymap"
	"gcity/tui/widget"
)

// panel names a place that can have the focus. The name is also that of its settings in the memory of a room.
type panel string

// The panels that the layout has a place of its own for.
const (
	panelAgents      panel = "agents"
	panelPools       panel = "pools"
	panelQuarantine  panel = "quarantine"
	panelAutomations panel = "automations"
	panelEvents      panel = "events"
	panelWatchdogs   panel = "watchdogs"
	panelPeek        panel = "peek"   // no Panel: it shows a terminal
	panelDetail      panel = "detail" // never has the focus
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
	// about returns what never changes about the panel.
	about() *about
	// Update makes the rows anew from the snapshot of the city.
	Update(e *env)
	// Refill applies the filter to the rows. A row for which holds is true stays although it does not pass.
	Refill(e *env, holds func(id string) bool)
	// Subject returns what verbs act on: the thing under the cursor.
	Subject() Ref
	// Actions returns what only this panel can do.
	Actions() []panelAction
	// Draw returns h lines of w columns.
	Draw(e *env, at box) []string
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
	Headed(e *env, w, h int) bool
	Hidden(e *env, w, h int) (above, below int)
	Settled(holds func(id string) bool) bool
	Key() string
	Query() *widget.Filter
	Marking() marking
	Sorting(now time.Time) (o *widget.Order, ways []string)
	Sort(now time.Time)
	Sorted(now time.Time) bool
	Forget()
}

// teller is the part of a Panel that says things about the row under the cursor, and about all rows.
type teller interface {
	Title(e *env) widget.Tab
	Search(e *env) (text, found string)
	Help(e *env, w int) []string
	Agent() string
	Rig() string
	Called() string
	Copies() []copied
	Strip(e *env, w int) []string
}

// about is what never changes about a panel.
type about struct {
	id       panel
	title    string
	hotkey   string      // that goes to it
	noun     string      // one of the things that it lists
	zone     keymap.Zone // where its keys work
	kind     Kind
	opens    string   // the id of the action of a double click
	details  string   // the id of the action that shows the thing in detail
	nouns    []string // the first words of the ids of the actions that are about the thing
	optional bool     // it is not shown while it is empty and has no focus
	// it shows some rows of another panel, with the filter, order and marks of that one
	part     bool
	shared   bool // another panel shows the same rows: the room chooses among them
	plain    bool // no heads above its columns
	exact    bool // its columns are never wider than it
	unmarked bool // its rows cannot be marked
	always   bool // the attention filter does not apply
	follows  bool // the selected agent is the one that the row stands for
	// why there is no agent that the row stands for, "" = rows do not stand for agents
	proxy string
	// the part of a column of panels that it gets on a wide screen: 1/share, 0 = what is left
	share    int
	least    int  // the rows that it gets there at least
	explains bool // while it is empty it takes the rows that its help needs
}

// env is what panels know about the room around them.
type env struct {
	look      *widget.Styles
	keyOf     func(id string) string // the keys of an action
	key       func(id string) string // its usual key, "" = it has none
	now       time.Time
	snap      *city.Snapshot // nil = nothing has been heard yet
	h         int            // of the screen
	single    bool           // the screen has room for one panel
	readOnly  bool
	attention bool   // only what needs attention is shown
	still     bool   // the user is at work in the lists: rows keep their order
	ui        uint64 // grows with everything that may change what is shown besides data
}

// box is the place that a panel is drawn into.
type box struct {
	w, h  int
	focus bool
	tabs  []widget.Tab // the titles in its rule
}
