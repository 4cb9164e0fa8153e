package tui

import (
	"strings"

	"gcity/themes"
	"gcity/tui/widget"
)

// detailStrip is the selected agent in a few lines, beside the lists; the pool or the automation where these have
// the focus.
func (m *model) detailStrip(w, h int) []string {
	if m.focus == panelPools && m.pools.Current() != nil {
		return widget.FillRows(m.poolStrip(m.pools.Current(), w), w, h)
	}
	if m.showsRun() {
		return widget.FillRows(m.automationStrip(m.automations.Current(), w), w, h)
	}
	if d := m.watchdogs.Current(); m.focus == panelWatchdogs && d != nil {
		return widget.FillRows(m.watchdogStrip(d, w), w, h)
	}
	r := m.selected()
	if r == nil {
		return widget.FillRows([]string{m.look.Title(w, false, nil, "")}, w, h)
	}
	a, ok := m.snap.Agent(r.name)
	if !ok {
		return widget.FillRows([]string{m.look.Title(w, false, nil, "")}, w, h)
	}
	lines := []string{m.look.Title(w, false, []widget.Tab{{Name: r.shown, Active: true}}, widget.Plain(a.Source))}
	more := m.look.Glyphs.More
	dot := " " + m.look.Glyphs.Dot + " "
	add := func(build func(l *widget.Line)) {
		l := widget.Line{Styles: &m.look}
		l.Space(1)
		build(&l)
		lines = append(lines, widget.Crop(l.Fill(w), w))
	}
	sign, token := m.stateSign(r)
	add(func(l *widget.Line) {
		l.Add(token, sign)
		since := r.since
		if r.stuck != nil {
			since = r.stuck.Since
		}
		l.Add(themes.Dim, " for "+widget.Age(m.now.Sub(since)))
		e := m.ends(r).Full
		if e == "" {
			e = m.nextText(r.next)
		}
		if e != "" {
			l.Add(themes.Dim, dot)
			l.Add(token, e)
			if !r.until.IsZero() {
				l.Add(themes.Dim, ", at "+widget.Clock(r.until, m.now))
			}
		}
	})
	add(func(l *widget.Line) { l.Add(themes.Text, widget.Cut(suspendedBy(widget.Plain(a.Reason)), w-2, more)) })
	add(func(l *widget.Line) {
		parts := []string{m.sessionLine(r)}
		if r.restarts > 0 {
			parts = append(parts, "restarted "+widget.Times(r.restarts))
		}
		if r.crashes > 0 {
			parts = append(parts, "crashed "+widget.Times(r.crashes)+" lately")
		}
		if r.exit != nil {
			parts = append(parts, "last "+lastExit(r.exit)+", "+widget.Age(m.now.Sub(r.exit.At))+" ago")
		}
		drawn := m.agents.pulses.Draw(r.name, m.now, &m.look.Glyphs)
		text := widget.Cut(strings.Join(parts, dot), w-2, more)
		l.Add(themes.Dim, text)
		if room := w - l.Width - 1 - widget.Width(drawn); drawn != "" && room >= 2 {
			l.Space(room)
			l.Add(themes.Accent, drawn)
		}
	})
	add(func(l *widget.Line) {
		l.Add(themes.Text, widget.Cut(widget.Plain(a.Command), w-2, more))
		l.Add(themes.Dim, widget.Cut("  in "+widget.Plain(a.Dir), w-l.Width-1, more))
	})
	if n := len(a.Decisions); n > 0 {
		d := &a.Decisions[n-1]
		add(func(l *widget.Line) {
			l.Add(themes.Dim, widget.Cut("last decision: "+widget.Plain(d.What)+", "+widget.Plain(d.Why), w-2, more))
		})
	}
	return widget.FillRows(lines, w, h)
}

func (m *model) sessionLine(r *agentRow) string {
	if !r.running || r.session == nil {
		return "no session"
	}
	s := "pid " + widget.Number(r.pid) + ", up " + widget.Age(m.now.Sub(r.session.Started))
	if r.usage != nil {
		s += ", " + widget.CPU(r.usage) + " cpu, " + widget.Memory(r.usage)
	}
	return s
}
