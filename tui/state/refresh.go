package state

import (
	"slices"
	"strings"

	"gcity/tui/panel"
	"gcity/tui/widget"
)

// Relist rebuilds the lists from the snapshot.
func (m *Room) Relist() {
	e := m.Env()
	for _, p := range m.Panels {
		p.Update(e)
	}
	ReportFiredRun(m)
	RunsChanged(m)
	inspectionChanged(m)
	updateFollowed(m)
	excludeOwnView(m)
	m.ApplyNewData()
	if m.Snap != nil && m.restored.Rows != nil {
		recallRows(m)
	}
}

// Refill applies the filters after the user has changed them.
func (m *Room) Refill() { m.fill(func(panel.Panel) func(string) bool { return nil }) }

// ApplyNewData applies the filters to new data. Rows in use stay until the cursor leaves them.
func (m *Room) ApplyNewData() { m.fill(m.keptRows) }

// keptRows returns a function that reports whether a row stays although it no longer matches. The row under the cursor
// stays. While the user works in the lists, all rows stay. A list that shows a part of another list keeps rows only
// while it has the focus.
func (m *Room) keptRows(p panel.Panel) func(id string) bool {
	here, chosen := !p.About().Subset || m.Focused() == p, p.Key()
	return func(id string) bool { return here && (id == chosen || m.userIsActive()) }
}

func (m *Room) fill(holding func(panel.Panel) func(id string) bool) {
	m.FilledAt = m.Now.Unix()
	e := m.Env()
	for _, p := range m.Panels {
		p.Refill(e, holding(p))
	}
	m.chooseVisible()
	m.FollowSubject()
}

// chooseVisible selects the agent under the cursor if the selected agent no longer exists or is no longer listed.
func (m *Room) chooseVisible() {
	r := m.Agents.At(list(m))
	if r == nil {
		return
	}
	if Selected(m) == nil && m.Agents.SelectedKey != "" {
		selectInAll(m, nearestMember(m, m.Agents.SelectedKey, r.Name))
		return
	}
	if Selected(m) == nil ||
		m.Focus != panel.IDPeek && !m.Focused().About().Follows && !m.followsWhileFocused() &&
			!m.Visible(m.Agents.SelectedKey) {
		selectInAll(m, r.Name)
	}
}

// nearestMember returns the visible agent to select after a pool member has ended: a member of the same pool, otherwise
// the agent under the cursor.
func nearestMember(m *Room, ended, cursor string) string {
	end := strings.LastIndexByte(ended, '-')
	if r := m.Agents.Find(cursor); end < 0 || r != nil && r.Pool == ended[:end] {
		return cursor
	}
	for _, i := range list(m).Shown {
		if r := &m.Agents.Rows[i]; r.Pool == ended[:end] {
			return r.Name
		}
	}
	return cursor
}

// FollowSubject selects the agent of the row under the cursor if the pane follows the focused panel.
func (m *Room) FollowSubject() {
	p := m.Focused()
	name := p.Agent()
	if m.Focus == panel.IDPools {
		name = memberToShow(m)
	}
	switch {
	case name == m.Agents.SelectedKey || !m.Agents.Has(name) || m.Focus != p.About().ID:
	case m.followsWhileFocused():
		ShowAgent(m, name)
	case p.About().Follows:
		SelectAgent(m, name)
	}
}

// followsWhileFocused reports whether the pane follows the focused panel's cursor only until the panel loses the focus:
// in Pools, and in Events while the cursor is on a chosen event.
func (m *Room) followsWhileFocused() bool {
	return m.Focus == panel.IDPools ||
		m.Focus == panel.IDEvents && m.Events.Frozen && !m.Events.Only
}

// memberToShow returns the member of the pool under the cursor that the pane shows: the selected agent if it is one,
// otherwise a running one, or "".
func memberToShow(m *Room) string {
	p := m.Pools.Current()
	if p == nil {
		return ""
	}
	if r := Selected(m); r != nil && r.Pool == p.Name && r.Running {
		return r.Name
	}
	for _, r := range m.Pools.Members(p.Name) {
		if r.Running {
			return r.Name
		}
	}
	return ""
}

// Visible reports whether the focused list shows an agent.
func (m *Room) Visible(name string) bool {
	for _, i := range list(m).Shown {
		if m.Agents.Rows[i].Name == name {
			return true
		}
	}
	return false
}

// userIsActive reports whether the user is working in the lists, so that rows must not move.
func (m *Room) userIsActive() bool { return m.Now.Sub(m.LastKey) < IdleAfter }

// UserActed records that the user is working in the lists, so that rows stop moving. Rows that have moved too recently
// for the user to notice are moved back.
func (m *Room) UserActed() {
	m.LastKey = m.Now
	moved := false
	for _, p := range m.Panels {
		moved = p.Recall(m.Now) || moved
	}
	if moved {
		m.ApplyNewData()
	}
}

// OrderIsCurrent reports whether the lists are correctly sorted and filtered. While the user works in them it returns
// true, because rows must not move.
func (m *Room) OrderIsCurrent() bool {
	if m.userIsActive() {
		return true
	}
	for _, p := range m.Panels {
		if !p.Settled(m.keptRows(p)) || !p.Sorted(m.Now) {
			return false
		}
	}
	return true
}

// Resort sorts the lists now, because the user asked for it.
func (m *Room) Resort() {
	for _, p := range m.Panels {
		p.Sort(m.Now)
	}
	m.ApplyNewData()
}

// Orders returns the sort orders of all lists by panel name, for storage.
func (m *Room) Orders() map[string]string {
	all := map[string]string{}
	for _, p := range m.Panels {
		if o, ways := p.Sorting(m.Now); o != nil && !p.About().Subset {
			all[string(p.About().ID)] = widget.OrderText(*o, ways)
		}
	}
	return all
}

// SetOrders restores stored sort orders and ignores unknown ones.
func (m *Room) SetOrders(kept map[string]string) {
	for _, p := range m.Panels {
		o, ways := p.Sorting(m.Now)
		if o == nil || p.About().Subset {
			continue
		}
		name, reversed := strings.CutSuffix(kept[string(p.About().ID)], " reversed")
		if i := slices.Index(ways, name); i >= 0 {
			*o = widget.Order{Key: i, Reversed: reversed}
		}
	}
	m.Resort()
}
