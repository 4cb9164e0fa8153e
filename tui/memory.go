package tui

import (
	"time"

	"gcity/tui/feed"
	"gcity/tui/palette"
	"gcity/tui/panel"
	"gcity/tui/widget"
)

// rememberEvery is how often changes are stored while the room is open.
const rememberEvery = time.Minute

// filters returns the filters of all panels by name.
func filters(m *model) map[string]*widget.Filter {
	all := map[string]*widget.Filter{}
	for _, p := range m.Panels {
		if a := p.About(); !a.Part {
			all[string(a.ID)] = p.Query()
		}
	}
	return all
}

// memoryOf returns the state of the room that is stored between visits.
func memoryOf(m *model) feed.Memory {
	out := feed.Memory{Version: feed.MemoryVersion, Focus: string(m.focus), Zoomed: m.zoomed,
		Hidden: m.hidden,
		Moved:  m.below != m.around.below, Mouse: m.mouse, Filters: map[string]string{},
		Orders: m.orders(), History: m.history, Sent: m.sent,
		Greeted: m.greeted}
	for name, f := range filters(m) {
		// A filter that was set from a row of another panel is not stored.
		if led := m.trail != "" && name == string(m.focused().About().ID); f.Active() && !led {
			out.Filters[name] = f.Text
		}
	}
	return out
}

// recall restores the stored state of the room.
func recall(m *model, old feed.Memory) {
	m.recalled = old
	m.greeted = old.Greeted
	if id := panel.ID(old.Focus); id == panel.IDPeek || m.panelOf(id).About().ID == id {
		m.focus = id
	}
	m.hidden = old.Hidden
	if m.mouse == "" && (old.Mouse == "on" || old.Mouse == "off") {
		m.mouse = old.Mouse
	}
	m.below = m.around.below != old.Moved
	if m.hidden && m.focus == panel.IDPeek {
		m.focus = panel.IDAgents
	}
	m.zoomed, m.before = old.Zoomed, m.focus
	if m.focus == panel.IDPeek {
		m.before = panel.IDAgents
	}
	for name, f := range filters(m) {
		*f = widget.ParseFilter(widget.SingleLine(old.Filters[name]))
	}
	m.setOrders(old.Orders)
	m.history = palette.Recall(old.History)
	setSent(m, old.Sent)
	if m.snap != nil {
		m.refill()
	}
	m.noted = memoryOf(m).Text()
	tellKept(m)
}

// tellKept reports that a restored filter hides rows.
func tellKept(m *model) {
	if f := filter(m); f.Active() {
		show(m, "restored filter: /"+f.Text+" hides other rows; "+m.keys.KeyOf("view.back")+
			" clears it", false)
	}
}

// keepMemory returns the effect that stores changes, if it is time to store them or last is set.
func keepMemory(m *model, last bool) []feed.Effect {
	if !last && m.now.Sub(m.notedAt) < rememberEvery {
		return nil
	}
	m.notedAt = m.now
	text := memoryOf(m).Text()
	if string(text) == string(m.noted) {
		return nil
	}
	m.noted = text
	e := feed.Remember{Body: text}
	if m.mouse != m.recalled.Mouse {
		e.Mouse, m.recalled.Mouse = m.mouse, m.mouse
	}
	return []feed.Effect{e}
}
