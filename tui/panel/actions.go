package panel

import (
	"gcity/city"
	"gcity/tui/keymap"
)

// Action is an action that only one panel has. It acts on the row under that panel's cursor.
type Action struct {
	Action Key
	Writes bool // it changes the city, so it is not available in a read-only room
}

// Key identifies an Action and contains its keys and descriptions.
type Key = keymap.Action[*Env, Request]

// Request is what a panel asks the room to do.
type Request struct {
	Title string
	Lines func(e *Env, w int) []string

	Prompt, Yes   string // question before the commands, and the label of "yes"
	Targets, Body []string
	// number of targets if the action can do harm
	Count       int
	Counts      string // plural noun for the targets: "agents"
	Doing, What string // the progress text for the status line
	Commands    []city.Command
	// rigs that the question is about, and a function that returns the question for those that still exist
	Rigs  []*RigRow
	Build func(rows []*RigRow) Request

	Select string // name of the agent to select

	GoTo   ID     // panel to go to
	Filter string // filter for that panel
}

// Copied is a value that can be copied from the selection.
type Copied struct{ What, Text string }
