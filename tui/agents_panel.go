package tui

import (
	"fmt"
	"strings"

	"gcity/city"
	"gcity/themes"
	"gcity/tui/widget"
)

// sign is the glyph and the token of a state; the word stands beside it.
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

// stateSign is the glyph, the word and the token of how an agent is: its state, unless it runs and is stuck.
func (m *model) stateSign(r *agentRow) (string, themes.Token) {
	sign, word, token := agentCondition(&m.look, r.state, r.stuck != nil)
	return sign + " " + word, token
}

// condition is the same of any agent.
func agentCondition(l *widget.Styles, s city.State, stuck bool) (sign, word string,
	token themes.Token) {
	if stuck && s == city.Running {
		return l.Glyphs.Alert, "stuck", themes.Warn
	}
	sign, token = agentSign(l, s)
	return sign, string(s), token
}

const stateWidth = 11 // "quarantined"

// agentsPanel draws the list; with tabs it shares its place.
func (m *model) agentsPanel(w, h int, focus bool, tabs []widget.Tab) []string {
	key := widget.CacheKey{W: w, H: h, Focus: focus, Data: m.agents.Version, UI: m.ui,
		Second: m.now.Unix()}
	return m.cache[panelAgents].Lines(key, func() []string { return m.drawAgents(w, h, focus, tabs) })
}

func (m *model) drawAgents(w, h int, focus bool, tabs []widget.Tab) []string {
	lines := append(make([]string, 0, h), m.look.Title(w, focus, tabs,
		m.ordered(m.ruleNote(tabs, &m.agents.List, &m.agents.Filter), m.agents.Order,
			widget.WayNames(agentWays()), len(m.agents.Rows), focus)))
	if len(m.agents.List.Shown) == 0 {
		return widget.FillRows(append(lines, m.noAgents(w)...), w, h)
	}
	c := agentColumns(w, m.longest())
	c.own = m.fitColumns(w)
	room := h - 1
	if m.headed(w, h) {
		lines = append(lines, m.agentHeads(c, w))
		room--
	}
	from, to := m.agents.List.Window(room)
	for i := from; i < to; i++ {
		row := &m.agents.Rows[m.agents.List.Shown[i]]
		lines = append(lines, m.agentLine(row, c, w, m.rowState(row, focus)))
	}
	return widget.FillRows(lines, w, h)
}

// longest is what the rows that are shown need.
func (m *model) longest() needs {
	n := needs{usage: m.agents.measured}
	names := make([]int, 0, len(m.agents.List.Shown))
	for _, i := range m.agents.List.Shown {
		r := &m.agents.Rows[i]
		names = append(names, widget.Width(r.shown))
		n.name = max(n.name, widget.Width(r.shown))
		n.why = max(n.why, widget.Width(r.why)+3+widget.Width(m.tail(r).Full))
	}
	n.names = usual(names)
	return n
}

// tail is what stands behind a reason: what will happen by itself, or who works there.
func (m *model) tail(r *agentRow) widget.Phrase {
	if r.stuck != nil {
		return widget.Same("for " + widget.Age(m.now.Sub(r.stuck.Since)))
	}
	if r.state == city.Running && r.attached() {
		return widget.Same("attached")
	}
	if o := m.ends(r); o.Full != "" || !r.attached() {
		return o
	}
	return widget.Same("attached")
}

func (m *model) rowState(r *agentRow, focus bool) widget.RowState {
	return widget.RowState{Cursor: r.name == m.agents.Chosen, Marked: m.agents.Marks[r.name],
		Focus: focus, Stray: m.agents.List.Strays[r.name]}
}

func (m *model) agentHeads(c columns, w int) string {
	if c.own != nil {
		return m.ownHeads(c.own, w)
	}
	l := widget.Line{Styles: &m.look}
	l.Add(themes.Dim, "   "+widget.Fit("state", c.state+2, "")+widget.Fit("name", c.name+2, "")+
		widget.Fit("why", c.why, ""))
	for _, col := range []struct {
		w    int
		head string
	}{{c.age, "for"}, {c.cpu, "cpu"}, {c.mem, "mem"}, {c.restarts, "restarts"}, {c.pid, "pid"}} {
		if col.w > 0 {
			l.Add(themes.Dim, "  "+widget.FitRight(col.head, col.w, ""))
		}
	}
	return l.Fill(w)
}

func (m *model) agentLine(r *agentRow, c columns, w int, s widget.RowState) string {
	if c.own != nil {
		return m.ownLine(r, c.own, w, s)
	}
	more := m.look.Glyphs.More
	l := m.look.RowStart(s)
	sign, token := m.stateSign(r)
	l.Add(token, widget.Fit(sign, c.state, more))
	l.Space(c.gap)
	l.Add(s.NameToken(), widget.FitName(r.shown, c.name, more))
	l.Space(c.gap)
	m.whyCell(&l, r, c.why)
	cell := func(w int, text string) {
		if w > 0 {
			l.Space(2)
			l.Add(themes.Dim, widget.FitRight(text, w, more))
		}
	}
	cell(c.age, widget.Age(m.now.Sub(r.since)))
	cell(c.cpu, widget.CPU(r.usage))
	cell(c.mem, widget.Memory(r.usage))
	cell(c.restarts, widget.Number(r.restarts))
	cell(c.pid, widget.Number(r.pid))
	return l.Fill(w)
}

// whyCell shows why an agent is in its state, and what will happen by itself.
func (m *model) whyCell(l *widget.Line, r *agentRow, w int) {
	b := widget.Reason{Text: r.why, Token: themes.Text, Tail: m.tail(r)}
	if r.state == city.Suspended || r.state == city.Exited {
		b.Token = themes.Dim
	}
	_, b.TailToken = agentSign(&m.look, r.state)
	switch {
	case r.stuck != nil:
		b.Token, b.TailToken = themes.Warn, themes.Warn
	case r.state == city.Running:
		b.TailToken = themes.Accent
	}
	m.look.Reason(l, b, w)
}

// noAgents says why the list is empty and what would fill it.
func (m *model) noAgents(w int) []string {
	note := func(texts ...string) []string {
		return append([]string{widget.Spaces(w)}, m.look.Notes(w, texts...)...)
	}
	switch {
	case m.snap == nil:
		return note("Waiting for the city.")
	case len(m.agents.Rows) > 0 && m.attention && !m.agents.Filter.Active():
		return note("Nothing needs attention.", fmt.Sprintf("%s shows all %d agents again.", m.keys.KeyOf("view.attention"), len(m.agents.Rows)))
	case len(m.agents.Rows) > 0:
		return note(fmt.Sprintf("None of %d agents matches %q.", len(m.agents.Rows), m.agents.Filter.Text),
			m.clears())
	}
	return note("This city has no agents yet. Add one to "+widget.Plain(m.snap.Path)+"/city.toml:",
		"",
		"    [[agents]]", `    name = "worker"`, `    start_command = "bash -i"`, "",
		"It starts as soon as the file is saved.")
}

// search is what makes a list show only a part, "" if it shows all.
func (m *model) search(f *widget.Filter) string {
	var parts []string
	if m.attention {
		parts = append(parts, "!attention")
	}
	if f.Active() {
		parts = append(parts, "/"+f.Text)
	}
	return strings.Join(parts, " ")
}

// ruleNote is what the panel's rule says at its end about what is hidden, where its title does not.
func (m *model) ruleNote(tabs []widget.Tab, l *widget.List, f *widget.Filter) string {
	text := m.search(f)
	if text == "" || widget.Searched(tabs) {
		return ""
	}
	return text + "  " + l.Found()
}
