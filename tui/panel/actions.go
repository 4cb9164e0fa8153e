package panel

import (
	"gcity/city"
	"gcity/tui/keymap"
)

// Action is what only one panel can do. It acts on the row under the cursor.
type Action struct {
	Action Key
	Writes bool // it changes the city
}

// Key is the key of a panelAction, and what it does.
type Key = keymap.Action[*Env, Request]

// Request is what a panel asks of the room: to show a text, to carry commands out, or to visit an agent.
type Request struct {
	Title string // of the text
	Lines func(e *Env, w int) []string

	Ask, Verb   string // the question before the commands, where one is asked, and its answer
	Doing, What string // says in the status line what is under way
	Commands    []city.Command

	Visit string // an agent
}

// Copied is something that may be copied from what is selected.
type Copied struct{ What, Text string }
