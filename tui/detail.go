package tui

import (
	"gcity/city"
	"strings"
	"time"

	"gcity/themes"
	"gcity/tui/widget"
)

// stripOf is an agent in a few lines, beside the lists.
func (a *agents) stripOf(e *env, r *agentRow, w int) []string {
	known, ok := e.snap.Agent(r.name)
	if !ok {
		return []string{e.look.Title(w, false, nil, "")}
	}
	lines := []string{e.look.Title(w, false, []widget.Tab{{Name: r.shown, Active: true}},
		widget.Plain(known.Source))}
	more := e.look.Glyphs.More
	dot := " " + e.look.Glyphs.Dot + " "
	add := func(build func(l *widget.Line)) {
		l := widget.Line{Styles: e.look}
		l.Space(1)
		build(&l)
		lines = append(lines, widget.Crop(l.Fill(w), w))
	}
	add(func(l *widget.Line) { stateLine(e, r, l) })
	add(func(l *widget.Line) {
		l.Add(themes.Text, widget.Cut(suspendedBy(widget.Plain(known.Reason)), w-2, more))
	})
	add(func(l *widget.Line) {
		parts := []string{sessionLine(r, e.now)}
		if r.restarts > 0 {
			parts = append(parts, "restarted "+widget.Times(r.restarts))
		}
		if r.crashes > 0 {
			parts = append(parts, "crashed "+widget.Times(r.crashes)+" lately")
		}
		if r.exit != nil {
			parts = append(parts, "last "+lastExit(r.exit)+", "+widget.Age(e.now.Sub(r.exit.At))+
				" ago")
		}
		drawn := a.pulses.Draw(r.name, e.now, &e.look.Glyphs)
		text := widget.Cut(strings.Join(parts, dot), w-2, more)
		l.Add(themes.Dim, text)
		if room := w - l.Width - 1 - widget.Width(drawn); drawn != "" && room >= 2 {
			l.Space(room)
			l.Add(themes.Accent, drawn)
		}
	})
	add(func(l *widget.Line) {
		l.Add(themes.Text, widget.Cut(widget.Plain(known.Command), w-2, more))
		l.Add(themes.Dim, widget.Cut("  in "+widget.Plain(known.Dir), w-l.Width-1, more))
	})
	if n := len(known.Decisions); n > 0 {
		d := &known.Decisions[n-1]
		add(func(l *widget.Line) {
			l.Add(themes.Dim, widget.Cut("last decision: "+widget.Plain(d.What)+", "+
				widget.Plain(d.Why), w-2, more))
		})
	}
	return lines
}

func sessionLine(r *agentRow, now time.Time) string {
	if !r.running || r.session == nil {
		return "no session"
	}
	s := "pid " + widget.Number(r.pid) + ", up " + widget.Age(now.Sub(r.session.Started))
	if r.usage != nil {
		s += ", " + widget.CPU(r.usage) + " cpu, " + widget.Memory(r.usage)
	}
	return s
}

// stateLine is how an agent is, since when, and what happens next.
func stateLine(e *env, r *agentRow, l *widget.Line) {
	sign, token := conditionOf(e.look, r)
	l.Add(token, sign)
	since := r.since
	if r.stuck != nil {
		since = r.stuck.Since
	}
	l.Add(themes.Dim, " for "+widget.Age(e.now.Sub(since)))
	next := r.ends(e).Full
	if next == "" {
		next = nextText(r.next, e.now)
	}
	if next != "" {
		l.Add(themes.Dim, " "+e.look.Glyphs.Dot+" ")
		l.Add(token, next)
		if !r.until.IsZero() {
			l.Add(themes.Dim, ", at "+widget.Clock(r.until, e.now))
		}
	}
}

// decisions are the last ones, the newest first, with the day where it is not today.
func decisions(e *env, all []city.Decision) []string {
	lines := []string{"", e.look.Paint(themes.Title, "Last decisions")}
	if len(all) == 0 {
		return append(lines, e.look.Paint(themes.Dim, "None yet."))
	}
	room := 0
	for i := range all {
		room = max(room, widget.Width(widget.Clock(all[i].At, e.now)))
	}
	for i := len(all) - 1; i >= 0; i-- {
		d := &all[i]
		lines = append(lines, e.look.Paint(themes.Dim,
			widget.Fit(widget.Clock(d.At, e.now), room, ""))+"  "+
			widget.Fit(widget.Plain(d.What), 10, "")+"  "+widget.Plain(d.Why))
	}
	return lines
}
