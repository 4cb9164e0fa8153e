package tui

import (
	"time"

	"gcity/tui/feed"
	"gcity/tui/panel"
	"gcity/tui/widget"
)

// rememberEvery is how often what changed is written while the room is open.
const rememberEvery = time.Minute

// filters are those of all panels, by name.
func filters(m *model) map[string]*widget.Filter {
	all := map[string]*widget.Filter{}
	for _, p := range m.Panels {
		if a := p.About(); !a.Part {
			all[string(a.ID)] = p.Query()
		}
	}
	return all
}

// memory is how the room stands now.
func memoryOf(m *model) feed.Memory {
	out := feed.Memory{Version: feed.MemoryVersion, Focus: string(m.focus), Zoomed: m.zoomed,
		Hidden: m.hidden,
		Moved:  m.below != m.around.below, Attention: m.attention, Filters: map[string]string{},
		Orders: m.orders(), History: m.history, Sent: m.sent}
	for name, f := range filters(m) {
		if f.Active() {
			out.Filters[name] = f.Text
		}
	}
	return out
}

// recall makes the room stand as it was left.
func recall(m *model, old feed.Memory) {
	m.recalled = old
	if id := panel.ID(old.Focus); id == panel.IDPeek || m.panelOf(id).About().ID == id {
		m.focus = id
	}
	m.hidden, m.attention = old.Hidden, old.Attention
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
	setHistory(m, old.History)
	setSent(m, old.Sent)
	if m.snap != nil {
		m.refill()
	}
	m.noted = memoryOf(m).Text()
	tellKept(m)
}

// tellKept says that not all is shown, because it was so when the room was left.
func tellKept(m *model) {
	text := panel.SearchText(m.env(), filter(m), false)
	if text == "" {
		return
	}
	show(m, "as you left it: "+text+" hides the others; "+m.keys.KeyOf("view.back")+" clears it",
		false)
	if !filter(m).Active() {
		show(m, "as you left it: only what needs attention; "+m.keys.KeyOf("view.attention")+
			" shows all", false)
	}
}

// keepMemory asks for what changed to be written, now and then, and once more at the end.
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
	return []feed.Effect{feed.Remember{Body: text}}
}
