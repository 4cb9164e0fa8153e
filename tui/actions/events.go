package actions

import (
	"gcity/events"
	"gcity/tui/feed"
	"gcity/tui/keymap"
	"gcity/tui/state"
	"gcity/tui/widget"
)

func eventActions() []state.Action {
	return in([]state.Action{
		{ID: "event.agent", Key: keymap.Bind("select the agent of the event", "."),
			Short: "agent", Why: needEventAgent, Run: chooseOfEvent},
		{ID: "event.only",
			Key: keymap.Bind("show only this agent's events; again: all events",
				","), Short: "only this agent", Why: needOnly, Run: toggleOnly},
		{ID: "reader.agent", Key: keymap.Bind("from an event: select its agent",
			"."), In: []keymap.Zone{keymap.InReader}, Why: needOpenAgent, Run: selectOpen},
	}, keymap.InEvents)
}

func needEventAgent(m *state.Room) string {
	if why := needEvent(m); why != "" {
		return why
	}
	if agentOf(m, &m.Events.Selected().Event) == "" {
		return "this event does not belong to an agent that exists"
	}
	return ""
}

func agentOf(m *state.Room, e *events.Event) string {
	for _, name := range []string{e.Subject, e.Actor} {
		if m.Agents.Find(name) != nil {
			return name
		}
	}
	return ""
}

func needOpenAgent(m *state.Room) string {
	if name := m.Dialogs.EventAgent(); name == "" || m.Agents.Find(name) == nil {
		return "this page does not belong to an agent that exists"
	}
	return ""
}

func selectOpen(m *state.Room) []feed.Effect {
	name := m.Dialogs.EventAgent()
	m.Dialogs.CloseIn(keymap.InReader)
	return chooseNamed(m, name)
}

func chooseOfEvent(m *state.Room) []feed.Effect {
	return chooseNamed(m, agentOf(m, &m.Events.Selected().Event))
}

func chooseNamed(m *state.Room, name string) []feed.Effect {
	state.SelectAgent(m, name)
	if m.Agents.List.Unmatched[name] {
		state.ShowSuccess(m,
			widget.Plain(name)+" is selected; it does not match the filter in Agents")
	}
	return nil
}

func needOnly(m *state.Room) string {
	if m.Events.Only {
		return ""
	}
	return needEventAgent(m)
}

func toggleOnly(m *state.Room) []feed.Effect {
	if !m.Events.Only {
		state.SelectAgent(m, agentOf(m, &m.Events.Selected().Event))
	}
	m.Events.Only = !m.Events.Only
	state.RefilterEvents(m)
	return nil
}
