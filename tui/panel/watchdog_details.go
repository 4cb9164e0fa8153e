package panel

import (
	"fmt"

	"gcity/city"
	"gcity/describe"
	"gcity/themes"
	"gcity/tui/widget"
)

func (d *Watchdogs) details(e *Env, name string) []string {
	r := d.Find(name)
	if r == nil {
		return []string{"This watchdog is no longer part of the city."}
	}
	w, dot := r.Info, " "+e.Look.Glyphs.Dot+" "
	sign, token := watchdogSign(e.Look, r.Status)
	state := e.Look.Paint(token, sign+" "+r.Status)
	if next := r.nextCheck(e.Now).Full; next != "" {
		state += dot + next
	}
	lines := []string{e.Look.Field("state", state)}
	if call := w.Escalated; call != nil {
		text := widget.Plain(call.To) + " for " + widget.Age(e.Now.Sub(call.At)) + ": " +
			widget.Plain(call.Message)
		if call.Seen {
			text += dot + "seen by " + widget.Plain(call.By)
			lines = append(lines, e.Look.Field("calls", text))
		} else {
			lines = append(lines, e.Look.Field("calls", e.Look.Paint(themes.Bad, text)))
		}
	}
	if w.Degraded != "" {
		lines = append(lines, e.Look.Field("degraded",
			e.Look.Paint(themes.Warn, widget.Plain(w.Degraded))))
	}
	lines = append(lines, e.Look.Field("watches", d.watchedText(e, w)),
		e.Look.Field("heartbeat", beatText(e, r)))
	if says := w.Reports(); says != "" {
		lines = append(lines, e.Look.Field("reports", says))
	}
	if w.Last != nil {
		lines = append(lines, e.Look.Field("last check", describe.Judged(safe(w.Last),
			widget.Age(e.Now.Sub(w.Last.At)), widget.Elapsed)))
	} else {
		lines = append(lines, e.Look.Field("last check", "none yet"))
	}
	if w.Failed > 0 {
		lines = append(lines, e.Look.Field("failed", widget.Count(w.Failed, "wake")+" in a row"))
	}
	lines = append(lines, e.Look.Field("decides", deciderText(e, w)))
	if w.Every > 0 {
		lines = append(lines, e.Look.Field("checks", "every "+widget.Duration(w.Every)))
	}
	return append(lines, e.Look.Field("declared", widget.Plain(w.Source)))
}

func (d *Watchdogs) watchedText(e *Env, w *city.Watchdog) string {
	text := widget.Plain(w.Watches)
	if r := d.agents.Find(w.Watches); r != nil {
		sign, token := ConditionOf(e.Look, r)
		text += " " + e.Look.Glyphs.Dot + " " + e.Look.Paint(token, sign) + " for " +
			widget.Age(e.Now.Sub(r.Since))
		if r.Frozen {
			text += ", " + e.Look.Paint(themes.Warn, "stopped by a signal")
		}
	} else {
		text += ", which does not exist"
	}
	if w.Mail > 0 {
		text += fmt.Sprintf(" %s %d unread", e.Look.Glyphs.Dot, w.Mail)
	}
	return text
}

func beatText(e *Env, r *WatchdogRow) string {
	text := r.BeatAge(e.Now).Full
	if r.Info.Problem != "" {
		text += " " + e.Look.Glyphs.Dot + " " +
			e.Look.Paint(themes.Warn, widget.Plain(r.Info.Problem))
	}
	return text
}

func deciderText(e *Env, w *city.Watchdog) string {
	text := widget.Plain(describe.Judges(w))
	if t := w.Triaged; w.Mode == city.ByTriage && t != nil {
		text += "; running for " + widget.Age(e.Now.Sub(t.Since)) +
			", falls back to the thresholds in " +
			widget.Until(t.Until, e.Now)
	}
	return text
}

func safe(j *city.Judgement) *city.Judgement {
	c := *j
	c.Decision, c.By = city.Remedy(widget.Plain(string(j.Decision))), widget.Plain(j.By)
	c.Reason, c.Result = widget.Plain(j.Reason), widget.Plain(j.Result)
	return &c
}

func judgements(e *Env, w *city.Watchdog) []string {
	all := make([]city.Decision, 0, len(w.Recent))
	for i := range w.Recent {
		all = append(all, city.Decision{At: w.Recent[i].At, What: string(w.Recent[i].Decision),
			Why: describe.JudgedBy(safe(&w.Recent[i]), widget.Elapsed)})
	}
	lines := Decisions(e, all)
	if len(all) == 0 && w.Last != nil {
		lines[len(lines)-1] = e.Look.Paint(themes.Dim, "No decisions yet. (\"do nothing\" is "+
			"not recorded)")
	}
	return lines
}
