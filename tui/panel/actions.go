package panel

import (
	"gcity/city"
	"gcity/tui/keymap"
)

// Action is an action that only one panel has.
type Action struct {
	Action Key
	Writes bool // it changes the city
}

// Key is the keymap's part of an Action: its ID, keys, descriptions and functions.
type Key = keymap.Action[*Env, Request]

// Request is what a panel asks the room to do.
type Request struct {
	Title string
	Lines func(e *Env, w int) []string

	Prompt, Yes   string // the question, and the label of "yes"
	Targets, Body []string
	// number of targets of a harmful action
	Count       int
	Counts      string // plural noun: "agents"
	Doing, What string
	Commands    []city.Command
	// the rigs in question; Build returns the question for those that still exist
	Rigs  []*RigRow
	Build func(rows []*RigRow) Request

	Select string // name of the agent to select

	GoTo   ID
	Filter string
}

// Copied is a value that can be copied from the selection.
type Copied struct{ What, Text string }
