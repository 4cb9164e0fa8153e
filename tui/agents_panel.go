package tui

import (
	"fmt"
	"strings"

	"gcity/city"
	"gcity/themes"
)

// sign is the glyph and the token of a state; the word stands beside it.
func agentSign(l *look, s city.State) (string, themes.Token) {
	switch s {
	case city.Running:
		return l.glyph.Running, themes.Good
	case city.Starting:
		return l.glyph.Starting, themes.Busy
	case city.Waiting:
		return l.glyph.Waiting, themes.Busy
	case city.Draining, city.Stopping:
		return l.glyph.Leaving, themes.Busy
	case city.Backoff:
		return l.glyph.Backoff, themes.Warn
	case city.Unknown:
		return l.glyph.Alert, themes.Warn
	case city.Suspended:
		return l.glyph.Suspended, themes.Off
	case city.Exited:
		return l.glyph.Exited, themes.Off
	}
	return l.glyph.Failed, themes.Bad
}

// stateSign is the glyph, the word and the token of how an agent is: its state, unless it runs and is stuck.
func (m *model) stateSign(r *agentRow) (string, themes.Token) {
	sign, word, token := agentCondition(&m.look, r.state, r.stuck != nil)
	return sign + " " + word, token
}

// condition is the same of any agent.
func agentCondition(l *look, s city.State, stuck bool) (sign, word string, token themes.Token) {
	if stuck && s == city.Running {
		return l.glyph.Alert, "stuck", themes.Warn
	}
	sign, token = agentSign(l, s)
	return sign, string(s), token
}

const stateWidth = 11 // "quarantined"

// agentsPanel draws the list; with tabs it shares its place.
func (m *model) agentsPanel(w, h int, focus bool, tabs []tab) []string {
	key := panelKey{w: w, h: h, focus: focus, data: m.agents.version, ui: m.ui, second: m.now.Unix()}
	return m.cache[panelAgents].lines(key, func() []string { return m.drawAgents(w, h, focus, tabs) })
}

func (m *model) drawAgents(w, h int, focus bool, tabs []tab) []string {
	lines := append(make([]string, 0, h), m.look.rule(w, focus, tabs,
		m.ordered(m.ruleNote(tabs, &m.agents.list, &m.agents.filter), m.agents.order, wayNames(agentWays()), len(m.agents.rows), focus)))
	if len(m.agents.list.shown) == 0 {
		return fillRows(append(lines, m.noAgents(w)...), w, h)
	}
	c := agentColumns(w, m.longest())
	c.own = m.fitColumns(w)
	room := h - 1
	if m.headed(w, h) {
		lines = append(lines, m.agentHeads(c, w))
		room--
	}
	from, to := m.agents.list.window(room)
	for i := from; i < to; i++ {
		row := &m.agents.rows[m.agents.list.shown[i]]
		lines = append(lines, m.agentLine(row, c, w, m.rowState(row, focus)))
	}
	return fillRows(lines, w, h)
}

// longest is what the rows that are shown need.
func (m *model) longest() needs {
	n := needs{usage: m.agents.measured}
	names := make([]int, 0, len(m.agents.list.shown))
	for _, i := range m.agents.list.shown {
		r := &m.agents.rows[i]
		names = append(names, width(r.shown))
		n.name = max(n.name, width(r.shown))
		n.why = max(n.why, width(r.why)+3+width(m.tail(r).full))
	}
	n.names = usual(names)
	return n
}

// tail is what stands behind a reason: what will happen by itself, or who works there.
func (m *model) tail(r *agentRow) outlook {
	if r.stuck != nil {
		return same("for " + age(m.now.Sub(r.stuck.Since)))
	}
	if r.state == city.Running && r.attached() {
		return same("attached")
	}
	if o := m.ends(r); o.full != "" || !r.attached() {
		return o
	}
	return same("attached")
}

