package tui

import (
	"slices"
)

// action is one thing that the control room can do.
type action = Action[*model, effect]

// registry is the list of the control room's actions.
type registry = Registry[*model, effect]

// CheckKeys says what is wrong with a person's keys, as the control room would.
func CheckKeys(p Person) []string {
	r := newRegistry()
	r.include(themeActions(p.Themes))
	return r.rebind(p.Keys)
}

func newRegistry() *registry {
	r := &registry{}
	r.include(slices.Concat(
		agentActions(), sendActions(), poolActions(), automationActions(), watchdogActions(),
		workActions(), mailActions(), rigActions(), configActions(), viewActions(),
		peekActions(), editActions(), inspectActions(), eventActions(), moveActions(),
		sortActions(), markActions(), messageActions(), menuActions(), mouseActions(),
		leaveActions(), dialogActions(), fleetActions(),
	))
	return r
}
