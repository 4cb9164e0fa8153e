package tui

import (
	"gcity/city"
	"gcity/tui/panel"
	"gcity/tui/widget"
	"maps"
)

// noneIn returns why nothing is selected in a panel, with the key that helps.
func noneIn(m *model, p panel.Panel) string {
	return panel.NoneSelected(m.env(), p, m.worked() == p)
}

// releasable returns the targets that can be released: in quarantine, in backoff or draining.
func releasable(m *model) []*panel.AgentRow {
	var held []*panel.AgentRow
	for _, r := range targets(m) {
		if r.Held() {
			held = append(held, r)
		}
	}
	return held
}

// selected returns the selected agent, or nil. By default verbs act on it and the pane shows it.
func selected(m *model) *panel.AgentRow { return m.Agents.Find(m.Agents.Chosen) }

// targets returns the agents that a verb acts on. They come from the first non-empty source: the palette
// line, the row under the cursor in panels such as Events, the marks, the selection.
func targets(m *model) []*panel.AgentRow {
	if len(m.aim) > 0 {
		rows := make([]*panel.AgentRow, len(m.aim))
		for i, name := range m.aim {
			rows[i] = m.Agents.Find(name)
		}
		return rows
	}
	if m.focused().About().Proxy == "" && len(m.Agents.Marks) > 0 {
		var rows []*panel.AgentRow
		for i := range m.Agents.Rows {
			if m.Agents.Marks[m.Agents.Rows[i].Name] {
				rows = append(rows, &m.Agents.Rows[i])
			}
		}
		return rows
	}
	if r := singleAgent(m); r != nil {
		return []*panel.AgentRow{r}
	}
	return nil
}

// automation returns the automation that verbs act on, or nil.
func automation(m *model) *panel.AutomationRow {
	if m.worked() != panel.Panel(m.Automations) {
		return nil
	}
	return m.Automations.Current()
}

// automationTargets returns the automations that a verb acts on: the marked ones or, without marks, the one under the
// cursor.
func automationTargets(m *model) []*panel.AutomationRow {
	if automation(m) == nil {
		return nil
	}
	return m.Automations.Targets()
}

// marking returns the marks of the focused list, or the marks of Agents if no list has the focus.
func marking(m *model) panel.Marking { return m.focused().Marking() }

// unmark clears the marks of a list if commands act on a marked row of it.
func unmark(m *model, commands []city.Command) {
	for _, c := range commands {
		if m.Agents.Marks[c.Target()] {
			m.Agents.Marks = map[string]bool{}
		}
		if m.Pools.Marks[c.Target()] {
			m.Pools.Marks = map[string]bool{}
		}
	}
}

// list returns the list of the focused panel if it shows agents, and otherwise the list of Agents.
func list(m *model) *widget.List {
	if p := m.focused(); p.About().Kind == panel.KindAgent {
		return p.Marking().List
	}
	return &m.Agents.List
}

// choose selects an agent in all panels for the user.
func choose(m *model, name string) {
	m.aside = ""
	chooseFor(m, name)
}

// chooseFor selects an agent in all panels. Unlike choose, it keeps the selection that is restored after Quarantine.
func chooseFor(m *model, name string) {
	if name != m.Agents.Chosen {
		m.peek.Follow()
		endSearch(m)
	}
	changed := name != m.Agents.Chosen
	m.Agents.Chosen = name
	if changed && m.Events.Only {
		refilterEvents(m)
	}
	m.Agents.List.Select(m.Agents, name)
	m.Quarantine.List.Select(m.Agents, name)
}

// pool returns the pool that verbs act on, or nil. If Pools has the focus, that is the pool under the cursor,
// otherwise the pool of the selected agent.
func pool(m *model) *panel.PoolRow {
	if actsOn(m, panel.KindPool) {
		return m.Pools.Current()
	}
	if r := singleAgent(m); r != nil {
		return m.Pools.Find(r.Pool)
	}
	return nil
}

// rig returns the rig that verbs act on, or nil.
func rig(m *model) *city.Rig {
	p := m.worked()
	if p.About().Kind != panel.KindAgent {
		return rigCalled(m, p.Rig())
	}
	if r := singleAgent(m); r != nil {
		return rigCalled(m, r.Rig)
	}
	return nil
}

func rigCalled(m *model, name string) *city.Rig {
	if name == "" || m.snap == nil {
		return nil
	}
	for i := range m.snap.Rigs {
		if m.snap.Rigs[i].Name == name {
			return &m.snap.Rigs[i]
		}
	}
	return nil
}

func cloned(m map[string]bool) map[string]bool {
	if m == nil {
		return map[string]bool{}
	}
	return maps.Clone(m)
}

func needWritable(m *model) string {
	if m.mode == ReadOnly {
		return "this control room is read-only"
	}
	return ""
}

// filter returns the filter of the focused panel; for the pane, the filter of Agents.
func filter(m *model) *widget.Filter { return m.focused().Query() }

// answerable returns the watchdog under the cursor if it calls for attention and can be acknowledged, or nil.
func answerable(m *model) *panel.WatchdogRow {
	if r := m.Watchdogs.Current(); actsOn(m, panel.KindWatchdog) && m.mode != ReadOnly &&
		r != nil &&
		r.Dog.Calls() {
		return r
	}
	return nil
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

// visibleIn reports whether a list shows an agent.
func visibleIn(m *model, l *widget.List, name string) bool {
	for _, i := range l.Shown {
		if m.Agents.Rows[i].Name == name {
			return true
		}
	}
	return false
}

// unmarkAll clears the marks of a list; undo restores them for a while.
func unmarkAll(m *model, k panel.Marking) {
	before, n := *k.Marks, len(*k.Marks)
	*k.Marks = map[string]bool{}
	say(m, "cleared "+widget.Count(n, "mark"))
	m.actions++
	m.status.id = m.actions
	m.undo = undo{id: m.actions, until: m.now.Add(undoFor), restore: func(m *model) {
		*k.Marks = before
		say(m, widget.Count(n, "mark")+" again")
	}}
}
