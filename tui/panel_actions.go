package tui

import (
	"gcity/city"
	"gcity/tui/keymap"
)

// panelAction is what only one panel can do. It acts on the row under the cursor.
type panelAction struct {
	Action panelKey
	writes bool // it changes the city
}

// panelKey is the key of a panelAction, and what it does.
type panelKey = keymap.Action[*env, request]

// request is what a panel asks of the room: to show a text, to carry commands out, or to visit an agent.
type request struct {
	title string // of the text
	lines func(e *env, w int) []string

	ask, verb   string // the question before the commands, where one is asked, and its answer
	doing, what string // says in the status line what is under way
	commands    []city.Command

	visit string // an agent
}

// copied is something that may be copied from what is selected.
type copied struct{ what, text string }
