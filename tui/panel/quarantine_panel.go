package panel

import (
	"fmt"
	"time"

	"gcity/city"
	"gcity/themes"
	"gcity/tui/widget"
)

func noneQuarantined(e *Env, w int) []string {
	if e.Snap == nil {
		return []string{e.Look.Note("Waiting for the city.", w)}
	}
	return []string{
		e.Look.Note("No agent is in quarantine. Agents that crash too often in a short time "+
			"are held here.", w),
	}
}

// quarantineColumns returns the columns for a panel of w columns. If they do not fit, it hides the last exit first,
// then the key, then the reason.
func quarantineColumns(e *Env, rows []*AgentRow, w int) []Column[*AgentRow] {
	more, key := e.Look.Glyphs.More, e.KeyOf("agent.release")
	name := 8
	for _, r := range rows {
		name = max(name, widget.Width(r.Shown))
	}
	name = min(name, w/4)
	// widths of cursor and mark, of "retries in 47h59m", and of the last exit with a gap
	const lead, free, last = 3, 17, 22
	return []Column[*AgentRow]{
		{W: name, Cell: func(l *widget.Line, r *AgentRow, _ widget.RowState) {
			token := themes.Bad
			// the row is listed only because the cursor is still on it
			if r.State != city.Quarantined {
				token = themes.Off
			}
			l.Add(token, widget.FitName(r.Shown, name, more))
		}},
		{Gap: 2, Cell: func(l *widget.Line, r *AgentRow, _ widget.RowState) {
			lastWidth, keyWidth, exit := last, widget.Width(key+" release")+2, LastExit(r.Exit)
			why := w - lead - name - 2 - free - 1 - lastWidth - keyWidth
			if why < 40 || exit == "" {
				why, lastWidth = why+lastWidth, 0
			}
			if why < 22 || e.ReadOnly {
				why, keyWidth = why+keyWidth, 0
			}
			if why >= 12 {
				e.Look.Reason(l, widget.Reason{Text: r.Why, Brief: r.whyBrief,
					Token: themes.Text}, why-2)
				l.Space(2)
			}
			l.Add(themes.Dim, widget.Fit(exit, lastWidth-2, more))
			l.Space(min(lastWidth, 2))
			l.Add(themes.Warn, widget.Fit(releaseText(r, e.Now), free, more))
			if keyWidth > 0 && r.Quarantined() {
				l.Space(2)
				l.Add(themes.Key, key)
				l.Add(themes.Dim, " release")
			}
		}},
	}
}

// Quarantined reports whether the agent is in quarantine.
func (r *AgentRow) Quarantined() bool { return r.State == city.Quarantined }

func releaseText(r *AgentRow, now time.Time) string {
	switch {
	case !r.Quarantined():
		return "now " + r.State.Phrase()
	case r.Until.IsZero(): // the city has stopped
		return "until the city starts"
	case r.Until.After(now):
		return "retries in " + widget.Until(r.Until, now)
	}
	return "until released"
}

// LastExit says how a session ended: "exit 3 after 12s".
func LastExit(e *city.Exit) string {
	if e == nil {
		return ""
	}
	how := fmt.Sprintf("exit %d", e.Code)
	switch {
	case e.Signal != "":
		how = widget.Plain(e.Signal)
	case e.Code < 0:
		how = "exit unknown"
	}
	if e.Uptime <= 0 { // the start was not observed
		return how
	}
	return how + " after " + widget.Elapsed(e.Uptime)
}
