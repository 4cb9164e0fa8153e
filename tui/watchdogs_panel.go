package tui

import (
	"fmt"

	"gcity/themes"
)

// watchdogColumns are the widths of the Watchdogs panel; 0 = dropped.
type watchdogColumns struct{ state, name, watches, heart, mode, why, gap int }

func (m *model) watchdogColumns(w int) watchdogColumns {
	const state, enough = 10, 30 // "very stale"; what why must have before others are shown
	c := watchdogColumns{state: state + 2, name: 6, watches: 7, heart: 9, mode: 4, gap: 2}
	full := 0
	for _, i := range m.watchdogs.list.shown {
		r := &m.watchdogs.rows[i]
		h := r.heart(m.now)
		c.name, c.watches = max(c.name, width(r.shown)), max(c.watches, width(plain(r.watches)))
		c.heart, full, c.mode = max(c.heart, width(h.brief)), max(full, width(h.full)), max(c.mode, width(r.whoJudges()))
	}
	c.name, c.watches, c.mode = min(c.name, max(8, min(24, w/5))), min(c.watches, max(8, min(24, w/5))), min(c.mode, 20)
	if w < 50 {
		c.gap, c.name, c.heart = 1, min(c.name, 9), 4
	}
	rest := w - 4 - c.state - c.gap - c.name - c.gap
	take := func(n *int, least int) {
		if rest-*n-c.gap < least {
			*n = 0
			return
		}
		rest -= *n + c.gap
	}
	take(&c.heart, 8)
	take(&c.watches, 14)
	take(&c.mode, enough+20)
	if more := full - c.heart; c.heart > 0 && more > 0 && rest-more >= enough {
		c.heart, rest = full, rest-more
	}
	c.why = max(0, rest)
	return c
}

// watchdogsPanel draws the list; with tabs it shares its place.
func (m *model) watchdogsPanel(w, h int, focus bool, tabs []tab) []string {
	key := panelKey{w: w, h: h, focus: focus, data: m.watchdogs.version, ui: m.ui, second: m.now.Unix()}
	return m.cache[panelWatchdogs].lines(key, func() []string { return m.drawWatchdogs(w, h, focus, tabs) })
}

func (m *model) drawWatchdogs(w, h int, focus bool, tabs []tab) []string {
	l := &m.watchdogs.list
	lines := append(make([]string, 0, h), m.look.rule(w, focus, tabs, m.ruleNote(tabs, l, &m.watchdogs.filter)))
	if len(l.shown) == 0 {
		return fillRows(append(lines, m.noWatchdogs(w)...), w, h)
	}
	c := m.watchdogColumns(w)
	room := h - 1
	if m.headed(w, h) {
		lines = append(lines, m.watchdogHeads(c, w))
		room--
	}
	from, to := l.window(room)
	for _, i := range l.shown[from:to] {
		lines = append(lines, m.watchdogLine(&m.watchdogs.rows[i], c, w, focus))
	}
	return fillRows(lines, w, h)
}

func (m *model) watchdogHeads(c watchdogColumns, w int) string {
	l := line{look: &m.look}
	l.add(themes.Dim, "   "+fit("state", c.state+c.gap, "")+fit("name", c.name+c.gap, ""))
	for _, col := range []struct {
		w    int
		head string
	}{{c.watches, "watches"}, {c.heart, "heartbeat"}, {c.mode, "judge"}, {c.why, "last decision"}} {
		if col.w > 0 {
			l.add(themes.Dim, fit(col.head, col.w+c.gap, ""))
		}
	}
	return crop(l.close(w), w)
}

func (m *model) watchdogLine(r *watchdogRow, c watchdogColumns, w int, focus bool) string {
	more := m.look.glyph.More
	s := rowState{cursor: r.name == m.watchdogs.chosen, focus: focus, stray: m.watchdogs.list.strays[r.name]}
	l := m.look.start(s)
	sign, token := watchdogSign(&m.look, r.word)
	l.add(token, fit(sign+" "+r.word, c.state, more))
	l.space(c.gap)
	l.add(s.name(), fitName(r.shown, c.name, more))
	l.space(c.gap)
	if c.watches > 0 {
		l.add(themes.Text, fitName(plain(r.watches), c.watches, more))
		l.space(c.gap)
	}
	if c.heart > 0 {
		h := r.heart(m.now)
		text := h.full
		if width(text) > c.heart {
			text = h.brief
		}
		l.add(token, fit(text, c.heart, more))
		l.space(c.gap)
	}
	if c.mode > 0 {
		mode := themes.Dim
		if r.dog.Degraded != "" {
			mode = themes.Warn
		}
		l.add(mode, fit(r.whoJudges(), c.mode, more))
		l.space(c.gap)
	}
	b := because{text: r.why(m.now), token: themes.Text, tail: r.beats(m.now), tailToken: themes.Dim}
	switch {
	case r.dog.Calls():
		b.token = themes.Bad
	case r.dog.Suspended:
		b.token = themes.Dim
	case r.attention():
		b.token = themes.Warn
	}
	if r.dog.Triaged != nil {
		b.tailToken = themes.Busy
	}
	m.look.because(&l, b, c.why)
	return crop(l.close(w), w)
}

// noWatchdogs says why the list is empty and what would fill it.
func (m *model) noWatchdogs(w int) []string {
	note := func(texts ...string) []string { return m.look.notes(w, texts...) }
	n := len(m.watchdogs.rows)
	switch {
	case m.snap == nil:
		return note("Waiting for the city.")
	case n > 0 && m.attention && !m.watchdogs.filter.active():
		return note("No watchdog needs attention.", fmt.Sprintf("%s shows all %d again.", m.keys.keyOf("view.attention"), n))
	case n > 0:
		return note(fmt.Sprintf("None of %s matches %q.", count(n, "watchdog"), m.watchdogs.filter.text), m.clears())
	}
	return note("No watchdogs: nobody looks whether an agent is at work. Add one to "+plain(m.snap.Path)+"/city.toml:", "",
		"    [[watchdogs]]", `    name = "chain"`, `    watches = "AGENT"      # which says so with: gc heartbeat`)
}

// watchdogStrip is a watchdog in a few lines, beside the lists.
func (m *model) watchdogStrip(r *watchdogRow, w int) []string {
	lines := []string{m.look.rule(w, false, []tab{{name: "watchdog " + r.shown, active: true}}, plain(r.dog.Source))}
	for i, text := range m.watchdogDetails(r.name) {
		if i < 5 {
			l := line{look: &m.look}
			l.space(1)
			lines = append(lines, crop(l.String()+text, w))
		}
	}
	return lines
}
