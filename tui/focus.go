package tui

import (
	"cmp"
	"gcity/tui/feed"
	"gcity/tui/panel"
	"gcity/tui/widget"
)

// step moves the focused panel's cursor, or scrolls the pane.
func step(m *model, n int) {
	if m.focus == panel.IDPeek {
		w, h := paneRoom(m)
		m.peek.Scroll(max(-widget.Far, n), w, h)
		return
	}
	p := m.focused()
	p.Move(n)
	if p.About().Kind == panel.KindAgent {
		if r := m.Agents.At(list(m)); r != nil {
			choose(m, r.Name)
		}
	}
	m.followSubject()
	if p == panel.Panel(m.Events) && n < 0 {
		loadOlder(m)
	}
}

func toEnd(m *model) {
	if m.focus == panel.IDPeek {
		m.peek.Follow()
		return
	}
	step(m, widget.Far)
}

func focusOn(m *model, p panel.ID) {
	if p != panel.IDQuarantine && p != panel.IDPeek && m.aside != "" && m.Agents.Has(m.aside) {
		choose(m, m.aside)
	}
	if m.focus != p {
		m.zoomed = false
		m.before = m.focus
		if p != panel.IDPeek {
			m.panelOf(p).Entered()
		}
	}
	m.focus, m.trail = p, ""
	if m.focused().About().Slot || p == panel.IDEvents {
		m.slot = p
	}
	turnPane(m)
	m.followSubject()
	if p == panel.IDPeek {
		m.hidden = false
	}
	if r := m.Agents.At(list(m)); r != nil && p == panel.IDQuarantine {
		m.aside = cmp.Or(m.aside, m.Agents.Chosen)
		chooseFor(m, r.Name)
	}
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
	m.UI++
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
