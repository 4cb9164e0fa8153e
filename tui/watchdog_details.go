package tui

import (
	"fmt"
	"time"

	"gcity/city"
	"gcity/themes"
	"gcity/tui/widget"
)

// details is how a watchdog stands, whom it looks after, who judges, and what was decided last.
func (d *watchdogs) details(e *env, name string) []string {
	r := d.Find(name)
	if r == nil {
		return []string{"This watchdog is no longer part of the city."}
	}
	w, dot := r.dog, " "+e.look.Glyphs.Dot+" "
	sign, token := watchdogSign(e.look, r.word)
	state := e.look.Paint(token, sign+" "+r.word)
	if next := r.beats(e.now).Full; next != "" {
		state += dot + next
	}
	lines := []string{e.look.Field("state", state)}
	if call := w.Escalated; call != nil {
		text := widget.Plain(call.To) + " for " + widget.Age(e.now.Sub(call.At)) + ": " +
			widget.Plain(call.Message)
		if call.Seen {
			text += dot + "seen by " + widget.Plain(call.By)
			lines = append(lines, e.look.Field("calls", text))
		} else {
			lines = append(lines, e.look.Field("calls", e.look.Paint(themes.Bad, text)))
		}
	}
	if w.Degraded != "" {
		lines = append(lines, e.look.Field("degraded",
			e.look.Paint(themes.Warn, widget.Plain(w.Degraded))))
	}
	lines = append(lines, e.look.Field("watches", d.watchedText(e, w)),
		e.look.Field("heartbeat", heartText(e, r)))
	if says := w.Reports(); says != "" {
		lines = append(lines, e.look.Field("reports", says))
	}
	if w.Last != nil {
		lines = append(lines, e.look.Field("decided", judgementText(e.now, w.Last)))
	} else {
		lines = append(lines, e.look.Field("decided", "nothing yet"))
	}
	if w.Failed > 0 {
		lines = append(lines, e.look.Field("in vain", widget.Count(w.Failed, "wake")+" in a row"))
	}
	lines = append(lines, e.look.Field("judges", judgeText(e, w)))
	if w.Every > 0 {
		lines = append(lines, e.look.Field("beats", "every "+widget.Duration(w.Every)))
	}
	return append(lines, e.look.Field("declared", widget.Plain(w.Source)))
}

func (d *watchdogs) watchedText(e *env, w *city.Watchdog) string {
	text := widget.Plain(w.Watches)
	if r := d.agents.Find(w.Watches); r != nil {
		sign, token := conditionOf(e.look, r)
		text += " " + e.look.Glyphs.Dot + " " + e.look.Paint(token, sign) + " for " +
			widget.Age(e.now.Sub(r.since))
		if r.frozen {
			text += ", " + e.look.Paint(themes.Warn, "frozen: a signal has stopped it")
		}
	} else {
		text += ", which is not there"
	}
	if w.Mail > 0 {
		text += fmt.Sprintf(" %s %d unread", e.look.Glyphs.Dot, w.Mail)
	}
	return text
}

func heartText(e *env, r *watchdogRow) string {
	text := r.heart(e.now).Full
	if r.dog.Problem != "" {
		text += " " + e.look.Glyphs.Dot + " " +
			e.look.Paint(themes.Warn, widget.Plain(r.dog.Problem))
	}
	return text
}

func judgeText(e *env, w *city.Watchdog) string {
	switch w.Mode {
	case city.ByTriage:
		text := widget.Plain(w.Triage) + ", started for each beat"
		if w.TTL > 0 {
			text += ", within " + widget.Duration(w.TTL)
		}
		if t := w.Triaged; t != nil {
			text += "; at work for " + widget.Age(e.now.Sub(t.Since)) + ", the ages decide in " +
				widget.Remaining(t.Until.Sub(e.now))
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
func judgementText(now time.Time, j *city.Judgement) string {
	return widget.Plain(string(j.Decision)) + " " + widget.Age(now.Sub(j.At)) + " ago, " +
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
func judgements(e *env, w *city.Watchdog) []string {
	all := make([]city.Decision, 0, len(w.Recent))
	for i := range w.Recent {
		all = append(all, city.Decision{At: w.Recent[i].At, What: string(w.Recent[i].Decision),
			Why: judgedBy(&w.Recent[i])})
	}
	lines := decisions(e, all)
	if len(all) == 0 && w.Last != nil {
		lines[len(lines)-1] = e.look.Paint(themes.Dim, "None but nothing, which is not kept.")
	}
	return lines
}
