package tui

import (
	"gcity/events"
	"gcity/tui/feed"
	"gcity/tui/keymap"
	"gcity/tui/panel"
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

// rowAgent returns the agent that the row under the cursor refers to, or nil if no such agent exists.
func rowAgent(m *model) *panel.AgentRow {
	p := m.focused()
	if p.About().Proxy == "" {
		return nil
	}
	return m.Agents.Find(p.Agent())
}

// singleAgent returns one agent, regardless of marks. If the rows of the focused panel refer to agents, it is the agent
// of the row under the cursor, otherwise the selected agent. It is nil if the focused list of agents shows no row.
func singleAgent(m *model) *panel.AgentRow {
	p := m.focused()
	_, _, shown, _ := p.Cursor()
	switch {
	case p.About().Proxy != "":
		return rowAgent(m)
	case shown == 0 && p.About().Kind == panel.KindAgent && m.focus == p.About().ID:
		return nil
	}
	return selected(m)
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

// visibleIn reports whether a list shows an agent.
func visibleIn(m *model, l *widget.List, name string) bool {
	for _, i := range l.Shown {
		if m.Agents.Rows[i].Name == name {
			return true
		}
	}
	return false
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

func refilterEvents(m *model) { m.Events.Refill(m.env(), nil) }

// loadOlder loads older events when the cursor is on the oldest event.
func loadOlder(m *model) {
	t := m.Events
	if t.List.Cursor > 0 || len(t.Rows) == 0 || t.Asked != 0 || t.Begins ||
		len(t.Rows) >= panel.DigMost || t.Rows[0].Event.Seq <= 1 {
		return
	}
	m.seeks++
	t.Asked = m.seeks
	m.todo = append(m.todo, feed.LoadHistory{ID: t.Asked, Before: t.Rows[0].Event.Seq})
}

// olderLoaded handles older events. If a filter hides all of them, it loads the next page, up to panel.DigMost events.
func olderLoaded(m *model, d feed.LoadedHistory) {
	t := m.Events
	if d.ID != t.Asked {
		return
	}
	t.Asked = 0
	m.ui++
	if d.Problem != "" {
		complain(m, "cannot load older events: "+widget.Plain(d.Problem))
		return
	}
	t.Begins = d.Begins
	before := len(t.List.Shown)
	t.Older(d.Events)
	if len(t.List.Shown) == before && m.focus == panel.IDEvents {
		loadOlder(m)
	}
}
