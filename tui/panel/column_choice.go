package panel

import (
	"slices"

	"gcity/themes"
	"gcity/tui/widget"
)

type columnKind struct {
	name  string
	head  string
	right bool
	// 0 = the column is hidden
	width func(a *Agents) int
	// nil = the column with the reason, which takes the remaining width
	cell func(e *Env, r *AgentRow) (string, token)
}

type token = themes.Token

// ColumnNames returns the valid names in the columns preference.
func ColumnNames() (names []string) {
	for _, c := range agentColumnKinds() {
		names = append(names, c.name)
	}
	return names
}

func agentColumnKinds() []columnKind {
	type width = func(*Agents) int
	fixed := func(n int) width { return func(*Agents) int { return n } }
	measured := func(n int) width {
		return func(a *Agents) int {
			if !a.measured {
				return 0
			}
			return n
		}
	}
	dim := func(text func(e *Env, r *AgentRow) string) func(e *Env, r *AgentRow) (string, token) {
		return func(e *Env, r *AgentRow) (string, token) { return text(e, r), themes.Dim }
	}
	longest := func(most int, text func(r *AgentRow) string) width {
		return func(a *Agents) int {
			n := 0
			for r := range a.All() { // all rows, so that a filter does not change the widths
				n = max(n, widget.Width(text(r)))
			}
			return min(n, most)
		}
	}
	pool := func(r *AgentRow) string { return widget.Plain(r.Pool) }
	provider := func(r *AgentRow) string { return widget.Plain(r.Provider) }
	return []columnKind{
		{name: "state", head: "state", width: fixed(StateWidth + 2),
			cell: func(e *Env, r *AgentRow) (string, token) {
				return ConditionOf(e.Look, r)
			}},
		{name: "name", head: "name",
			width: longest(40, func(r *AgentRow) string { return r.Shown }),
			cell:  func(e *Env, r *AgentRow) (string, token) { return r.Shown, themes.Text }},
		{name: "task", width: fixed(0)},
		{name: "why", head: "why", width: fixed(12)},
		{name: "age", head: "for", right: true, width: fixed(4),
			cell: dim(
				func(e *Env, r *AgentRow) string { return widget.Since(r.Since, e.Now) })},
		{name: "context", width: fixed(0)},
		{name: "pool", head: "pool", width: longest(16, pool),
			cell: dim(func(_ *Env, r *AgentRow) string { return pool(r) })},
		{name: "cpu", head: "cpu", right: true, width: measured(5),
			cell: dim(func(_ *Env, r *AgentRow) string { return widget.CPU(r.Usage) })},
		{name: "mem", head: "mem", right: true, width: measured(5),
			cell: dim(func(_ *Env, r *AgentRow) string { return widget.Memory(r.Usage) })},
		{name: "restarts", head: "restarts", right: true, width: fixed(8),
			cell: dim(func(_ *Env, r *AgentRow) string { return widget.Number(r.Restarts) })},
		{name: "mail", head: "mail", right: true, width: fixed(4),
			cell: func(_ *Env, r *AgentRow) (string, token) {
				if r.Mail <= 0 {
					return widget.Number(0), themes.Dim
				}
				return widget.Number(r.Mail), themes.Accent
			}},
		{name: "provider", head: "provider", width: longest(10, provider),
			cell: dim(func(_ *Env, r *AgentRow) string { return provider(r) })},
		{name: "pid", head: "pid", right: true, width: fixed(7),
			cell: dim(func(_ *Env, r *AgentRow) string { return widget.Number(r.PID) })},
	}
}

// ChosenColumns returns the columns with the given names, or nil for the default columns.
func ChosenColumns(names []string) (out []columnKind) {
	for _, name := range names {
		for _, c := range agentColumnKinds() {
			if c.name == name {
				out = append(out, c)
			}
		}
	}
	return out
}

type sizedColumn struct {
	columnKind
	w int
}

func (a *Agents) fitColumns(w int) []sizedColumn {
	const gap, lead = 2, 4
	var all []sizedColumn
	for _, c := range a.Chosen {
		if n := c.width(a); n > 0 {
			all = append(all, sizedColumn{c, max(n, widget.Width(c.head))})
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

func chosenColumns(e *Env, own []sizedColumn) []Column[*AgentRow] {
	all := make([]Column[*AgentRow], len(own))
	for i, c := range own {
		all[i] = c.column(e)
	}
	return Spaced(2, all...)
}

func (c sizedColumn) column(e *Env) Column[*AgentRow] {
	switch {
	case c.cell == nil:
		return reasonColumn(c.head, c.w, func(r *AgentRow) widget.Reason { return r.reasonFor(e) })
	case c.name == "name":
		return nameColumn(c.w, func(r *AgentRow) string { return r.Shown })
	}
	return Column[*AgentRow]{Head: c.head, W: c.w, Right: c.right,
		Text: func(r *AgentRow) (string, token) { return c.cell(e, r) }}
}
