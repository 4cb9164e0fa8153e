package tui

import (
	"slices"

	"gcity/themes"
	"gcity/tui/widget"
)

// choosable is a column that the list of agents may have, if somebody asks for it.
type choosable struct {
	name  string
	head  string
	right bool // numbers stand at the right
	// it is dropped rather than narrower; 0 = as wide as wide says
	least int
	// what it takes, 0 = there is nothing to be shown
	wide func(a *agents, rows []*agentRow) int
	cell func(e *env, r *agentRow) (string, token) // nil = the reasons, which fill what is left
}

type token = themes.Token

// ColumnNames are the columns that Person.Columns may name.
func ColumnNames() []string {
	var names []string
	for _, c := range agentColumnKinds() {
		names = append(names, c.name)
	}
	return names
}

func agentColumnKinds() []choosable {
	type width = func(*agents, []*agentRow) int
	fixed := func(n int) width { return func(*agents, []*agentRow) int { return n } }
	measured := func(n int) width {
		return func(a *agents, _ []*agentRow) int {
			if !a.measured {
				return 0
			}
			return n
		}
	}
	dim := func(text func(e *env, r *agentRow) string) func(e *env, r *agentRow) (string, token) {
		return func(e *env, r *agentRow) (string, token) { return text(e, r), themes.Dim }
	}
	longest := func(most int, text func(r *agentRow) string) width {
		return func(_ *agents, rows []*agentRow) int {
			n := 0
			for _, r := range rows {
				n = max(n, widget.Width(text(r)))
			}
			return min(n, most)
		}
	}
	pool := func(r *agentRow) string { return widget.Plain(r.pool) }
	provider := func(r *agentRow) string { return widget.Plain(r.provider) }
	return []choosable{
		{name: "state", head: "state", wide: fixed(stateWidth + 2),
			cell: func(e *env, r *agentRow) (string, token) {
				return conditionOf(e.look, r)
			}},
		{name: "name", head: "name", least: 8,
			wide: longest(40, func(r *agentRow) string { return r.shown }),
			cell: func(e *env, r *agentRow) (string, token) { return r.shown, themes.Text }},
		{name: "task", wide: fixed(0)},
		{name: "why", head: "why", least: 12},
		{name: "age", head: "for", right: true, wide: fixed(4),
			cell: dim(
				func(e *env, r *agentRow) string { return widget.Age(e.now.Sub(r.since)) })},
		{name: "context", wide: fixed(0)},
		{name: "pool", head: "pool", wide: longest(16, pool),
			cell: dim(func(_ *env, r *agentRow) string { return pool(r) })},
		{name: "cpu", head: "cpu", right: true, wide: measured(5),
			cell: dim(func(_ *env, r *agentRow) string { return widget.CPU(r.usage) })},
		{name: "mem", head: "mem", right: true, wide: measured(5),
			cell: dim(func(_ *env, r *agentRow) string { return widget.Memory(r.usage) })},
		{name: "restarts", head: "restarts", right: true, wide: fixed(8),
			cell: dim(func(_ *env, r *agentRow) string { return widget.Number(r.restarts) })},
		{name: "mail", head: "mail", right: true, wide: fixed(4),
			cell: func(_ *env, r *agentRow) (string, token) {
				if r.mail == 0 {
					return widget.Number(0), themes.Dim
				}
				return widget.Number(r.mail), themes.Accent
			}},
		{name: "provider", head: "provider", wide: longest(10, provider),
			cell: dim(func(_ *env, r *agentRow) string { return provider(r) })},
		{name: "pid", head: "pid", right: true, wide: fixed(7),
			cell: dim(func(_ *env, r *agentRow) string { return widget.Number(r.pid) })},
	}
}

// chosenColumns are the columns of some names, nil if there are none: the usual ones then.
func chosenColumns(names []string) []choosable {
	var out []choosable
	for _, name := range names {
		for _, c := range agentColumnKinds() {
			if c.name == name {
				out = append(out, c)
			}
		}
	}
	return out
}

// fitted is a column with its width.
type fitted struct {
	choosable
	w int
}

// fitColumns gives the chosen columns their widths. Where there is no room the last of them goes first, but never
// the name.
func (a *agents) fitColumns(rows []*agentRow, w int) []fitted {
	const gap, lead = 2, 4
	var all []fitted
	for _, c := range a.wanted {
		n := c.least
		if c.wide != nil {
			n = c.wide(a, rows)
		}
		if n > 0 {
			all = append(all, fitted{c, max(n, widget.Width(c.head))})
		}
	}
	free := func() int {
		left := w - lead
		for _, c := range all {
			left -= c.w + gap
		}
		return left + gap
	}
	for free() < 0 && len(all) > 1 {
		at := len(all) - 1
		if all[at].name == "name" {
			at--
		}
		all = slices.Delete(all, at, at+1)
	}
	for i := range all {
		switch {
		case all[i].cell == nil:
			all[i].w += max(0, free())
		case len(all) == 1:
			all[i].w = max(1, all[i].w+min(0, free()))
		}
	}
	return all
}

// ownColumns are columns that a user has asked for, ready to be drawn.
func ownColumns(e *env, own []fitted) []column[*agentRow] {
	more := e.look.Glyphs.More
	all := make([]column[*agentRow], len(own))
	for i, c := range own {
		all[i] = column[*agentRow]{head: c.head, w: c.w, gap: 2, right: c.right}
		all[i].cell = func(l *widget.Line, r *agentRow, s widget.RowState) {
			if c.choosable.cell == nil {
				r.whyCell(e, l, c.w)
				return
			}
			text, t := c.choosable.cell(e, r)
			switch {
			case c.name == "name":
				l.Add(s.NameToken(), widget.FitName(text, c.w, more))
			case c.right:
				l.Add(t, widget.FitRight(text, c.w, more))
			default:
				l.Add(t, widget.Fit(text, c.w, more))
			}
		}
	}
	return all
}
