package tui

import (
	"fmt"

	"charm.land/lipgloss/v2"

	"gcity/themes"
	"gcity/tui/widget"
)

// citiesPanel lists the cities.
func (m *model) citiesPanel(w, h int, focus, shared bool) []string {
	t := &m.cities
	room := h - 1
	if m.fleetHeaded(w, h) {
		room--
	}
	tabs := m.fleetTabs(false, shared)
	tabs[0].Hidden = m.look.Hidden(t.List.Outside(room))
	if widget.TabsWidth(tabs) > w {
		tabs = widget.WithoutHidden(tabs)
	}
	lines := append(make([]string, 0, h), m.look.Title(w, focus, tabs, ""))
	switch {
	case m.fleet == nil:
		return widget.FillRows(append(lines, widget.Spaces(w),
			m.look.Note("Waiting for the list of the cities.", w)), w, h)
	case len(t.Rows) == 0:
		return widget.FillRows(append(append(lines, widget.Spaces(w)),
			m.look.Notes(w, "No city is registered yet. `gcity start` in a city's folder "+
				"registers it and has it run; "+
				"`gcity register DIR` does the same from elsewhere.")...), w, h)
	case len(t.List.Shown) == 0:
		return widget.FillRows(append(append(lines, widget.Spaces(w)),
			m.look.Notes(w, fmt.Sprintf("None of %d cities matches %q. ", len(t.Rows),
				m.cityFilter.Text)+m.env().Clears())...), w, h)
	}
	c := m.fleetColumns(w)
	if m.fleetHeaded(w, h) {
		lines = append(lines, m.cityHeads(c, w))
	}
	from, to := t.List.Window(room)
	for i := from; i < to; i++ {
		lines = append(lines, m.cityRow(&t.Rows[t.List.Shown[i]], c, w, focus))
	}
	return widget.FillRows(lines, w, h)
}

func (m *model) fleetHeaded(w, h int) bool { return h >= 6 && w >= 60 && m.h >= 20 }

// fleetColumns are how wide each column is, 0 = there is no room for it.
type fleetColumns struct{ health, name, agents, needs, work, mail, loop, why int }

func (m *model) fleetColumns(w int) fleetColumns {
	longest := 4
	for i := range m.cities.Rows {
		longest = max(longest, widget.Width(m.cities.Rows[i].shown))
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
	l := widget.Line{Styles: &m.look}
	l.Add(themes.Dim, "   "+widget.Fit("health", c.health+2, "")+widget.Fit("city", c.name+2, "")+
		widget.FitRight("running", c.agents, ""))
	for _, col := range []struct {
		w    int
		head string
	}{{c.needs, "need"}, {c.work, "work"}, {c.mail, "mail"}, {c.loop, "loop"}} {
		if col.w > 0 {
			l.Add(themes.Dim, "  "+widget.FitRight(col.head, col.w, ""))
		}
	}
	l.Add(themes.Dim, "  "+widget.Fit("why", c.why, ""))
	return widget.Crop(l.Fill(w), w)
}

// cityRow is a city in the list: how it is, its numbers, and why.
func (m *model) cityRow(c *sister, cols fleetColumns, w int, focus bool) string {
	more := m.look.Glyphs.More
	here := c.info.Name == m.cities.Chosen
	l := m.look.RowStart(widget.RowState{Cursor: here, Focus: focus})
	h := cityHealth(&m.look, c)
	l.Add(h.token, widget.Fit(h.sign+" "+h.word, cols.health, ""))
	l.Space(2)
	name := themes.Text
	if here {
		name = themes.Title
	}
	if own := c.brief.colour; own != "" && !m.around.noColor && !here {
		l.Width += cols.name
		l.Text = append(l.Text, lipgloss.NewStyle().Foreground(lipgloss.Color(own)).
			Render(widget.FitName(c.shown, cols.name, more))...)
	} else {
		l.Add(name, widget.FitName(c.shown, cols.name, more))
	}
	l.Space(2)
	numbers, old := themes.Text, !c.info.Running || c.mute != ""
	if old {
		numbers = themes.Off
	}
	b := &c.brief
	agents, work, mail, needs, loop := "-", "-", "-", "-", "-"
	if c.known && c.info.Running {
		agents = fmt.Sprintf("%d/%d", b.running, b.agents)
		needs, mail = widget.Number(len(b.needs)), widget.Number(b.unread)
		if b.open+b.begun > 0 {
			work = fmt.Sprintf("%d+%d", b.begun, b.open)
		}
		switch {
		case c.mute != "":
			loop = "?"
		case b.late > 0:
			loop = widget.Age(b.late)
		default:
			loop = "ok"
		}
	}
	l.Add(numbers, widget.FitRight(agents, cols.agents, more))
	cell := func(w int, text string, token themes.Token) {
		if w > 0 {
			l.Space(2)
			if old {
				token = themes.Off
			}
			l.Add(token, widget.FitRight(text, w, more))
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
		l.Space(2)
		l.Add(themes.Text, widget.Fit(c.why(m.now), cols.why, more))
	}
	return widget.Crop(l.Fill(w), w)
}
