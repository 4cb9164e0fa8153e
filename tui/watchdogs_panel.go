package tui

import (
	"fmt"

	"gcity/themes"
	"gcity/tui/widget"
)

// watchdogColumns are the widths of the Watchdogs panel; 0 = dropped.
type watchdogColumns struct{ state, name, watches, heart, mode, why, gap int }

func (m *model) watchdogColumns(w int) watchdogColumns {
	const state, enough = 10, 30 // "very stale"; what why must have before others are shown
	c := watchdogColumns{state: state + 2, name: 6, watches: 7, heart: 9, mode: 4, gap: 2}
	full := 0
	for _, i := range m.watchdogs.List.Shown {
		r := &m.watchdogs.Rows[i]
		h := r.heart(m.now)
		c.name, c.watches = max(c.name, widget.Width(r.shown)),
			max(c.watches, widget.Width(widget.Plain(r.watches)))
		c.heart, full, c.mode = max(c.heart, widget.Width(h.Brief)),
			max(full, widget.Width(h.Full)), max(c.mode, widget.Width(r.whoJudges()))
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
func (m *model) watchdogsPanel(w, h int, focus bool, tabs []widget.Tab) []string {
	key := widget.CacheKey{W: w, H: h, Focus: focus, Data: m.watchdogs.Version, UI: m.ui,
		Second: m.now.Unix()}
	return m.cache[panelWatchdogs].Lines(key, func() []string { return m.drawWatchdogs(w, h, focus, tabs) })
}

func (m *model) drawWatchdogs(w, h int, focus bool, tabs []widget.Tab) []string {
	l := &m.watchdogs.List
	lines := append(make([]string, 0, h), m.look.Title(w, focus, tabs, m.ruleNote(tabs, l, &m.watchdogs.Filter)))
	if len(l.Shown) == 0 {
		return widget.FillRows(append(lines, m.noWatchdogs(w)...), w, h)
	}
	c := m.watchdogColumns(w)
	room := h - 1
	if m.headed(w, h) {
		lines = append(lines, m.watchdogHeads(c, w))
		room--
	}
	from, to := l.Window(room)
	for _, i := range l.Shown[from:to] {
		lines = append(lines, m.watchdogLine(&m.watchdogs.Rows[i], c, w, focus))
	}
	return widget.FillRows(lines, w, h)
}

func (m *model) watchdogHeads(c watchdogColumns, w int) string {
	l := widget.Line{Styles: &m.look}
	l.Add(themes.Dim, "   "+widget.Fit("state", c.state+c.gap, "")+
		widget.Fit("name", c.name+c.gap, ""))
	for _, col := range []struct {
		w    int
		head string
	}{{c.watches, "watches"}, {c.heart, "heartbeat"}, {c.mode, "judge"}, {c.why, "last decision"}} {
		if col.w > 0 {
			l.Add(themes.Dim, widget.Fit(col.head, col.w+c.gap, ""))
		}
	}
	return widget.Crop(l.Fill(w), w)
}

func (m *model) watchdogLine(r *watchdogRow, c watchdogColumns, w int, focus bool) string {
	more := m.look.Glyphs.More
	s := widget.RowState{Cursor: r.name == m.watchdogs.Chosen, Focus: focus,
		Stray: m.watchdogs.List.Strays[r.name]}
	l := m.look.RowStart(s)
	sign, token := watchdogSign(&m.look, r.word)
	l.Add(token, widget.Fit(sign+" "+r.word, c.state, more))
	l.Space(c.gap)
	l.Add(s.NameToken(), widget.FitName(r.shown, c.name, more))
	l.Space(c.gap)
	if c.watches > 0 {
		l.Add(themes.Text, widget.FitName(widget.Plain(r.watches), c.watches, more))
		l.Space(c.gap)
	}
	if c.heart > 0 {
		h := r.heart(m.now)
		text := h.Full
		if widget.Width(text) > c.heart {
			text = h.Brief
		}
		l.Add(token, widget.Fit(text, c.heart, more))
		l.Space(c.gap)
	}
	if c.mode > 0 {
		mode := themes.Dim
		if r.dog.Degraded != "" {
			mode = themes.Warn
		}
		l.Add(mode, widget.Fit(r.whoJudges(), c.mode, more))
		l.Space(c.gap)
	}
	b := widget.Reason{Text: r.why(m.now), Token: themes.Text, Tail: r.beats(m.now),
		TailToken: themes.Dim}
	switch {
	case r.dog.Calls():
		b.Token = themes.Bad
	case r.dog.Suspended:
		b.Token = themes.Dim
	case r.attention():
		b.Token = themes.Warn
	}
	if r.dog.Triaged != nil {
		b.TailToken = themes.Busy
	}
	m.look.Reason(&l, b, c.why)
	return widget.Crop(l.Fill(w), w)
}

// noWatchdogs says why the list is empty and what would fill it.
func (m *model) noWatchdogs(w int) []string {
	note := func(texts ...string) []string { return m.look.Notes(w, texts...) }
	n := len(m.watchdogs.Rows)
	switch {
	case m.snap == nil:
		return note("Waiting for the city.")
	case n > 0 && m.attention && !m.watchdogs.Filter.Active():
		return note("No watchdog needs attention.", fmt.Sprintf("%s shows all %d again.", m.keys.KeyOf("view.attention"), n))
	case n > 0:
		return note(fmt.Sprintf("None of %s matches %q.", widget.Count(n, "watchdog"),
			m.watchdogs.Filter.Text), m.clears())
	}
	return note("No watchdogs: nobody looks whether an agent is at work. Add one to "+
		widget.Plain(m.snap.Path)+"/city.toml:", "",
		"    [[watchdogs]]", `    name = "chain"`, `    watches = "AGENT"      # which says so with: gc heartbeat`)
}

// watchdogStrip is a watchdog in a few lines, beside the lists.
func (m *model) watchdogStrip(r *watchdogRow, w int) []string {
	lines := []string{m.look.Title(w, false,
		[]widget.Tab{{Name: "watchdog " + r.shown, Active: true}}, widget.Plain(r.dog.Source))}
	for i, text := range m.watchdogDetails(r.name) {
		if i < 5 {
			l := widget.Line{Styles: &m.look}
			l.Space(1)
			lines = append(lines, widget.Crop(l.String()+text, w))
		}
	}
	return lines
}
