package state

import (
	"maps"

	"gcity/city"
	"gcity/tui/feed"
	"gcity/tui/panel"
	"gcity/tui/widget"
)

// NothingSelected returns text that says why nothing is selected in a panel, and which key to press.
func NothingSelected(m *Room, p panel.Panel) string {
	return panel.NoneSelected(m.Env(), p, m.ActionPanel() == p)
}

// Releasable returns the targets that can be released: in quarantine, in backoff or draining.
func Releasable(m *Room) []*panel.AgentRow {
	var held []*panel.AgentRow
	for _, r := range Targets(m) {
		if r.Held() {
			held = append(held, r)
		}
	}
	return held
}

// Selected returns the agent of the row under the cursor, or nil. While the pane has the focus, the selection is that
// of the previously focused list.
func Selected(m *Room) *panel.AgentRow {
	if m.Focus != panel.IDPeek {
		return m.Agents.Find(agentOfRow(m))
	}
	if r := m.Agents.Find(m.paneAgent); r != nil {
		return r
	}
	return m.Agents.Find(m.Agents.SelectedKey)
}

// Targets returns the agents that a verb acts on.
func Targets(m *Room) []*panel.AgentRow {
	if len(m.NamedAgents) > 0 {
		rows := make([]*panel.AgentRow, len(m.NamedAgents))
		for i, name := range m.NamedAgents {
			rows[i] = m.Agents.Find(name)
		}
		return rows
	}
	if m.Focused().About().NoAgent == "" && len(m.Agents.Marks) > 0 {
		return m.Agents.Where(func(r *panel.AgentRow) bool { return m.Agents.Marks[r.Name] })
	}
	if r := SingleAgent(m); r != nil {
		return []*panel.AgentRow{r}
	}
	return nil
}

// Automation returns the automation that verbs act on, or nil.
func Automation(m *Room) *panel.AutomationRow {
	if m.ActionPanel() != panel.Panel(m.Automations) {
		return nil
	}
	return m.Automations.Current()
}

// AutomationTargets returns the automations that a verb acts on: the marked ones, or else the one under the cursor.
func AutomationTargets(m *Room) []*panel.AutomationRow {
	if Automation(m) == nil {
		return nil
	}
	return m.Automations.Targets()
}

// Marking returns the marks of the focused list, or the marks of Agents if no list has the focus.
func Marking(m *Room) panel.Marking { return m.Focused().Marking() }

// Unmark clears the marks of each list in which commands act on a marked row.
func Unmark(m *Room, commands []city.Command) {
	for _, c := range commands {
		if m.Agents.Marks[c.Target()] {
			m.Agents.Marks = nil
		}
		if m.Pools.Marks[c.Target()] {
			m.Pools.Marks = nil
		}
	}
}

func list(m *Room) *widget.List {
	if p := m.Focused(); p.About().Kind == panel.KindAgent {
		return p.Marking().List
	}
	return &m.Agents.List
}

// SelectAgent selects an agent in Agents, even if the filter hides the agent.
func SelectAgent(m *Room, name string) {
	if !m.Agents.Select(name) && m.Agents.Has(name) {
		m.Agents.SelectedKey, m.Agents.List.IDs = name, append(m.Agents.List.IDs, name)
		m.ApplyNewData()
	}
	selectionMoved(m)
	if m.Focus == panel.IDPeek {
		m.paneAgent = name
	}
	UpdatePane(m)
}

// selectionMoved must be called after the selection in Agents has moved.
func selectionMoved(m *Room) {
	if m.Events.Only {
		RefilterEvents(m)
	}
}

// ShowAgent shows an agent in the pane. The selection in Agents does not change.
func ShowAgent(m *Room, name string) {
	m.paneAgent = name
	UpdatePane(m)
}

// Pool returns the pool under the cursor or, outside of Pools, the pool of the selected agent. It may be nil.
func Pool(m *Room) *panel.PoolRow {
	if ActsOn(m, panel.KindPool) {
		return m.Pools.Current()
	}
	if r := SingleAgent(m); r != nil {
		return m.Pools.Find(r.Pool)
	}
	return nil
}

// Rig returns the rig that verbs act on, or nil.
func Rig(m *Room) *city.Rig {
	p := m.ActionPanel()
	if p.About().Kind != panel.KindAgent {
		return FindRig(m, p.Rig())
	}
	if r := SingleAgent(m); r != nil {
		return FindRig(m, r.Rig)
	}
	return nil
}

// FindRig returns the rig with the given name, or nil.
func FindRig(m *Room, name string) *city.Rig {
	if name == "" || m.Snap == nil {
		return nil
	}
	r, _ := m.Snap.Rig(name)
	return r
}

// Cloned returns a copy of m. The copy of a nil map is empty.
func Cloned(m map[string]bool) map[string]bool {
	if m == nil {
		return map[string]bool{}
	}
	return maps.Clone(m)
}

// NeedWritable returns the reason why the room cannot change the city, or "".
func NeedWritable(m *Room) string {
	if m.Mode == ReadOnly {
		return "this control room is read-only"
	}
	if Uncontrollable(m) && m.Unreachable != feed.NoResponseYet {
		return NoController(m)
	}
	return ""
}

// Filter returns the filter of the focused panel. If the pane has the focus, it returns the filter of Agents.
func Filter(m *Room) *widget.Filter { return m.Focused().Query() }

// AcknowledgeableWatchdog returns the watchdog under the cursor if it can be acknowledged, or nil.
func AcknowledgeableWatchdog(m *Room) *panel.WatchdogRow {
	if r := m.Watchdogs.Current(); ActsOn(m, panel.KindWatchdog) && m.Mode != ReadOnly &&
		r != nil &&
		r.Info.IsEscalated() {
		return r
	}
	return nil
}

// RowAgent returns the agent that the row under the cursor refers to, or nil if no such agent exists.
func RowAgent(m *Room) *panel.AgentRow {
	p := m.Focused()
	if p.About().NoAgent == "" {
		return nil
	}
	return m.Agents.Find(p.Agent())
}

// SingleAgent returns the agent at the cursor, even if other agents are marked. It may be nil.
func SingleAgent(m *Room) *panel.AgentRow {
	p := m.Focused()
	_, _, shown, _ := p.Cursor()
	switch {
	case p.About().NoAgent != "":
		return RowAgent(m)
	case shown == 0 && p.About().Kind == panel.KindAgent && m.Focus == p.About().ID:
		return nil
	}
	return Selected(m)
}

// UnmarkAll clears the marks of a list. Undo restores them, unless it can still undo an earlier verb.
func UnmarkAll(m *Room, k panel.Marking) {
	before, n := *k.Marks, len(*k.Marks)
	*k.Marks, *k.Anchor = nil, ""
	ShowSuccess(m, "cleared "+widget.Count(n, "mark"))
	m.Actions++
	m.Status.ID = m.Actions
	if m.Undo.Restore == nil && CanUndo(m) {
		return
	}
	m.Undo = Undo{ID: m.Actions, What: "clearing " + widget.Count(n, "mark"),
		Until: m.Now.Add(UndoDuration), Restore: func(m *Room) {
			*k.Marks = before
			ShowSuccess(m, widget.Count(n, "mark")+" restored")
		}}
}
