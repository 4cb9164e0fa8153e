package tui

import (
	"fmt"

	"gcity/themes"
)

// automationSign is the glyph and the token of an automation's state; the word stands beside it.
func automationSign(l *look, s automationState) (string, themes.Token) {
	switch s {
	case automationBroken:
		return l.glyph.Alert, themes.Bad
	case automationRunning:
		return l.glyph.Starting, themes.Busy
	case automationDue:
		return l.glyph.Waiting, themes.Busy
	case automationIdle:
		return l.glyph.Running, themes.Good
	case automationManual:
		return l.glyph.Suspended, themes.Text
	case automationOff:
		return l.glyph.Suspended, themes.Off
	}
	return l.glyph.Failed, themes.Bad
}

const automationStateWidth = 7 // "running", "failing"

// automationColumns are the widths of the Automations panel; 0 = dropped.
type automationColumns struct{ state, name, why, last, gap int }

func (m *model) automationColumns(w int) automationColumns {
	const enough, most = 32, 26 // for why before last is shown; for last
	c := automationColumns{state: automationStateWidth + 2, name: 6, gap: 2}
	for _, i := range m.automations.list.shown {
		r := &m.automations.rows[i]
		c.name, c.last = max(c.name, width(r.shown)), max(c.last, width(r.ago(m.now)))
	}
	c.name, c.last = min(c.name, max(8, min(28, w/4))), min(c.last, most)
	if w < 50 {
		c.gap, c.name = 1, min(c.name, 9)
	}
	rest := w - 4 - c.state - c.gap - c.name - c.gap
	if rest-c.last-c.gap < enough {
		c.last = 0
	}
	if c.last > 0 {
		rest -= c.last + c.gap
	}
	c.why = max(0, rest)
	return c
}

// automationsPanel draws the list; with tabs it shares its place.
func (m *model) automationsPanel(w, h int, focus bool, tabs []tab) []string {
	key := panelKey{w: w, h: h, focus: focus, data: m.automations.version, ui: m.ui, second: m.now.Unix()}
	return m.cache[panelAutomations].lines(key, func() []string { return m.drawAutomations(w, h, focus, tabs) })
}

func (m *model) drawAutomations(w, h int, focus bool, tabs []tab) []string {
	l := &m.automations.list
	lines := append(make([]string, 0, h), m.look.rule(w, focus, tabs,
		m.ordered(m.ruleNote(tabs, l, &m.automations.filter), m.automations.order, wayNames(automationWays()), len(m.automations.rows), focus)))
	if len(l.shown) == 0 {
		why := m.noAutomations(w)
		if len(m.automations.rows) == 0 && m.snap != nil && h-1 < len(why) { // the beginning alone would lead nowhere
			why = m.look.notes(w, "No automations. "+m.keys.keyOf("focus.automations")+" shows how to add one.")
		}
		return fillRows(append(lines, why...), w, h)
	}
	c := m.automationColumns(w)
	room := h - 1
	if m.headed(w, h) {
		head := line{look: &m.look}
		head.add(themes.Dim, "   "+fit("state", c.state+c.gap, "")+fit("name", c.name+c.gap, "")+fit("gate", c.why, ""))
		if c.last > 0 {
			head.add(themes.Dim, "  "+fit("last run", c.last, ""))
		}
		lines = append(lines, crop(head.close(w), w))
		room--
	}
	from, to := l.window(room)
	for _, i := range l.shown[from:to] {
		lines = append(lines, m.automationLine(&m.automations.rows[i], c, w, focus))
	}
	return fillRows(lines, w, h)
}

func (m *model) automationLine(r *automationRow, c automationColumns, w int, focus bool) string {
	more := m.look.glyph.More
	s := rowState{cursor: r.name == m.automations.chosen, marked: m.automations.marks[r.name], focus: focus, stray: m.automations.list.strays[r.name]}
	l := m.look.start(s)
	sign, token := automationSign(&m.look, r.state)
	l.add(token, fit(sign+" "+string(r.state), c.state, more))
	l.space(c.gap)
	l.add(s.name(), fitName(r.shown, c.name, more))
	l.space(c.gap)
	b := because{text: r.why(m.look.glyph.Dot), token: themes.Text, tail: r.soon(m.now), tailToken: themes.Dim}
	switch {
	case r.attention():
		b.token = themes.Bad
	case r.state == automationOff:
		b.token = themes.Dim
	case r.state == automationRunning && c.last > 0: // it stands there
		b.tail = outlook{}
	}
	m.look.because(&l, b, c.why)
	if c.last > 0 {
		l.space(2)
		last := themes.Dim
		if r.fails() && r.state != automationRunning {
			last = themes.Bad
		}
		l.add(last, fit(r.ago(m.now), c.last, more))
	}
	return crop(l.close(w), w)
}

// noAutomations says why the list is empty and what would fill it.
func (m *model) noAutomations(w int) []string {
	note := func(texts ...string) []string { return m.look.notes(w, texts...) }
	n := len(m.automations.rows)
	switch {
	case m.snap == nil:
		return note("Waiting for the city.")
	case n > 0 && m.attention && !m.automations.filter.active():
		return note("No automation needs attention.", fmt.Sprintf("%s shows all %d again.", m.keys.keyOf("view.attention"), n))
	case n > 0:
		return note(fmt.Sprintf("None of %s matches %q.", count(n, "automation"), m.automations.filter.text), m.clears())
	}
	return note("No automations. Each is a file of its own, below "+plain(m.snap.Path)+":",
		".gc/formulas/automations/NAME/automation.toml, or below what [formulas] dir names.", "",
		"    [automation]", `    gate = "cooldown"    # or cron, condition, event, manual`, `    interval = "5m"`,
		`    exec = "df -h ."     # or formula = "NAME"`)
}
