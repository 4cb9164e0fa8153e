package tui

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"gcity/city"
	"gcity/themes"
	"gcity/tui/keymap"
	"gcity/tui/widget"
)

// agents is the panel of the city's agents in the order of the lists. The order is kept still while the user works
// in it; agents keep their place, new ones come in where they belong.
type agents struct {
	table[agentRow, *agentRow]
	measured bool // some agent's use is known
	pulses   widget.Sparklines
	wanted   []choosable // columns, nil = the usual ones
}

func newAgents() *agents {
	a := &agents{}
	a.table = newTable(definition[agentRow, *agentRow]{
		about: about{id: panelAgents, title: "Agents", hotkey: "1", noun: "agent",
			zone: keymap.InLists, kind: KindAgent,
			opens: "agent.zoom", nouns: []string{"agent", "rig"}, shared: true, exact: true},
		rows:    a.made,
		orders:  func(time.Time) []widget.Way[agentRow] { return agentWays() },
		matches: func(f *widget.Filter, r *agentRow, _ time.Time) bool { return r.passes(f) },
		needs:   (*agentRow).attention,
		columns: a.columns,
		empty:   a.nobody,
		rig:     func(r *agentRow) string { return r.rig },
		strip:   a.stripOf,
	})
	return a
}

// newQuarantine is the panel of those agents that are in quarantine.
func newQuarantine(all *agents) *table[agentRow, *agentRow] {
	q := &table[agentRow, *agentRow]{}
	*q = newTable(definition[agentRow, *agentRow]{
		about: about{id: panelQuarantine, title: "Quarantine", hotkey: "3", noun: "agent",
			zone: keymap.InLists, kind: KindAgent,
			opens: "agent.zoom", nouns: []string{"agent", "rig"}, part: true, shared: true,
			plain: true, share: 5, least: 2},
		orders:  all.def.orders,
		belongs: func(r *agentRow) bool { return r.state == city.Quarantined },
		columns: quarantineColumns,
		count: func(e *env) string {
			if e.snap == nil {
				return ""
			}
			return strconv.Itoa(len(q.List.Shown) - len(q.List.Strays))
		},
		ills:  func(*env) (string, bool) { return "", len(q.List.Shown) > len(q.List.Strays) },
		empty: nobodyHeld,
		rig:   all.def.rig,
		strip: all.def.strip,
	})
	q.Records = all.Records
	return q
}

// made are the rows of a snapshot.
func (a *agents) made(e *env) []agentRow {
	a.measured = false
	rows := make([]agentRow, len(e.snap.Agents))
	for i := range rows {
		rows[i] = newAgentRow(&e.snap.Agents[i])
		a.measured = a.measured || rows[i].usage != nil
	}
	a.pulses.Observe(e.snap.Agents, e.now, e.snap.Patrol.Interval)
	return rows
}

// rigOf returns the rig of an agent, "" if it has none or is not there.
func (a *agents) rigOf(name string) string {
	if r := a.Find(name); r != nil {
		return r.rig
	}
	return ""
}

// agentSign is the glyph and the token of a state; the word stands beside it.
func agentSign(l *widget.Styles, s city.State) (string, themes.Token) {
	switch s {
	case city.Running:
		return l.Glyphs.Running, themes.Good
	case city.Starting:
		return l.Glyphs.Starting, themes.Busy
	case city.Waiting:
		return l.Glyphs.Waiting, themes.Busy
	case city.Draining, city.Stopping:
		return l.Glyphs.Leaving, themes.Busy
	case city.Backoff:
		return l.Glyphs.Backoff, themes.Warn
	case city.Unknown:
		return l.Glyphs.Alert, themes.Warn
	case city.Suspended:
		return l.Glyphs.Suspended, themes.Off
	case city.Exited:
		return l.Glyphs.Exited, themes.Off
	}
	return l.Glyphs.Failed, themes.Bad
}

// conditionOf is the glyph, the word and the token of how an agent is: its state, unless it runs and is stuck.
func conditionOf(k *widget.Styles, r *agentRow) (string, themes.Token) {
	sign, word, token := agentCondition(k, r.state, r.stuck != nil)
	return sign + " " + word, token
}

// agentCondition is the same of any agent.
func agentCondition(l *widget.Styles, s city.State, stuck bool) (sign, word string,
	token themes.Token) {
	if stuck && s == city.Running {
		return l.Glyphs.Alert, "stuck", themes.Warn
	}
	sign, token = agentSign(l, s)
	return sign, string(s), token
}

const stateWidth = 11 // "quarantined"

