package tui

import (
	"fmt"

	"charm.land/lipgloss/v2"

	"gcity/themes"
	"gcity/tui/fleet"
	"gcity/tui/widget"
)

func citiesPanel(m *model, w, h int, focus, shared bool) []string {
	t := &m.cities
	room := h - 1
	if fleetHeaded(m, w, h) {
		room--
	}
	tabs := fleetTabs(m, false, shared)
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
				"registers and starts it; `gcity register DIR` does the same from elsewhere.")...),
			w, h)
	case len(t.List.Shown) == 0:
		return widget.FillRows(append(append(lines, widget.Spaces(w)),
			m.look.Notes(w, fmt.Sprintf("None of %d cities matches %q. ", len(t.Rows),
				m.cityFilter.Text)+m.env().Clears())...), w, h)
	}
	c := fleetColumnsFor(m, w)
	if fleetHeaded(m, w, h) {
		lines = append(lines, cityHeads(m, c, w))
	}
	from, to := t.List.Window(room)
	for i := from; i < to; i++ {
		lines = append(lines, cityRow(m, &t.Rows[t.List.Shown[i]], c, w, focus))
	}
	return widget.FillRows(lines, w, h)
}

func fleetHeaded(m *model, w, h int) bool { return h >= 6 && w >= 60 && m.h >= 20 }

// fleetColumns are the widths of the columns; 0 = not shown.
type fleetColumns struct{ health, name, agents, needs, work, mail, loop, why int }

func fleetColumnsFor(m *model, w int) fleetColumns {
	longest := 4
	for i := range m.cities.Rows {
		longest = max(longest, widget.Width(m.cities.Rows[i].Shown))
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
		at int // the screen width from which on it is shown
	}{{&c.needs, 4, 66}, {&c.loop, 5, 76}, {&c.work, 9, 100}, {&c.mail, 5, 110}} {
		if w >= more.at && c.why-more.w-2 >= least {
			*more.to = more.w
			c.why -= more.w + 2
		}
	}
	c.why = max(0, c.why-2)
	return c
}

func cityHeads(m *model, c fleetColumns, w int) string {
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

// cityRow is the row of a city: its health, its numbers, and the reason.
func cityRow(m *model, c *fleet.City, cols fleetColumns, w int, focus bool) string {
	more := m.look.Glyphs.More
	here := c.Info.Name == m.cities.Chosen
	l := m.look.RowStart(widget.RowState{Cursor: here, Focus: focus})
	h := fleet.HealthOf(&m.look, c)
	l.Add(h.Token, widget.Fit(h.Sign+" "+h.Word, cols.health, ""))
	l.Space(2)
	name := themes.Text
	if here {
		name = themes.Title
	}
	if own := c.Brief.Colour; own != "" && !m.around.noColor && !here {
		l.Width += cols.name
		l.Text = append(l.Text, lipgloss.NewStyle().Foreground(lipgloss.Color(own)).
			Render(widget.FitName(c.Shown, cols.name, more))...)
	} else {
		l.Add(name, widget.FitName(c.Shown, cols.name, more))
	}
	l.Space(2)
	cityFigures(&l, c, cols, more)
	if cols.why > 0 {
		l.Space(2)
		l.Add(themes.Text, widget.Fit(c.Why(m.now), cols.why, more))
	}
	return widget.Crop(l.Fill(w), w)
}

// cityFigures adds the numbers of a city to its row.
func cityFigures(l *widget.Line, c *fleet.City, cols fleetColumns, more string) {
	numbers, old := themes.Text, !c.Info.Running || c.Mute != ""
	if old {
		numbers = themes.Off
	}
	b := &c.Brief
	agents, work, mail, needs, loop := "-", "-", "-", "-", "-"
	if c.Known && c.Info.Running {
		agents = fmt.Sprintf("%d/%d", b.Running, b.Agents)
		needs, mail = widget.Number(len(b.Needs)), widget.Number(b.Unread)
		if b.Open+b.Begun > 0 {
			work = fmt.Sprintf("%d+%d", b.Begun, b.Open)
		}
		switch {
		case c.Mute != "":
			loop = "?"
		case b.Late > 0:
			loop = widget.Age(b.Late)
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
	if len(b.Needs) > 0 {
		needing = themes.Bad
	}
	if b.Late > 0 {
		turning = themes.Bad
	}
	cell(cols.needs, needs, needing)
	cell(cols.work, work, themes.Dim)
	cell(cols.mail, mail, themes.Dim)
	cell(cols.loop, loop, turning)
}
