package panel

import (
	"gcity/city"
	"gcity/tui/keymap"
)

// Action is an action that only one panel has. It acts on the row under the cursor.
type Action struct {
	Action Key
	Writes bool // it changes the city
}

// Key is the key of an Action and its description.
type Key = keymap.Action[*Env, Request]

// Request is what a panel asks of the room: to show a text, to send commands, or to select an agent.
type Request struct {
	Title string // of the text
	Lines func(e *Env, w int) []string

	Ask, Verb  string // the question before the commands, if one is needed, and its answer
	Whom, Body []string
	// of the targets, for a question that is asked before an action that is not harmless
	Count       int
	Doing, What string // the progress text for the status line
	Commands    []city.Command

	Visit string // an agent

	Go     ID     // a panel
	Filter string // that it gets
}

// Copied is a text that can be copied from the selection.
type Copied struct{ What, Text string }
