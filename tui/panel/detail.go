package panel

import (
	"slices"
	"strings"
	"time"

	"gcity/city"

	"gcity/themes"
	"gcity/tui/widget"
)

func description(e *Env, w int, name, note string, texts []string) []string {
	s := newSummary(e, w, widget.Plain(name), widget.Plain(note))
	for _, text := range widget.WrapAll(texts, w-1) {
		s.lines = append(s.lines, widget.Crop(" "+text, w))
	}
	return s.lines
}

// summary is a description of a row: a title and lines of one color.
type summary struct {
	look  *widget.Styles
	w     int
	lines []string
}

func newSummary(e *Env, w int, name, note string) *summary {
	return &summary{e.Look, w, []string{e.Look.Title(w, false,
		[]widget.Tab{{Name: name, Active: true}}, note)}}
}

func (s *summary) build(add func(l *widget.Line)) {
	l := widget.Line{Styles: s.look}
	l.Space(1)
	add(&l)
	s.lines = append(s.lines, l.Row(s.w))
}

func (s *summary) add(token themes.Token, text string) {
	s.build(func(l *widget.Line) { l.Add(token, s.look.Cut(text, s.w-2)) })
}

// SummaryOf describes an agent in a few lines.
func (a *Agents) SummaryOf(e *Env, r *AgentRow, w int) []string {
	s := newSummary(e, w, r.Shown, widget.Plain(r.Source))
	more, dot := e.Look.Glyphs.More, e.Look.Between()
	narrow := w < 60 // next to the pane, the details are narrow and have many rows
	write := func(token themes.Token, text string) {
		parts := []string{text}
		if narrow {
			parts = widget.Wrap(text, w-2)
		}
		for _, part := range parts {
			s.add(token, part)
		}
	}
	s.addState(e, r, !narrow)
	for _, text := range reasons(r.Agent, w-2, dot) {
		write(themes.Text, text)
	}
	if session := r.sessionParts(e.Now); narrow {
		for _, part := range session {
			write(themes.Dim, part)
		}
		for _, part := range a.hourLines(e, r.Name) {
			write(themes.Text, part)
		}
	} else {
		s.build(func(l *widget.Line) {
			drawn := a.Rates.Draw(r.Name, e.Now, &e.Look.Glyphs)
			l.Add(themes.Dim, widget.Cut(strings.Join(session, dot), w-2, more))
			if room := w - l.Width - 1 - widget.Width(drawn); drawn != "" && room >= 2 {
				l.Space(room)
				l.Add(themes.Accent, drawn)
			}
		})
	}
	if narrow {
		write(themes.Text, widget.Plain(r.Command))
		write(themes.Dim, "in "+widget.Plain(r.Dir))
	} else {
		s.build(func(l *widget.Line) {
			l.Add(themes.Text, widget.Cut(widget.Plain(r.Command), w-2, more))
			l.Add(themes.Dim, widget.Cut("  in "+widget.Plain(r.Dir), w-l.Width-1, more))
		})
	}
	if last := lastDecision(e, r.Decisions); last != "" {
		write(themes.Dim, last)
	}
	return s.lines
}

func lastDecision(e *Env, all []city.Decision) string {
	if len(all) == 0 {
		return ""
	}
	d := &all[len(all)-1]
	return "last decision: " + widget.Plain(d.What) + e.Look.Between() +
		widget.Plain(d.Why)
}

func (a *Agents) hourLines(e *Env, name string) []string {
	const full = "1h"
	period, columns := a.Hours.Period(e.Now, time.Hour, full), 20
	if period != full { // the text is longer, and most of the chart is empty
		columns = 12
	}
	c := a.Hours.Hour(name, e.Now, &e.Look.Glyphs, columns)
	hour := " " + period + ", "
	var lines []string
	if c.Peak != nil {
		lines = append(lines, "cpu "+c.CPU+hour+"at most "+widget.CPU(c.Peak),
			"mem "+c.Memory+hour+"at most "+widget.Memory(c.Peak))
	}
	if c.RestartCount > 0 {
		lines = append(lines, "restarts "+c.Restarts+hour+widget.Number(c.RestartCount)+" seen")
	}
	return lines
}

func (r *AgentRow) sessionParts(now time.Time) []string {
	parts := []string{sessionLine(r, now)}
	if r.Restarts > 0 {
		parts = append(parts, "restarted "+widget.Times(r.Restarts))
	}
	if r.Crashes > 0 {
		parts = append(parts, "crashed "+widget.Times(r.Crashes)+" recently")
	}
	if r.Exit != nil {
		parts = append(parts, "last "+LastExit(r.Exit)+", "+widget.Ago(r.Exit.At, now))
	}
	return parts
}

func reasons(a *city.Agent, w int, dot string) []string {
	why, about := widget.Plain(reason(a)), widget.Plain(a.Description)
	if a.State != city.Running {
		about = ""
	}
	switch {
	case about == "" && why == "":
		return nil
	case about == "":
		return []string{why}
	case why == "":
		return []string{about}
	case widget.Width(about+dot+why) <= w:
		return []string{about + dot + why}
	}
	return []string{about, why}
}

func sessionLine(r *AgentRow, now time.Time) string {
	if !r.Running || r.Session == nil {
		return "no session"
	}
	s := "pid " + widget.Number(r.PID) + ", up " + widget.Since(r.Session.Started, now)
	if r.Usage != nil {
		s += ", " + widget.CPU(r.Usage) + " cpu, " + widget.Memory(r.Usage)
	}
	return s
}

// addState adds the state, for how long it has lasted, and what happens next. If that does not fit into one line, the
// latter gets lines of its own.
func (s *summary) addState(e *Env, r *AgentRow, clock bool) {
	sign, token := ConditionOf(e.Look, r)
	lasted, at := " "+widget.Lasted(r.State, e.Now.Sub(r.ConditionSince())), ""
	next := r.NextChange(e).Full
	if next == "" {
		next = NextText(r.Next, e.Now)
	}
	if next != "" && !r.Until.IsZero() && clock {
		at = ", at " + widget.Clock(r.Until, e.Now)
	}
	between := e.Look.Between()
	fits := next == "" || widget.Width(sign+lasted+between+next+at) <= s.w-2
	s.build(func(l *widget.Line) {
		l.Add(token, sign)
		l.Add(themes.Dim, lasted)
		if next != "" && fits {
			l.Add(themes.Dim, between)
			l.Add(token, next)
			l.Add(themes.Dim, at)
		}
	})
	if !fits {
		for _, part := range widget.Wrap(next+at, s.w-2) {
			s.add(token, part)
		}
	}
}

// Decisions returns one line per decision, newest first.
func Decisions(e *Env, all []city.Decision) []string {
	p := widget.Page{Styles: e.Look}
	p.Heading("Last decisions")
	if len(all) == 0 {
		p.Dim("None yet.")
	}
	clock, what := 0, 10
	for i := range all {
		clock = max(clock, widget.Width(widget.Clock(all[i].At, e.Now)))
		what = max(what, widget.Width(widget.Plain(all[i].What)))
	}
	for _, d := range slices.Backward(all) {
		p.Add(p.Paint(themes.Dim, widget.Fit(widget.Clock(d.At, e.Now), clock, "")) + "  " +
			widget.Fit(widget.Plain(d.What), what, "") + "  " + widget.Plain(d.Why))
	}
	return p.Lines
}
