package fleet

import (
	"fmt"

	"gcity/themes"
	"gcity/tui/widget"
)

// Columns contains the column widths for the list of cities; 0 = not shown.
type Columns struct{ Health, Name, Agents, Needs, Open, InProgress, Mail, Loop, Why int }

// ColumnsFor returns the columns for a list of cities that is w columns wide.
func ColumnsFor(rows []City, w int) Columns {
	longest := 4
	for i := range rows {
		longest = max(longest, widget.Width(rows[i].DisplayName))
	}
	c := Columns{Health: 11, Name: min(longest, max(8, w/4), 28), Agents: 7}
	if w < 60 {
		c.Health = 1
	}
	least := 12
	rest := func() int { return w - 3 - c.Health - 2 - c.Name - 2 - c.Agents }
	c.Why = rest()
	for _, more := range []struct {
		to *int
		w  int
		at int // minimum screen width
	}{{&c.Needs, 9, 66}, {&c.Loop, 10, 100}, {&c.Open, 9, 100}, {&c.Mail, 5, 110},
		{&c.InProgress, 11, 130}} {
		if w >= more.at && c.Why-more.w-2 >= least {
			*more.to = more.w
			c.Why -= more.w + 2
		}
	}
	c.Why = max(0, c.Why-2)
	return c
}

// Header returns the row with the column titles.
func (c Columns) Header(look *widget.Styles, w int) string {
	l := widget.Line{Styles: look}
	l.Add(themes.Dim, "   "+widget.Fit("health", c.Health+2, "")+widget.Fit("city", c.Name+2, "")+
		widget.FitRight("running", c.Agents, ""))
	for _, col := range []struct {
		w    int
		head string
	}{{c.Needs, "attention"}, {c.Open, "open work"}, {c.InProgress, "in progress"},
		{c.Mail, "mail"},
		{c.Loop, "controller"}} {
		if col.w > 0 {
			l.Add(themes.Dim, "  "+widget.FitRight(col.head, col.w, ""))
		}
	}
	l.Add(themes.Dim, "  "+widget.Fit("why", c.Why, ""))
	return l.Row(w)
}

// AppendCells adds a city's numbers to its row.
func (c *City) AppendCells(l *widget.Line, cols Columns, more string) {
	numbers, old := themes.Text, !c.Info.Running || c.Unresponsive != ""
	if old {
		numbers = themes.Off
	}
	b := &c.Summary
	agents, open, begun, mail, needs, loop := "-", "-", "-", "-", "-", "-"
	if c.Responded && c.Info.Running {
		agents = fmt.Sprintf("%d/%d", b.Running, b.Agents)
		needs, mail = widget.Number(len(b.Needs)), widget.Number(b.Unread)
		open, begun = widget.Number(b.Open), widget.Number(b.InProgress)
		switch {
		case c.Unresponsive != "":
			loop = "?"
		case b.Overdue > 0:
			loop = widget.Age(b.Overdue)
		default:
			loop = "ok"
		}
	}
	l.Add(numbers, widget.FitRight(agents, cols.Agents, more))
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
	if b.Overdue > 0 {
		turning = themes.Bad
	}
	cell(cols.Needs, needs, needing)
	cell(cols.Open, open, themes.Dim)
	cell(cols.InProgress, begun, themes.Dim)
	cell(cols.Mail, mail, themes.Dim)
	cell(cols.Loop, loop, turning)
}
