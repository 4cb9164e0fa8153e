package tui

import (
	"slices"
	"strings"

	"gcity/city"
	"gcity/themes"
)

// foot adds the status line, or what is being typed, and the keys that work here, now.
func (m *model) foot(s screenful, p *plan) screenful {
	status := m.statusRows(m.w)
	if m.prompt != nil {
		text, x := m.promptLine(m.w)
		status = []string{text}
		s.x, s.y = x, len(s.lines)
	}
	footer := m.footer(m.w)
	if p.statusRow {
		s.lines = append(append(s.lines, status...), footer)
		return s
	}
	if m.prompt != nil || m.status.failed || m.status.pending || m.status.text != "" && m.now.Sub(m.status.since) < fade/4 {
		s.lines = append(s.lines, status...)
		return s
	}
	s.lines = append(s.lines, footer)
	return s
}

// footer lists the keys that work where the focus is, as many as fit. How to find things, get help and leave stays; the
// palette, which help knows too, only where there is room.
func (m *model) footer(w int) string {
	l := line{look: &m.look}
	l.space(1)
	last := []string{"view.filter", "view.attention", "view.palette", "view.help", "quit"}
	var keys, tail []*action
	for i := range m.keys.actions {
		a := &m.keys.actions[i]
		switch {
		case a.short == "" || !m.heard(a) || m.elsewhere(a) || a.refused(m) != "":
		case slices.Contains(last, a.id):
			tail = append(tail, a)
		default:
			keys = append(keys, a)
		}
	}
	if m.prompt != nil || m.choice != nil || m.reader != nil || m.finder != nil || m.work != nil {
		return l.close(w)
	}
	if m.zone() != inLists { // what only this panel can do comes first
		slices.SortStableFunc(keys, func(a, b *action) int {
			return m.rankHere(a) - m.rankHere(b)
		})
	}
	const palette, wide = "view.palette", 100
	room := w
	for _, a := range tail {
		if a.id != palette || w >= wide {
			room -= footWidth(m, a)
		}
	}
	for _, a := range keys {
		if l.used+footWidth(m, a) <= room {
			m.footKey(&l, a)
		}
	}
	room -= l.used
	for _, a := range tail {
		if a.id != palette || w >= wide || footWidth(m, a) <= room {
			m.footKey(&l, a)
		}
	}
	return crop(l.close(w), w)
}

// suspendID is the verb that is about a pool where Pools has the focus.
const suspendID = "agent.suspend"

// elsewhere reports whether an action is about something that the focused panel does not show: among pools and automations, the agent.
func (m *model) elsewhere(a *action) bool {
	switch m.focus {
	case panelPools:
		return strings.HasPrefix(a.id, "agent.") && a.id != suspendID
	case panelAutomations:
		return strings.HasPrefix(a.id, "agent.")
	}
	return false
}

// rankHere orders the footer of a panel: what only it can do, then what it can do with others, then the rest.
func (m *model) rankHere(a *action) int {
	switch {
	case len(a.in) == 1 && a.in[0] == m.zone():
		return 0
	case m.focus == panelPools && a.id == suspendID:
		return 1
	case slices.Contains(a.in, everywhere):
		return 3
	}
	return 2
}

// heard reports whether an action's key works where the focus is.
func (m *model) heard(a *action) bool {
	return slices.Contains(a.in, everywhere) || slices.Contains(a.in, m.zone())
}

// footText is an action's name as it would work now.
func footText(m *model, a *action) string {
	r := m.selected()
	switch {
	case a.id == suspendID && m.suspended():
		return "resume"
	case a.id == "agent.drain" && r != nil && r.state == city.Draining:
		return "undrain"
	case a.id == "agent.attach.zoomed" && !m.zoomed:
		return "zoom"
	case a.id == "view.attention" && m.attention:
		return "all"
	}
	return a.short
}

// suspended reports whether what s is about is suspended.
func (m *model) suspended() bool {
	if m.focus == panelPools {
		p := m.pools.under()
		return p != nil && p.suspended != ""
	}
	r := m.selected()
	return r != nil && r.state == city.Suspended
}

func footWidth(m *model, a *action) int {
	return width(a.key.Keys()[0]) + 1 + width(footText(m, a)) + 2
}

func (m *model) footKey(l *line, a *action) {
	l.add(themes.Key, a.key.Keys()[0])
	l.add(themes.Dim, " "+footText(m, a)+"  ")
}
