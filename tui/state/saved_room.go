package state

import (
	"time"

	"gcity/tui/feed"
	"gcity/tui/palette"
	"gcity/tui/panel"
	"gcity/tui/widget"
)

// SaveInterval is how often changes are stored while the room is open.
const SaveInterval = time.Minute

func filters(m *Room) map[string]*widget.Filter {
	all := map[string]*widget.Filter{}
	for _, p := range m.Panels {
		if a := p.About(); !a.Subset {
			all[string(a.ID)] = p.Query()
		}
	}
	return all
}

// SavedRoomOf returns the part of the room's state that is stored between visits.
func SavedRoomOf(m *Room) feed.SavedRoom {
	out := feed.SavedRoom{Version: feed.SavedRoomVersion, Focus: string(m.Focus), Zoomed: m.Zoomed,
		Hidden: m.Hidden,
		Moved:  m.Below != m.Terminal.Below, Mouse: m.Mouse, Filters: map[string]string{},
		Orders: m.Orders(), History: m.History, Sent: m.Sent,
		Greeted: m.HintDismissed}
	for name, f := range filters(m) {
		// A filter that was set from a row in another panel is not stored.
		if led := name == string(m.Led); f.Active() && !led {
			out.Filters[name] = f.Text
		}
	}
	if out.Rows = m.restored.Rows; out.Rows == nil {
		out.Rows = rowsUnderCursors(m)
	}
	return out
}

// rowsUnderCursors returns the keys of the rows under the cursors, by panel. It omits first rows, so that the next
// visit starts on the worst problem.
func rowsUnderCursors(m *Room) map[string]string {
	rows := map[string]string{}
	for _, p := range m.Panels {
		a := p.About()
		if at, _, _, _ := p.Cursor(); at > 0 && !a.Subset && a.ID != panel.IDEvents {
			rows[string(a.ID)] = p.Key()
		}
	}
	return rows
}

func recallRows(m *Room) {
	rows := m.restored.Rows
	m.restored.Rows = nil
	for name, key := range rows {
		if p := m.PanelOf(panel.ID(name)); string(p.About().ID) == name && p.Has(key) {
			p.Select(key)
		}
	}
}

// RestoreRoom restores the stored state of the room.
func RestoreRoom(m *Room, old feed.SavedRoom) {
	m.restored = old
	m.HintDismissed = old.Greeted
	if id := panel.ID(old.Focus); id == panel.IDPeek || m.PanelOf(id).About().ID == id {
		m.Focus = id
		m.PanelOf(id).Entered()
	}
	m.Hidden = old.Hidden
	if m.Mouse == "" && (old.Mouse == "on" || old.Mouse == "off") {
		m.Mouse = old.Mouse
	}
	m.Below = m.Terminal.Below != old.Moved
	if m.Hidden && m.Focus == panel.IDPeek {
		m.Focus = panel.IDAgents
	}
	m.Zoomed, m.PreviousFocus = old.Zoomed, m.Focus
	if m.Focus == panel.IDPeek {
		m.PreviousFocus = panel.IDAgents
	}
	for name, f := range filters(m) {
		*f = widget.ParseFilter(widget.SingleLine(old.Filters[name]))
	}
	m.SetOrders(old.Orders)
	m.History = palette.StoredHistory(old.History)
	setSent(m, old.Sent)
	if m.Snap != nil {
		m.Refill()
		recallRows(m)
	}
	m.Saved = SavedRoomOf(m).Text()
	reportRestoredFilter(m)
}

func reportRestoredFilter(m *Room) {
	if f := Filter(m); f.Active() {
		Show(m, "restored filter: /"+f.Text+" hides other rows; "+m.Keys.KeyText("view.back")+
			" clears it", false)
	}
}

// SaveRoom returns the effect that stores changes. Unless last is true, changes are stored at most once per
// SaveInterval.
func SaveRoom(m *Room, last bool) []feed.Effect {
	if !last && m.Now.Sub(m.SavedAt) < SaveInterval {
		return nil
	}
	m.SavedAt = m.Now
	text := SavedRoomOf(m).Text()
	if string(text) == string(m.Saved) {
		return nil
	}
	e := feed.SaveRoom{Data: text, Base: m.Saved}
	m.Saved = text
	if m.Mouse != m.restored.Mouse {
		e.Mouse, m.restored.Mouse = m.Mouse, m.Mouse
	}
	return []feed.Effect{e}
}
