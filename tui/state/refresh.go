package state

import (
	"slices"
	"strings"
	"time"

	"gcity/tui/panel"
	"gcity/tui/widget"
)

// Relist rebuilds the lists from the snapshot.
func (m *Room) Relist() {
	e := m.Env()
	for _, p := range m.Panels {
		p.Update(e)
	}
	m.Undo.noteEffect(m)
	noteDrained(m)
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

// ApplyNewData applies the filters to new data. Rows that the user is working with stay until the cursor leaves them.
func (m *Room) ApplyNewData() { m.fill(m.keptRows) }

// keptRows returns a function that reports whether a row stays although it no longer matches the filter.
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
}

func agentOfRow(m *Room) string {
	p := m.Focused()
	onlySelected := m.Focus == panel.IDEvents && m.Events.Only
	switch _, _, shown, _ := p.Cursor(); {
	case onlySelected:
	case shown == 0:
		return ""
	case m.Focus == panel.IDPools:
		return memberToShow(m)
	case m.Focus == panel.IDQuarantine:
		return m.Quarantine.SelectedKey
	case p.About().Follows:
		return p.Agent()
	}
	return m.Agents.SelectedKey
}

func memberToShow(m *Room) string {
	p := m.Pools.Current()
	if p == nil {
		return ""
	}
	for _, name := range []string{m.paneAgent, m.Agents.SelectedKey} {
		if r := m.Agents.Find(name); r != nil && r.Pool == p.Name && r.Running {
			return name
		}
	}
	for _, r := range m.Pools.Members(p.Name) {
		if r.Running {
			return r.Name
		}
	}
	return ""
}

// Visible reports whether the agent is in the focused list.
func (m *Room) Visible(name string) bool {
	for _, i := range list(m).Shown {
		if m.Agents.Rows[i].Name == name {
			return true
		}
	}
	return false
}

// SetTime sets the time of the latest message.
func (m *Room) SetTime(now time.Time) {
	m.Now = now
	// If a dialog closes by itself, the rows keep their order, as they do after a key press.
	if m.Dialogs.Covers() {
		m.LastKey = now
	}
}

// FrameTime returns the time to show in a frame: that of the first frame in the current second, because panels cache
// their lines for one second.
func (m *Room) FrameTime() time.Time {
	if m.Now.Unix() != m.firstFrame.Unix() {
		m.firstFrame = m.Now
	}
	return m.firstFrame
}

// userIsActive reports whether rows must not move, because the user has just acted or a dialog covers them.
func (m *Room) userIsActive() bool {
	return m.Dialogs.Covers() || m.Now.Sub(m.LastKey) < IdleAfter
}

// UserActed stops rows from moving while the user works in the lists. Rows that have just moved are moved back.
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

// OrderIsCurrent reports whether the lists need no sorting. It returns true while rows must not move.
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

// Resort sorts all lists now.
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
