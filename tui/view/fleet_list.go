package view

import (
	"fmt"

	"charm.land/lipgloss/v2"

	"gcity/themes"
	"gcity/tui/fleet"
	"gcity/tui/panel"
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
	columns := cityColumns(m, w)
	if FleetHasHeadings(m, w, h) {
		lines = append(lines, cityHeadings(m, columns, w))
	}
	from, to := t.List.Window(room)
	for _, i := range t.List.Shown[from:to] {
		c := t.Rows[i]
		l := panel.RowLine(&m.Look, columns, c, widget.RowState{Cursor: c.Key() == t.SelectedKey,
			Focus: focus, Unmatched: t.List.Unmatched[c.Key()]})
		lines = append(lines, l.Row(w))
	}
	return widget.FillRows(lines, w, h)
}

// FleetHasHeadings reports whether the list of cities has a row of column headings.
func FleetHasHeadings(m *state.Room, w, h int) bool { return h >= 6 && w >= 60 && m.H >= 20 }

func cityHeadings(m *state.Room, columns []cityColumn, w int) string {
	l := widget.Line{Styles: &m.Look}
	text := "   "
	for i, c := range columns {
		fit := widget.Fit
		if c.Right {
			fit = widget.FitRight
		}
		text += fit(c.Head, c.W, "")
		if i >= 2 { // the columns that always fit are drawn as one text
			l.Add(themes.Dim, text)
			text = ""
		}
		text += "  "
	}
	return l.Row(w)
}

const runningWidth = 7 // of the heading "running"

type cityColumn = panel.Column[*fleet.City]

func cityColumns(m *state.Room, w int) []cityColumn {
	longest := 4
	for c := range m.Cities.All() {
		longest = max(longest, widget.Width(c.DisplayName))
	}
	health, name := 11, min(longest, max(8, w/4), 28)
	if w < 60 {
		health = 1
	}
	const least = 12
	why := w - 3 - health - 2 - name - 2 - runningWidth
	// optional returns the width n, or 0 if the list is too narrow for the column
	optional := func(n, minWidth int) int {
		if w < minWidth || why-n-2 < least {
			return 0
		}
		why -= n + 2
		return n
	}
	needs, loop, open := optional(9, 66), optional(10, 100), optional(9, 100)
	unread, begun := optional(5, 110), optional(11, 130)
	columns := []cityColumn{
		{Head: "health", W: health,
			Cell: func(l *widget.Line, c *fleet.City, _ widget.RowState) {
				h := fleet.HealthOf(&m.Look, c)
				l.Add(h.Token, widget.Fit(h.Sign+" "+h.Word, health, ""))
			}},
		{Head: "city", W: name,
			Cell: func(l *widget.Line, c *fleet.City, s widget.RowState) {
				text := m.Look.FitName(c.DisplayName, name)
				own := c.Summary.Color
				if own == "" || m.Terminal.NoColor || s.Cursor || s.Unmatched {
					l.Add(s.NameToken(), text)
					return
				}
				l.Width += name
				l.Text = append(l.Text, lipgloss.NewStyle().Foreground(lipgloss.Color(own)).
					Render(text)...)
			}},
	}
	columns = append(columns, cityNumbers(needs, open, begun, unread, loop)...)
	return panel.Spaced(2, append(columns, cityColumn{Head: "why", W: why - 2,
		Text: func(c *fleet.City) (string, themes.Token) {
			return c.Why(m.Now), themes.Text
		}})...)
}

// cityNumbers returns the columns with numbers; a width of 0 hides a column.
func cityNumbers(needs, open, begun, unread, loop int) []cityColumn {
	return []cityColumn{
		cityNumber("running", runningWidth, func(c *fleet.City) (string, themes.Token) {
			return fmt.Sprintf("%d/%d", c.Summary.Running, c.Summary.Agents), themes.Text
		}),
		cityNumber("attention", needs, func(c *fleet.City) (string, themes.Token) {
			n := len(c.Summary.Needs)
			return widget.Number(n), badIf(n > 0)
		}),
		cityNumber("open work", open, func(c *fleet.City) (string, themes.Token) {
			return widget.Number(c.Summary.Open), themes.Dim
		}),
		cityNumber("in progress", begun, func(c *fleet.City) (string, themes.Token) {
			return widget.Number(c.Summary.InProgress), themes.Dim
		}),
		cityNumber("mail", unread, func(c *fleet.City) (string, themes.Token) {
			return widget.Number(c.Summary.Unread), themes.Dim
		}),
		cityNumber("controller", loop, func(c *fleet.City) (string, themes.Token) {
			overdue := c.Summary.Overdue
			switch {
			case c.Unresponsive != "":
				return "?", themes.Off
			case overdue > 0:
				return widget.Age(overdue), themes.Bad
			}
			return "ok", themes.Dim
		}),
	}
}

// cityNumber returns a column with numbers, which are unknown unless the city is running and has responded.
func cityNumber(head string, w int, cell func(*fleet.City) (string, themes.Token)) cityColumn {
	return cityColumn{Head: head, W: w, Right: true,
		Text: func(c *fleet.City) (string, themes.Token) {
			text, token := cell(c)
			if !c.Responded || !c.Info.Running {
				text = "-"
			}
			if !c.Info.Running || c.Unresponsive != "" {
				token = themes.Off
			}
			return text, token
		}}
}

func badIf(bad bool) themes.Token {
	if bad {
		return themes.Bad
	}
	return themes.Dim
}
