package tui

import (
	"fmt"

	"gcity/themes"
	"gcity/tui/widget"
)

// automationSign is the glyph and the token of an automation's state; the word stands beside it.
func automationSign(l *widget.Styles, s automationState) (string, themes.Token) {
	switch s {
	case automationBroken:
		return l.Glyphs.Alert, themes.Bad
	case automationRunning:
		return l.Glyphs.Starting, themes.Busy
	case automationDue:
		return l.Glyphs.Waiting, themes.Busy
	case automationIdle:
		return l.Glyphs.Running, themes.Good
	case automationManual:
		return l.Glyphs.Suspended, themes.Text
	case automationOff:
		return l.Glyphs.Suspended, themes.Off
	}
	return l.Glyphs.Failed, themes.Bad
}

const automationStateWidth = 7 // "running", "failing"

// automationColumns are the widths of the Automations panel; 0 = dropped.
type automationColumns struct{ state, name, why, last, gap int }

func (m *model) automationColumns(w int) automationColumns {
	const enough, most = 32, 26 // for why before last is shown; for last
	c := automationColumns{state: automationStateWidth + 2, name: 6, gap: 2}
	for _, i := range m.automations.List.Shown {
		r := &m.automations.Rows[i]
		c.name, c.last = max(c.name, widget.Width(r.shown)), max(c.last, widget.Width(r.ago(m.now)))
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
func (m *model) automationsPanel(w, h int, focus bool, tabs []widget.Tab) []string {
	key := widget.CacheKey{W: w, H: h, Focus: focus, Data: m.automations.Version, UI: m.ui,
		Second: m.now.Unix()}
	return m.cache[panelAutomations].Lines(key, func() []string { return m.drawAutomations(w, h, focus, tabs) })
}

func (m *model) drawAutomations(w, h int, focus bool, tabs []widget.Tab) []string {
	l := &m.automations.List
	lines := append(make([]string, 0, h), m.look.Title(w, focus, tabs,
		m.ordered(m.ruleNote(tabs, l, &m.automations.Filter), m.automations.Order,
			widget.WayNames(automationWays()), len(m.automations.Rows), focus)))
	if len(l.Shown) == 0 {
		why := m.noAutomations(w)
		if len(m.automations.Rows) == 0 && m.snap != nil && h-1 < len(why) { // the beginning alone would lead nowhere
			why = m.look.Notes(w, "No automations. "+m.keys.KeyOf("focus.automations")+" shows how to add one.")
		}
		return widget.FillRows(append(lines, why...), w, h)
	}
	c := m.automationColumns(w)
	room := h - 1
	if m.headed(w, h) {
		head := widget.Line{Styles: &m.look}
		head.Add(themes.Dim, "   "+widget.Fit("state", c.state+c.gap, "")+
			widget.Fit("name", c.name+c.gap, "")+widget.Fit("gate", c.why, ""))
		if c.last > 0 {
			head.Add(themes.Dim, "  "+widget.Fit("last run", c.last, ""))
		}
		lines = append(lines, widget.Crop(head.Fill(w), w))
		room--
	}
	from, to := l.Window(room)
	for _, i := range l.Shown[from:to] {
		lines = append(lines, m.automationLine(&m.automations.Rows[i], c, w, focus))
	}
	return widget.FillRows(lines, w, h)
}

func (m *model) automationLine(r *automationRow, c automationColumns, w int, focus bool) string {
	more := m.look.Glyphs.More
	s := widget.RowState{Cursor: r.name == m.automations.Chosen,
		Marked: m.automations.Marks[r.name], Focus: focus, Stray: m.automations.List.Strays[r.name]}
	l := m.look.RowStart(s)
	sign, token := automationSign(&m.look, r.state)
	l.Add(token, widget.Fit(sign+" "+string(r.state), c.state, more))
	l.Space(c.gap)
	l.Add(s.NameToken(), widget.FitName(r.shown, c.name, more))
	l.Space(c.gap)
	b := widget.Reason{Text: r.why(m.look.Glyphs.Dot), Token: themes.Text, Tail: r.soon(m.now),
		TailToken: themes.Dim}
	switch {
	case r.attention():
		b.Token = themes.Bad
	case r.state == automationOff:
		b.Token = themes.Dim
	case r.state == automationRunning && c.last > 0: // it stands there
		b.Tail = widget.Phrase{}
	}
	m.look.Reason(&l, b, c.why)
	if c.last > 0 {
		l.Space(2)
		last := themes.Dim
		if r.fails() && r.state != automationRunning {
			last = themes.Bad
		}
		l.Add(last, widget.Fit(r.ago(m.now), c.last, more))
	}
	return widget.Crop(l.Fill(w), w)
}

// noAutomations says why the list is empty and what would fill it.
func (m *model) noAutomations(w int) []string {
	note := func(texts ...string) []string { return m.look.Notes(w, texts...) }
	n := len(m.automations.Rows)
	switch {
	case m.snap == nil:
		return note("Waiting for the city.")
	case n > 0 && m.attention && !m.automations.Filter.Active():
		return note("No automation needs attention.", fmt.Sprintf("%s shows all %d again.", m.keys.KeyOf("view.attention"), n))
	case n > 0:
		return note(fmt.Sprintf("None of %s matches %q.", widget.Count(n, "automation"),
			m.automations.Filter.Text), m.clears())
	}
	return note("No automations. Each is a file of its own, below "+widget.Plain(m.snap.Path)+":",
		".gc/formulas/automations/NAME/automation.toml, or below what [formulas] dir names.", "",
		"    [automation]", `    gate = "cooldown"    # or cron, condition, event, manual`, `    interval = "5m"`,
		`    exec = "df -h ."     # or formula = "NAME"`)
}
