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
	p, w, dot := widget.Page{Styles: e.Look}, r.Info, e.Look.Between()
	sign, token := watchdogSign(e.Look, r.Status)
	state := p.Paint(token, sign+" "+r.Status)
	if next := r.nextCheck(e.Now).Full; next != "" {
		state += dot + next
	}
	p.Show("state", state)
	if call := w.Escalated; call != nil {
		text := widget.Plain(call.To) + " for " + widget.Since(call.At, e.Now) + ": " +
			widget.Plain(call.Message)
		if call.Seen {
			p.Show("calls", text+dot+"seen by "+widget.Plain(call.By))
		} else {
			p.Show("calls", p.Paint(themes.Bad, text))
		}
	}
	if w.Degraded != "" {
		p.Show("degraded", p.Paint(themes.Warn, widget.Plain(w.Degraded)))
	}
	p.Show("watches", d.watchedText(e, w))
	p.Show("heartbeat", beatText(e, r))
	p.ShowKnown("reports", w.Reports())
	if w.Last != nil {
		p.Show("last check", describe.Judged(safe(w.Last),
			widget.Since(w.Last.At, e.Now), widget.Elapsed))
	} else {
		p.Show("last check", "none yet")
	}
	if w.Failed > 0 {
		p.Show("failed", widget.Count(w.Failed, "action")+" in a row")
	}
	p.Show("decides", deciderText(e, w))
	if w.Every > 0 {
		p.Show("checks", "every "+widget.Duration(w.Every))
	}
	p.ShowPlain("declared", w.Source)
	return p.Lines
}

func (d *Watchdogs) watchedText(e *Env, w *city.Watchdog) string {
	text := widget.Plain(w.Watches)
	if r := d.agents.Find(w.Watches); r != nil {
		sign, token := ConditionOf(e.Look, r)
		text += e.Look.Between() + e.Look.Paint(token, sign) + " for " +
			widget.Since(r.Since, e.Now)
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
		text += e.Look.Between() +
			e.Look.Paint(themes.Warn, widget.Plain(r.Info.Problem))
	}
	return text
}

func deciderText(e *Env, w *city.Watchdog) string {
	text := widget.Plain(describe.Judges(w))
	if t := w.Triaged; w.Mode == city.ByTriage && t != nil {
		text += "; running for " + widget.Since(t.Since, e.Now) +
			"; the thresholds will decide in " +
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
