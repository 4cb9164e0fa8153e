// Package actions defines the actions of the control room: their keys, the conditions under which they are available,
// and their effects. It also defines the palette's verbs. An action changes the state of the room and returns effects.
// It performs no I/O.
//
// A condition is a function that returns the reason why an action is not available, or "".
package actions

import (
	"slices"

	"gcity/tui/feed"
	"gcity/tui/keymap"
	"gcity/tui/panel"
	"gcity/tui/state"
)

// NewRegistry returns a registry of all actions.
func NewRegistry(all []panel.Panel) *state.Registry {
	r := &state.Registry{}
	r.Add(slices.Concat(
		agentActions(), sendActions(), poolActions(), automationActions(), panelActions(all),
		workActions(), mailActions(), rigActions(), configActions(), focusActions(all),
		viewActions(all),
		peekActions(), editActions(), inspectActions(), eventActions(), moveActions(all),
		sortActions(all), markActions(all), messageActions(), menuActions(), mouseActions(),
		leaveActions(), dialogActions(), fleetActions(),
	))
	return r
}

// in limits the actions that have no zones yet to the given ones.
func in(all []state.Action, zones ...keymap.Zone) []state.Action {
	for i := range all {
		if all[i].In == nil {
			all[i].In = zones
		}
	}
	return all
}

// noEffects returns a task that only changes the room.
func noEffects(change func(*state.Room)) state.Task {
	return func(m *state.Room) []feed.Effect {
		change(m)
		return nil
	}
}

func promptHint(m *state.Room, done string) string {
	return m.Keys.Hint("  ", "prompt.done", done, "prompt.cancel", "cancels")
}