// columns are those of the Agents panel that fit into w.
func (a *agents) columns(e *env, rows []*agentRow, w int) []column[*agentRow] {
	if own := a.fitColumns(rows, w); own != nil {
		return ownColumns(e, own)
	}
	c, more := agentColumns(w, a.longest(e, rows)), e.look.Glyphs.More
	figure := func(head string, w int, text func(r *agentRow) string) column[*agentRow] {
		return column[*agentRow]{head: head, w: w, gap: 2, right: true,
			cell: func(l *widget.Line, r *agentRow, _ widget.RowState) {
				l.Add(themes.Dim, widget.FitRight(text(r), w, more))
			}}
	}
	return append([]column[*agentRow]{
		{head: "state", w: c.state, cell: func(l *widget.Line, r *agentRow, _ widget.RowState) {
			sign, token := conditionOf(e.look, r)
			l.Add(token, widget.Fit(sign, c.state, more))
		}},
		{head: "name", w: c.name, gap: c.gap,
			cell: func(l *widget.Line, r *agentRow, s widget.RowState) {
				l.Add(s.NameToken(), widget.FitName(r.shown, c.name, more))
			}},
		{head: "why", w: c.why, gap: c.gap, cell: func(l *widget.Line, r *agentRow,
			_ widget.RowState) {
			r.whyCell(e, l, c.why)
		}},
	}, shown([]column[*agentRow]{
		figure("for", c.age, func(r *agentRow) string { return widget.Age(e.now.Sub(r.since)) }),
		figure("cpu", c.cpu, func(r *agentRow) string { return widget.CPU(r.usage) }),
		figure("mem", c.mem, func(r *agentRow) string { return widget.Memory(r.usage) }),
		figure("restarts", c.restarts, func(r *agentRow) string {
			return widget.Number(r.restarts)
		}),
		figure("pid", c.pid, func(r *agentRow) string { return widget.Number(r.pid) }),
	})...)
}

// longest is what the rows that are shown need.
func (a *agents) longest(e *env, rows []*agentRow) needs {
	n := needs{usage: a.measured}
	names := make([]int, 0, len(rows))
	for _, r := range rows {
		names = append(names, widget.Width(r.shown))
		n.name = max(n.name, widget.Width(r.shown))
		n.why = max(n.why, widget.Width(r.why)+3+widget.Width(r.tail(e).Full))
	}
	n.names = usual(names)
	return n
}

// tail is what stands behind a reason: what will happen by itself, or who works there.
func (r *agentRow) tail(e *env) widget.Phrase {
	if r.stuck != nil {
		return widget.Same("for " + widget.Age(e.now.Sub(r.stuck.Since)))
	}
	if r.state == city.Running && r.attached() {
		return widget.Same("attached")
	}
	if o := r.ends(e); o.Full != "" || !r.attached() {
		return o
	}
	return widget.Same("attached")
}

// whyCell shows why an agent is in its state, and what will happen by itself.
func (r *agentRow) whyCell(e *env, l *widget.Line, w int) {
	b := widget.Reason{Text: r.why, Token: themes.Text, Tail: r.tail(e)}
	if r.state == city.Suspended || r.state == city.Exited {
		b.Token = themes.Dim
	}
	_, b.TailToken = agentSign(e.look, r.state)
	switch {
	case r.stuck != nil:
		b.Token, b.TailToken = themes.Warn, themes.Warn
	case r.state == city.Running:
		b.TailToken = themes.Accent
	}
	e.look.Reason(l, b, w)
}

// nobody says why the list is empty and what would fill it.
func (a *agents) nobody(e *env, w int) []string {
	note := func(texts ...string) []string {
		return append([]string{widget.Spaces(w)}, e.look.Notes(w, texts...)...)
	}
	n := len(a.Rows)
	switch {
	case e.snap == nil:
		return note("Waiting for the city.")
	case n > 0 && e.attention && !a.Filter.Active():
		return note("Nothing needs attention.",
			fmt.Sprintf("%s shows all %d agents again.", e.keyOf("view.attention"), n))
	case n > 0:
		return note(fmt.Sprintf("None of %d agents matches %q.", n, a.Filter.Text), e.clears())
	}
	return note("This city has no agents yet. Add one to "+widget.Plain(e.snap.Path)+"/city.toml:",
		"",
		"    [[agents]]", `    name = "worker"`, `    start_command = "bash -i"`, "",
		"It starts as soon as the file is saved.")
}

// passes reports whether an agent's row passes.
func (r *agentRow) passes(f *widget.Filter) bool {
	return f.Matches(func(t *widget.Clause) (hit bool) {
		switch t.Field {
		case "state":
			hit = strings.HasPrefix(string(r.state), t.Word) ||
				r.stuck != nil && strings.HasPrefix("stuck", t.Word)
		case "pool":
			hit = r.pool != "" && widget.HasNamePrefix(r.pool, t.Word)
		case "rig":
			hit = strings.HasPrefix(strings.ToLower(r.rig), t.Word)
		case "provider":
			hit = strings.HasPrefix(strings.ToLower(r.provider), t.Word)
		case "name":
			hit = strings.HasPrefix(strings.ToLower(r.name), t.Word)
		default:
			hit = t.In(r.shown) || !t.Fuzzy &&
				(t.In(string(r.state)) || t.In(r.why) || r.stuck != nil && t.In("stuck") ||
					r.attached() && t.In("attached"))
		}
		return hit
	})
}
