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
			m.look.Note("Waiting for the list of cities.", w)), w, h)
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
	c := fleet.ColumnsFor(m.cities.Rows, w)
	if fleetHeaded(m, w, h) {
		lines = append(lines, c.Heads(&m.look, w))
	}
	from, to := t.List.Window(room)
	for i := from; i < to; i++ {
		lines = append(lines, cityRow(m, &t.Rows[t.List.Shown[i]], c, w, focus))
	}
	return widget.FillRows(lines, w, h)
}

func fleetHeaded(m *model, w, h int) bool { return h >= 6 && w >= 60 && m.h >= 20 }

// cityRow draws the row of a city: its health, its numbers, and the reason for its health.
func cityRow(m *model, c *fleet.City, cols fleet.Columns, w int, focus bool) string {
	more := m.look.Glyphs.More
	here := c.Key() == m.cities.Chosen
	l := m.look.RowStart(widget.RowState{Cursor: here, Focus: focus})
	h := fleet.HealthOf(&m.look, c)
	l.Add(h.Token, widget.Fit(h.Sign+" "+h.Word, cols.Health, ""))
	l.Space(2)
	name := themes.Text
	if here {
		name = themes.Title
	}
	if own := c.Brief.Colour; own != "" && !m.around.noColor && !here {
		l.Width += cols.Name
		l.Text = append(l.Text, lipgloss.NewStyle().Foreground(lipgloss.Color(own)).
			Render(widget.FitName(c.Shown, cols.Name, more))...)
	} else {
		l.Add(name, widget.FitName(c.Shown, cols.Name, more))
	}
	l.Space(2)
	c.Figures(&l, cols, more)
	if cols.Why > 0 {
		l.Space(2)
		l.Add(themes.Text, widget.Fit(c.Why(m.now), cols.Why, more))
	}
	return widget.Crop(l.Fill(w), w)
}
