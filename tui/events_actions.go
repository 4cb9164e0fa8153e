package tui

import (
	"gcity/events"
	"gcity/tui/feed"
	"gcity/tui/keymap"
	"gcity/tui/widget"
)

// eventActions returns the actions of the timeline.
func eventActions() []action {
	e := []keymap.Zone{keymap.InEvents}
	return []action{
		{ID: "event.agent", Key: keymap.Bind("select the agent of the event", "."),
			Short: "agent", In: e, Why: needEventAgent, Run: chooseOfEvent},
		{ID: "event.only",
			Key: keymap.Bind("show only events of the event's agent, or all events",
				","), Short: "only it", In: e, Why: needOnly, Run: toggleOnly},
		{ID: "reader.agent", Key: keymap.Bind("from an event: select its agent",
			"."), In: []keymap.Zone{keymap.InReader}, Why: needReadAgent, Run: chooseRead},
	}
}

func needEventAgent(m *model) string {
	if why := needEvent(m); why != "" {
		return why
	}
	if agentOf(m, &m.Events.Selected().Event) == "" {
		return "this event is not about an existing agent"
	}
	return ""
}

// agentOf returns the agent that an event is about, or that caused it; "" if no such agent exists.
func agentOf(m *model, e *events.Event) string {
	for _, name := range []string{e.Subject, e.Actor} {
		if m.Agents.Find(name) != nil {
			return name
		}
	}
	return ""
}

func needReadAgent(m *model) string {
	if name := m.dialogs.eventAgent(); name == "" || m.Agents.Find(name) == nil {
		return "this text is not about an existing agent"
	}
	return ""
}

func chooseRead(m *model) []feed.Effect {
	name := m.dialogs.eventAgent()
	m.dialogs.CloseIn(keymap.InReader)
	return chooseNamed(m, name)
}

func chooseOfEvent(m *model) []feed.Effect {
	return chooseNamed(m, agentOf(m, &m.Events.Selected().Event))
}

// chooseNamed selects an agent. If a filter hides the agent, it reports that.
func chooseNamed(m *model, name string) []feed.Effect {
	choose(m, name)
	if m.Agents.Chosen == name && !visibleIn(m, &m.Agents.List, name) {
		say(m, widget.Plain(name)+" is selected; the filter of Agents hides it")
	}
	return nil
}

func needOnly(m *model) string {
	if m.Events.Only {
		return ""
	}
	return needEventAgent(m)
}

// toggleOnly turns the agent filter of Events on or off. Turning it on selects the agent of the event under the
// cursor. The filter then follows the selection.
func toggleOnly(m *model) []feed.Effect {
	if !m.Events.Only {
		choose(m, agentOf(m, &m.Events.Selected().Event))
	}
	m.Events.Only = !m.Events.Only
	refilterEvents(m)
	return nil
}
