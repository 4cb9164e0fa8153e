// Package actions defines the actions of the control room: their keys, the conditions under which they are available,
// and their effects. It also defines the palette's verbs. An action changes the state of the room and returns effects.
// It performs no I/O.
//
// A condition is a function that returns the reason why an action is not available, or "".
package actions

import (
	"slices"

	"gcity/city"
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

// returning returns a task with the given effects.
func returning(todo ...feed.Effect) state.Task {
	return func(*state.Room) []feed.Effect { return todo }
}

// sending returns a task that sends commands.
func sending(doing, what string, commands ...city.Command) state.Task {
	return func(m *state.Room) []feed.Effect {
		return state.SendCommands(m, doing, what, commands...)
	}
}

// sendingToEach returns a task that sends one command per agent.
func sendingToEach(doing string, rows []*panel.AgentRow,
	command func(name string) city.Command) state.Task {
	return func(m *state.Room) []feed.Effect {
		return state.CommandRows(m, doing, rows, command)
	}
}

func restart(name string) city.Command { return city.Restart{Agent: name} }

func drain(name string) city.Command { return city.Drain{Agent: name} }

func undrain(name string) city.Command { return city.Undrain{Agent: name} }

func suspend(name string) city.Command { return city.Suspend{Agent: name} }

func resume(name string) city.Command { return city.Resume{Agent: name} }

// switching returns a task that switches to another city.
func switching(to feed.SwitchCity) state.Task {
	return func(m *state.Room) []feed.Effect { return state.StartSwitch(m, to) }
}

func promptHint(m *state.Room, done string) string {
	return m.Keys.Hint("  ", "prompt.done", done, "prompt.cancel", "cancels")
}
