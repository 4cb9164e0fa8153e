package tui

import "gcity/tui/widget"

// moveActions move within a panel.
func moveActions() []action {
	everyPanel := []zone{inLists, inPools, inAutomations, inEvents, inWatchdogs, inPeek}
	by := func(n int) func(*model) []effect {
		return func(m *model) []effect { m.step(n); return nil }
	}
	page := func(parts, of int) func(*model) []effect {
		return func(m *model) []effect {
			n := max(1, (m.focusRows()-1)*max(parts, -parts)/of)
			if parts < 0 {
				n = -n
			}
			m.step(n)
			return nil
		}
	}
	return []action{
		{id: "move.down", key: bind("down", "j", "down"), in: everyPanel, run: by(1)},
		{id: "move.up", key: bind("up", "k", "up"), in: everyPanel, run: by(-1)},
		{id: "move.half.down", key: bind("half a page down", "ctrl+d"), in: everyPanel, run: page(1, 2)},
		{id: "move.half.up", key: bind("half a page up", "ctrl+u"), in: everyPanel, run: page(-1, 2)},
		{id: "move.page.down", key: bind("a page down", "pgdown"), in: everyPanel, run: page(1, 1)},
		{id: "move.page.up", key: bind("a page up", "pgup"), in: everyPanel, run: page(-1, 1)},
		{id: "move.first", key: bind("to the beginning", "g", "home"), in: everyPanel, run: by(-far)},
		{id: "move.last", key: bind("to the end; Events and Peek follow again", "G", "end"), in: everyPanel,
			run: func(m *model) []effect { m.toEnd(); return nil }},
	}
}

// far is more rows than anything has.
const far = 1 << 30

// step moves the focused panel's cursor, or scrolls the pane.
func (m *model) step(n int) {
	switch m.focus {
	case panelPools:
		m.pools.Move(n)
	case panelAutomations:
		m.automations.been = true
		m.automations.Move(n)
	case panelWatchdogs:
		m.watchdogs.Move(n)
		m.followWatched()
	case panelEvents:
		m.events.move(n)
		if n < 0 {
			m.digUp()
		}
	case panelPeek:
		w, h := m.paneRoom()
		m.peek.scroll(max(-far, n), w, h)
	default:
		l := m.list()
		l.Move(n)
		if r := m.agents.At(l); r != nil {
			m.choose(r.name)
		}
	}
}

func (m *model) toEnd() {
	if m.focus == panelPeek {
		m.peek.follow()
		return
	}
	m.step(far)
}

// list is the focused list, Agents' where none has the focus.
func (m *model) list() *widget.List {
	if m.focus == panelQuarantine {
		return &m.quarantine.List
	}
	return &m.agents.List
}

// choose selects an agent everywhere.
func (m *model) choose(name string) {
	if name != m.agents.Chosen {
		m.peek.follow()
		m.endSearch()
	}
	changed := name != m.agents.Chosen
	m.agents.Chosen = name
	if changed && m.events.only {
		m.sift()
	}
	m.agents.List.Select(&m.agents, name)
	m.quarantine.List.Select(&m.agents, name)
}
