package tui

import (
	"gcity/tui/feed"
	"gcity/tui/keymap"
	"gcity/tui/panel"
	"gcity/tui/widget"
)

func moveActions(all []panel.Panel) []action {
	everyPanel := append(panel.ZonesOf(all, func(*panel.About) bool { return true }), keymap.InPeek)
	by := func(n int) func(*model) []feed.Effect {
		return func(m *model) []feed.Effect { step(m, n); return nil }
	}
	page := func(parts, of int) func(*model) []feed.Effect {
		return func(m *model) []feed.Effect {
			n := max(1, (m.focusRows()-1)*max(parts, -parts)/of)
			if parts < 0 {
				n = -n
			}
			step(m, n)
			return nil
		}
	}
	return []action{
		{ID: "move.down", Key: keymap.Bind("down", "j", "down"), In: everyPanel, Run: by(1)},
		{ID: "move.up", Key: keymap.Bind("up", "k", "up"), In: everyPanel, Run: by(-1)},
		{ID: "move.half.down", Key: keymap.Bind("half a page down", "ctrl+d"), In: everyPanel,
			Run: page(1, 2)},
		{ID: "move.half.up", Key: keymap.Bind("half a page up", "ctrl+u"), In: everyPanel,
			Run: page(-1, 2)},
		{ID: "move.page.down", Key: keymap.Bind("a page down", "pgdown"), In: everyPanel,
			Run: page(1, 1)},
		{ID: "move.page.up", Key: keymap.Bind("a page up", "pgup"), In: everyPanel,
			Run: page(-1, 1)},
		{ID: "move.first", Key: keymap.Bind("to the beginning", "g", "home"), In: everyPanel,
			Run: by(-widget.Far)},
		{ID: "move.last", Key: keymap.Bind("to the end; Events and Peek follow again", "G", "end"),
			In:  everyPanel,
			Run: func(m *model) []feed.Effect { toEnd(m); return nil }},
	}
}

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
