package tui

import (
	"fmt"

	"gcity/city"
	"gcity/themes"
	"gcity/tui/widget"
)

func (m *model) showWatchdog() []effect {
	r := m.watchdogs.Current()
	name := r.name
	m.read(&reader{Title: "watchdog " + r.shown, Lines: func(w int) []string {
		lines := m.watchdogDetails(name)
		if r := m.watchdogs.Find(name); r != nil {
			lines = append(lines, m.judgements(r.dog)...)
		}
		return widget.WrapAll(lines, w)
	}})
	return nil
}

// watchdogDetails is how a watchdog stands, whom it looks after, who judges, and what was decided last.
func (m *model) watchdogDetails(name string) []string {
	r := m.watchdogs.Find(name)
	if r == nil {
		return []string{"This watchdog is no longer part of the city."}
	}
	w, dot := r.dog, " "+m.look.Glyphs.Dot+" "
	sign, token := watchdogSign(&m.look, r.word)
	state := m.look.Paint(token, sign+" "+r.word)
	if next := r.beats(m.now).Full; next != "" {
		state += dot + next
	}
	lines := []string{m.field("state", state)}
	if e := w.Escalated; e != nil {
		text := widget.Plain(e.To) + " for " + widget.Age(m.now.Sub(e.At)) + ": " +
			widget.Plain(e.Message)
		if e.Seen {
			text += dot + "seen by " + widget.Plain(e.By)
			lines = append(lines, m.field("calls", text))
		} else {
			lines = append(lines, m.field("calls", m.look.Paint(themes.Bad, text)))
		}
	}
	if w.Degraded != "" {
		lines = append(lines, m.field("degraded",
			m.look.Paint(themes.Warn, widget.Plain(w.Degraded))))
	}
	lines = append(lines, m.field("watches", m.watchedText(w)), m.field("heartbeat", m.heartText(r)))
	if says := w.Reports(); says != "" {
		lines = append(lines, m.field("reports", says))
	}
	if w.Last != nil {
		lines = append(lines, m.field("decided", m.judgementText(w.Last)))
	} else {
		lines = append(lines, m.field("decided", "nothing yet"))
	}
	if w.Failed > 0 {
		lines = append(lines, m.field("in vain", widget.Count(w.Failed, "wake")+" in a row"))
	}
	lines = append(lines, m.field("judges", m.judgeText(w)))
	if w.Every > 0 {
		lines = append(lines, m.field("beats", "every "+widget.Duration(w.Every)))
	}
	return append(lines, m.field("declared", widget.Plain(w.Source)))
}

func (m *model) watchedText(w *city.Watchdog) string {
	text := widget.Plain(w.Watches)
	if r := m.agents.Find(w.Watches); r != nil {
		sign, token := m.stateSign(r)
		text += " " + m.look.Glyphs.Dot + " " + m.look.Paint(token, sign) + " for " +
			widget.Age(m.now.Sub(r.since))
		if r.frozen {
			text += ", " + m.look.Paint(themes.Warn, "frozen: a signal has stopped it")
		}
	} else {
		text += ", which is not there"
	}
	if w.Mail > 0 {
		text += fmt.Sprintf(" %s %d unread", m.look.Glyphs.Dot, w.Mail)
	}
	return text
}

func (m *model) heartText(r *watchdogRow) string {
	text := r.heart(m.now).Full
	if r.dog.Problem != "" {
		text += " " + m.look.Glyphs.Dot + " " +
			m.look.Paint(themes.Warn, widget.Plain(r.dog.Problem))
	}
	return text
}

func (m *model) judgeText(w *city.Watchdog) string {
	switch w.Mode {
	case city.ByTriage:
		text := widget.Plain(w.Triage) + ", started for each beat"
		if w.TTL > 0 {
			text += ", within " + widget.Duration(w.TTL)
		}
		if t := w.Triaged; t != nil {
			text += "; at work for " + widget.Age(m.now.Sub(t.Since)) + ", the ages decide in " +
				widget.Remaining(t.Until.Sub(m.now))
		}
		return text
	case city.ByThresholds:
		return "the ages alone"
	case city.ByRestart:
		return "the ages alone; nothing can be typed, so what is very stale is restarted"
	}
	return widget.Plain(string(w.Mode))
}

// judgementText is a decision in a line.
func (m *model) judgementText(j *city.Judgement) string {
	return widget.Plain(string(j.Decision)) + " " + widget.Age(m.now.Sub(j.At)) + " ago, " +
		judgedBy(j)
}

// judgedBy says who decided something and why, and what became of it.
func judgedBy(j *city.Judgement) string {
	text := "by " + widget.Plain(j.By)
	if j.Took > 0 {
		text += " in " + widget.Elapsed(j.Took)
	}
	text += ": " + widget.Plain(j.Reason)
	if j.Result != "" {
		text += " (" + widget.Plain(j.Result) + ")"
	}
	return text
}

// judgements are what was decided lately, the newest first.
func (m *model) judgements(w *city.Watchdog) []string {
	all := make([]city.Decision, 0, len(w.Recent))
	for i := range w.Recent {
		all = append(all, city.Decision{At: w.Recent[i].At, What: string(w.Recent[i].Decision), Why: judgedBy(&w.Recent[i])})
	}
	lines := m.decisions(all)
	if len(all) == 0 && w.Last != nil {
		lines[len(lines)-1] = m.look.Paint(themes.Dim, "None but nothing, which is not kept.")
	}
	return lines
}