func (m *model) rowState(r *agentRow, focus bool) rowState {
	return rowState{cursor: r.name == m.agents.chosen, marked: m.agents.marks[r.name], focus: focus, stray: m.agents.list.strays[r.name]}
}

func (m *model) agentHeads(c columns, w int) string {
	if c.own != nil {
		return m.ownHeads(c.own, w)
	}
	l := line{look: &m.look}
	l.add(themes.Dim, "   "+fit("state", c.state+2, "")+fit("name", c.name+2, "")+fit("why", c.why, ""))
	for _, col := range []struct {
		w    int
		head string
	}{{c.age, "for"}, {c.cpu, "cpu"}, {c.mem, "mem"}, {c.restarts, "restarts"}, {c.pid, "pid"}} {
		if col.w > 0 {
			l.add(themes.Dim, "  "+right(col.head, col.w, ""))
		}
	}
	return l.close(w)
}

func (m *model) agentLine(r *agentRow, c columns, w int, s rowState) string {
	if c.own != nil {
		return m.ownLine(r, c.own, w, s)
	}
	more := m.look.glyph.More
	l := m.look.start(s)
	sign, token := m.stateSign(r)
	l.add(token, fit(sign, c.state, more))
	l.space(c.gap)
	l.add(s.name(), fitName(r.shown, c.name, more))
	l.space(c.gap)
	m.whyCell(&l, r, c.why)
	cell := func(w int, text string) {
		if w > 0 {
			l.space(2)
			l.add(themes.Dim, right(text, w, more))
		}
	}
	cell(c.age, age(m.now.Sub(r.since)))
	cell(c.cpu, cpuText(r.usage))
	cell(c.mem, memText(r.usage))
	cell(c.restarts, number(r.restarts))
	cell(c.pid, number(r.pid))
	return l.close(w)
}

// whyCell shows why an agent is in its state, and what will happen by itself.
func (m *model) whyCell(l *line, r *agentRow, w int) {
	b := because{text: r.why, token: themes.Text, tail: m.tail(r)}
	if r.state == city.Suspended || r.state == city.Exited {
		b.token = themes.Dim
	}
	_, b.tailToken = agentSign(&m.look, r.state)
	switch {
	case r.stuck != nil:
		b.token, b.tailToken = themes.Warn, themes.Warn
	case r.state == city.Running:
		b.tailToken = themes.Accent
	}
	m.look.because(l, b, w)
}

// noAgents says why the list is empty and what would fill it.
func (m *model) noAgents(w int) []string {
	note := func(texts ...string) []string { return append([]string{blanks(w)}, m.look.notes(w, texts...)...) }
	switch {
	case m.snap == nil:
		return note("Waiting for the city.")
	case len(m.agents.rows) > 0 && m.attention && !m.agents.filter.active():
		return note("Nothing needs attention.", fmt.Sprintf("%s shows all %d agents again.", m.keys.keyOf("view.attention"), len(m.agents.rows)))
	case len(m.agents.rows) > 0:
		return note(fmt.Sprintf("None of %d agents matches %q.", len(m.agents.rows), m.agents.filter.text),
			m.clears())
	}
	return note("This city has no agents yet. Add one to "+plain(m.snap.Path)+"/city.toml:", "",
		"    [[agents]]", `    name = "worker"`, `    start_command = "bash -i"`, "",
		"It starts as soon as the file is saved.")
}

// search is what makes a list show only a part, "" if it shows all.
func (m *model) search(f *filter) string {
	var parts []string
	if m.attention {
		parts = append(parts, "!attention")
	}
	if f.active() {
		parts = append(parts, "/"+f.text)
	}
	return strings.Join(parts, " ")
}

// ruleNote is what the panel's rule says at its end about what is hidden, where its title does not.
func (m *model) ruleNote(tabs []tab, l *list, f *filter) string {
	text := m.search(f)
	if text == "" || titled(tabs) {
		return ""
	}
	return text + "  " + l.found()
}
