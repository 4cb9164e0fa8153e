package tui

import (
	"fmt"

	"charm.land/lipgloss/v2"

	"gcity/themes"
)

// citiesPanel lists the cities.
func (m *model) citiesPanel(w, h int, focus, shared bool) []string {
	t := &m.cities
	room := h - 1
	if m.fleetHeaded(w, h) {
		room--
	}
	tabs := m.fleetTabs(false, shared)
	tabs[0].hidden = m.look.outside(t.list.outside(room))
	if tabsWidth(tabs) > w {
		tabs = bare(tabs)
	}
	lines := append(make([]string, 0, h), m.look.rule(w, focus, tabs, ""))
	switch {
	case m.fleet == nil:
		return fillRows(append(lines, blanks(w), m.look.note("Waiting for the list of the cities.", w)), w, h)
	case len(t.rows) == 0:
		return fillRows(append(append(lines, blanks(w)), m.look.notes(w, "No city is registered yet. `gcity start` in a city's folder registers it and has it run; "+
			"`gcity register DIR` does the same from elsewhere.")...), w, h)
	case len(t.list.shown) == 0:
		return fillRows(append(append(lines, blanks(w)), m.look.notes(w, fmt.Sprintf("None of %d cities matches %q. ", len(t.rows), m.cityFilter.text)+m.clears())...), w, h)
	}
	c := m.fleetColumns(w)
	if m.fleetHeaded(w, h) {
		lines = append(lines, m.cityHeads(c, w))
	}
	from, to := t.list.window(room)
	for i := from; i < to; i++ {
		lines = append(lines, m.cityRow(&t.rows[t.list.shown[i]], c, w, focus))
	}
	return fillRows(lines, w, h)
}

func (m *model) fleetHeaded(w, h int) bool { return h >= 6 && w >= 60 && m.h >= 20 }

// fleetColumns are how wide each column is, 0 = there is no room for it.
type fleetColumns struct{ health, name, agents, needs, work, mail, loop, why int }

func (m *model) fleetColumns(w int) fleetColumns {
	longest := 4
	for i := range m.cities.rows {
		longest = max(longest, width(m.cities.rows[i].shown))
	}
	c := fleetColumns{health: 11, name: min(longest, max(8, w/4), 28), agents: 7}
	if w < 60 {
		c.health = 1
	}
	least := 12
	rest := func() int { return w - 3 - c.health - 2 - c.name - 2 - c.agents }
	c.why = rest()
	for _, more := range []struct {
		to *int
		w  int
		at int // the width of the screen that it takes
	}{{&c.needs, 4, 66}, {&c.loop, 5, 76}, {&c.work, 9, 100}, {&c.mail, 5, 110}} {
		if w >= more.at && c.why-more.w-2 >= least {
			*more.to = more.w
			c.why -= more.w + 2
		}
	}
	c.why = max(0, c.why-2)
	return c
}

func (m *model) cityHeads(c fleetColumns, w int) string {
	l := line{look: &m.look}
	l.add(themes.Dim, "   "+fit("health", c.health+2, "")+fit("city", c.name+2, "")+right("running", c.agents, ""))
	for _, col := range []struct {
		w    int
		head string
	}{{c.needs, "need"}, {c.work, "work"}, {c.mail, "mail"}, {c.loop, "loop"}} {
		if col.w > 0 {
			l.add(themes.Dim, "  "+right(col.head, col.w, ""))
		}
	}
	l.add(themes.Dim, "  "+fit("why", c.why, ""))
	return crop(l.close(w), w)
}

// cityRow is a city in the list: how it is, its numbers, and why.
func (m *model) cityRow(c *sister, cols fleetColumns, w int, focus bool) string {
	more := m.look.glyph.More
	here := c.info.Name == m.cities.chosen
	l := m.look.start(rowState{cursor: here, focus: focus})
	h := cityHealth(&m.look, c)
	l.add(h.token, fit(h.sign+" "+h.word, cols.health, ""))
	l.space(2)
	name := themes.Text
	if here {
		name = themes.Title
	}
	if own := c.brief.colour; own != "" && !m.around.noColor && !here {
		l.used += cols.name
		l.text = append(l.text, lipgloss.NewStyle().Foreground(lipgloss.Color(own)).Render(fitName(c.shown, cols.name, more))...)
	} else {
		l.add(name, fitName(c.shown, cols.name, more))
	}
	l.space(2)
	numbers, old := themes.Text, !c.info.Running || c.mute != ""
	if old {
		numbers = themes.Off
	}
	b := &c.brief
	agents, work, mail, needs, loop := "-", "-", "-", "-", "-"
	if c.known && c.info.Running {
		agents = fmt.Sprintf("%d/%d", b.running, b.agents)
		needs, mail = number(len(b.needs)), number(b.unread)
		if b.open+b.begun > 0 {
			work = fmt.Sprintf("%d+%d", b.begun, b.open)
		}
		switch {
		case c.mute != "":
			loop = "?"
		case b.late > 0:
			loop = age(b.late)
		default:
			loop = "ok"
		}
	}
	l.add(numbers, right(agents, cols.agents, more))
	cell := func(w int, text string, token themes.Token) {
		if w > 0 {
			l.space(2)
			if old {
				token = themes.Off
			}
			l.add(token, right(text, w, more))
		}
	}
	needing, turning := themes.Dim, themes.Dim
	if len(b.needs) > 0 {
		needing = themes.Bad
	}
	if b.late > 0 {
		turning = themes.Bad
	}
	cell(cols.needs, needs, needing)
	cell(cols.work, work, themes.Dim)
	cell(cols.mail, mail, themes.Dim)
	cell(cols.loop, loop, turning)
	if cols.why > 0 {
		l.space(2)
		l.add(themes.Text, fit(c.why(m.now), cols.why, more))
	}
	return crop(l.close(w), w)
}
