package tui

import (
	"strings"

	"gcity/themes"
)

// detailStrip is the selected agent in a few lines, beside the lists; the pool or the automation where these have
// the focus.
func (m *model) detailStrip(w, h int) []string {
	if m.focus == panelPools && m.pools.under() != nil {
		return fillRows(m.poolStrip(m.pools.under(), w), w, h)
	}
	if m.showsRun() {
		return fillRows(m.automationStrip(m.automations.under(), w), w, h)
	}
	if d := m.watchdogs.under(); m.focus == panelWatchdogs && d != nil {
		return fillRows(m.watchdogStrip(d, w), w, h)
	}
	r := m.selected()
	if r == nil {
		return fillRows([]string{m.look.rule(w, false, nil, "")}, w, h)
	}
	a, ok := m.snap.Agent(r.name)
	if !ok {
		return fillRows([]string{m.look.rule(w, false, nil, "")}, w, h)
	}
	lines := []string{m.look.rule(w, false, []tab{{name: r.shown, active: true}}, plain(a.Source))}
	more := m.look.glyph.More
	dot := " " + m.look.glyph.Dot + " "
	add := func(build func(l *line)) {
		l := line{look: &m.look}
		l.space(1)
		build(&l)
		lines = append(lines, crop(l.close(w), w))
	}
	sign, token := m.stateSign(r)
	add(func(l *line) {
		l.add(token, sign)
		since := r.since
		if r.stuck != nil {
			since = r.stuck.Since
		}
		l.add(themes.Dim, " for "+age(m.now.Sub(since)))
		e := m.ends(r).full
		if e == "" {
			e = m.nextText(r.next)
		}
		if e != "" {
			l.add(themes.Dim, dot)
			l.add(token, e)
			if !r.until.IsZero() {
				l.add(themes.Dim, ", at "+clock(r.until, m.now))
			}
		}
	})
	add(func(l *line) { l.add(themes.Text, cut(suspendedBy(plain(a.Reason)), w-2, more)) })
	add(func(l *line) {
		parts := []string{m.sessionLine(r)}
		if r.restarts > 0 {
			parts = append(parts, "restarted "+times(r.restarts))
		}
		if r.crashes > 0 {
			parts = append(parts, "crashed "+times(r.crashes)+" lately")
		}
		if r.exit != nil {
			parts = append(parts, "last "+lastExit(r.exit)+", "+age(m.now.Sub(r.exit.At))+" ago")
		}
		drawn := m.agents.pulses.draw(r.name, m.now, &m.look.glyph)
		text := cut(strings.Join(parts, dot), w-2, more)
		l.add(themes.Dim, text)
		if room := w - l.used - 1 - width(drawn); drawn != "" && room >= 2 {
			l.space(room)
			l.add(themes.Accent, drawn)
		}
	})
	add(func(l *line) {
		l.add(themes.Text, cut(plain(a.Command), w-2, more))
		l.add(themes.Dim, cut("  in "+plain(a.Dir), w-l.used-1, more))
	})
	if n := len(a.Decisions); n > 0 {
		d := &a.Decisions[n-1]
		add(func(l *line) {
			l.add(themes.Dim, cut("last decision: "+plain(d.What)+", "+plain(d.Why), w-2, more))
		})
	}
	return fillRows(lines, w, h)
}

func (m *model) sessionLine(r *agentRow) string {
	if !r.running || r.session == nil {
		return "no session"
	}
	s := "pid " + number(r.pid) + ", up " + age(m.now.Sub(r.session.Started))
	if r.usage != nil {
		s += ", " + cpuText(r.usage) + " cpu, " + memText(r.usage)
	}
	return s
}
