package view

import (
	"fmt"

	"charm.land/lipgloss/v2"

	"gcity/themes"
	"gcity/tui/fleet"
	"gcity/tui/state"
	"gcity/tui/widget"
)

func citiesPanel(m *state.Room, w, h int, focus, shared bool) []string {
	t := &m.Cities
	room := h - 1
	if FleetHasHeadings(m, w, h) {
		room--
	}
	tabs := fleetTabs(m, false, shared)
	tabs[0].Hidden = m.Look.Hidden(t.List.HiddenRows(room))
	if widget.TabsWidth(tabs) > w {
		tabs = widget.WithoutHidden(tabs)
	}
	lines := append(make([]string, 0, h), m.Look.Title(w, focus, tabs, ""))
	note := ""
	switch {
	case m.Fleet == nil:
		note = "Waiting for the list of cities."
	case len(t.Rows) == 0:
		note = "No city is registered yet. `gcity start` in a city's folder " +
			"registers and starts it; `gcity register DIR` does the same from elsewhere."
	case len(t.List.Shown) == 0:
		none := fmt.Sprintf("None of the %d cities matches", len(t.Rows))
		if len(t.Rows) == 1 {
			none = "The only city does not match"
		}
		note = fmt.Sprintf("%s %q. ", none, m.CityFilter.Text) + m.Env().Clears()
	}
	if note != "" {
		lines = append(append(lines, widget.Spaces(w)), m.Look.Notes(w, note)...)
		return widget.FillRows(lines, w, h)
	}
	c := fleet.ColumnsFor(m.Cities.Rows, w)
	if FleetHasHeadings(m, w, h) {
		lines = append(lines, c.Header(&m.Look, w))
	}
	from, to := t.List.Window(room)
	for i := from; i < to; i++ {
		lines = append(lines, cityRow(m, &t.Rows[t.List.Shown[i]], c, w, focus))
	}
	return widget.FillRows(lines, w, h)
}

// FleetHasHeadings reports whether the list of cities has a row of column headings.
func FleetHasHeadings(m *state.Room, w, h int) bool { return h >= 6 && w >= 60 && m.H >= 20 }

func cityRow(m *state.Room, c *fleet.City, cols fleet.Columns, w int, focus bool) string {
	more := m.Look.Glyphs.More
	here := c.Key() == m.Cities.SelectedKey
	s := widget.RowState{Cursor: here, Focus: focus, Unmatched: m.Cities.List.Unmatched[c.Key()]}
	l := m.Look.RowStart(s)
	h := fleet.HealthOf(&m.Look, c)
	l.Add(h.Token, widget.Fit(h.Sign+" "+h.Word, cols.Health, ""))
	l.Space(2)
	if own := c.Summary.Color; own != "" && !m.Terminal.NoColor && !here && !s.Unmatched {
		l.Width += cols.Name
		l.Text = append(l.Text, lipgloss.NewStyle().Foreground(lipgloss.Color(own)).
			Render(widget.FitName(c.DisplayName, cols.Name, more))...)
	} else {
		l.Add(s.NameToken(), widget.FitName(c.DisplayName, cols.Name, more))
	}
	l.Space(2)
	c.AppendCells(&l, cols, more)
	if cols.Why > 0 {
		l.Space(2)
		l.Add(themes.Text, widget.Fit(c.Why(m.Now), cols.Why, more))
	}
	return l.Row(w)
}
