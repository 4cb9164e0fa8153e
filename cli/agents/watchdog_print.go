package agents

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"gcity/city"
	"gcity/cli/env"
	"gcity/cli/output"
	"gcity/describe"
	"gcity/internal/span"
)

func watchdogColor(w *city.Watchdog) string {
	switch {
	case w.IsEscalated():
		return output.Red
	case w.Suspended:
		return output.Dim
	}
	return map[city.Freshness]string{city.Dead: output.Red, city.VeryStale: output.Red,
		city.Stale: output.Yellow, city.Fresh: output.Green}[w.Freshness]
}

func writeWatchdogs(e *env.Env, all []city.Watchdog) error {
	rank := func(w *city.Watchdog) int {
		switch {
		case w.IsEscalated():
			return 0
		case w.NeedsAttention():
			return 1
		}
		return 2
	}
	all = slices.Clone(all)
	slices.SortStableFunc(all, func(x, y city.Watchdog) int {
		return cmp.Or(rank(&x)-rank(&y), city.CompareNames(x.Name, y.Name))
	})
	table := output.NewTable("STATE", "WATCHDOG", "WATCHES", "HEARTBEAT", "MODE",
		"NEXT", "LAST", "WHY")
	for i := range all {
		d := &all[i]
		table.Add(output.Tinted(cmp.Or(d.StatusWord(), "-"), watchdogColor(d)),
			output.Tinted(d.Name, output.Bold), d.Watches, heartbeatAge(e, d), d.Mode,
			nextBeat(e, d), lastJudged(e, d), cutWhy(watchdogReason(d)))
	}
	return e.Table(table)
}

func heartbeatAge(e *env.Env, w *city.Watchdog) string {
	switch {
	case w.Freshness == "":
		return "-"
	case w.Freshness == city.Unchecked:
		return "unknown"
	case w.Heartbeat == nil:
		return "none"
	}
	return e.Age(*w.Heartbeat) + " ago"
}

func nextBeat(e *env.Env, w *city.Watchdog) string {
	switch {
	case w.Triaged != nil:
		return "in triage for " + e.Age(w.Triaged.Since)
	case w.Next == nil:
		return "-"
	case w.Next.After(e.Now()):
		return "in " + output.Span(w.Next.Sub(e.Now()))
	}
	return "now"
}

func lastJudged(e *env.Env, w *city.Watchdog) string {
	if w.Last == nil {
		return "never"
	}
	return fmt.Sprintf("%s %s ago", w.Last.Decision, e.Age(w.Last.At))
}

func watchdogReason(w *city.Watchdog) string {
	var parts []string
	if w.IsEscalated() {
		parts = append(parts, "calls "+w.Escalated.To+": "+w.Escalated.Message)
	}
	if w.Degraded != "" {
		parts = append(parts, "degraded: "+w.Degraded)
	}
	parts = append(parts, w.Problem)
	if w.Last != nil {
		parts = append(parts, w.Last.Reason)
		if strings.HasPrefix(w.Last.Result, "failed") {
			parts = append(parts, w.Last.Result)
		}
	}
	return output.Join(separator, parts...)
}

func watchdogStanding(e *env.Env, w *city.Watchdog) string {
	name := e.Bold(w.Name)
	word := e.Paint(watchdogColor(w), output.SafeLine(w.StatusWord()))
	switch {
	case w.IsEscalated():
		return fmt.Sprintf("%s: %s %s since %s (%s)", name, word,
			output.SafeLine(w.Escalated.To), e.Clock(w.Escalated.At), e.Age(w.Escalated.At))
	case w.Suspended:
		return fmt.Sprintf("%s: %s", name, word)
	}
	if w.Freshness == "" {
		return fmt.Sprintf("%s watches %s when a controller is running", name,
			output.SafeLine(w.Watches))
	}
	return fmt.Sprintf("%s watches %s; state: %s", name, output.SafeLine(w.Watches), word)
}

func printWatchdog(e *env.Env, w *city.Watchdog, l *env.Link) {
	e.Sayf("%s", watchdogStanding(e, w))
	watchdogFacts(e, w, l)
	judged(e, w.Recent)
}

func watchdogFacts(e *env.Env, w *city.Watchdog, l *env.Link) {
	if entry := w.Escalated; entry != nil {
		e.Fact("calls", fmt.Sprintf("%s since %s: %s", entry.To, e.Clock(entry.At), entry.Message))
		if entry.Seen {
			e.Fact("seen", "by "+cmp.Or(entry.By, "an unknown user"))
		} else {
			e.Fact("new", "`gcity watchdog acknowledge "+w.Name+"` marks it as seen")
		}
	}
	e.Fact("city", l.Idle("no watchdog is active"))
	e.Fact("watches", w.Watches)
	if w.Freshness != "" {
		text := heartbeatAge(e, w) + ", " + string(w.Freshness)
		if hasAged(e, w) {
			text += " at the latest check"
		}
		if w.Fresh > 0 {
			text += fmt.Sprintf(" (stale after %s, very stale after %s)", span.Text(w.Fresh),
				span.Text(w.VeryStale))
		}
		e.Fact("heartbeat", text)
	}
	e.Fact("reports", w.Reports())
	e.Fact("problem", w.Problem)
	if w.Mail > 0 {
		e.Fact("mail", fmt.Sprintf("%d unread", w.Mail))
	}
	e.Fact("decides", describe.Judges(w))
	e.Fact("degraded", w.Degraded)
	if t := w.Triaged; t != nil {
		e.Fact("in triage", fmt.Sprintf("%s, for %s; the thresholds will decide at %s",
			cmp.Or(w.Triage, "triage"), e.Age(t.Since), e.Ahead(t.Until)))
	}
	if w.Last != nil {
		e.Fact("decided", describe.Judged(w.Last, e.Age(w.Last.At), lasted))
	} else {
		e.Fact("decided", "nothing yet")
	}
	if w.Failed > 0 {
		e.Fact("no effect", describe.Count(w.Failed, "action")+" in a row")
	}
	if w.Next != nil && w.Next.After(e.Now()) {
		e.Fact("next check", e.Ahead(*w.Next)+", every "+span.Text(w.Every))
	} else if w.Next != nil {
		e.Fact("next check", "now, every "+span.Text(w.Every))
	} else if w.Every > 0 {
		e.Fact("every", span.Text(w.Every))
	}
	e.Fact("declared", w.Source)
}

// hasAged reports whether the heartbeat is now older than its state at the latest check allows.
func hasAged(e *env.Env, w *city.Watchdog) bool {
	limit := map[city.Freshness]time.Duration{city.Fresh: w.Fresh,
		city.Stale: w.VeryStale}[w.Freshness]
	return limit > 0 && w.Heartbeat != nil && e.Now().Sub(*w.Heartbeat) > limit
}

func judged(e *env.Env, all []city.Judgement) {
	decided := make([]city.Decision, 0, len(all))
	for _, j := range all {
		decided = append(decided, city.Decision{At: j.At, What: string(j.Decision),
			Why: j.By + ": " + describe.JudgedWhy(&j)})
	}
	writeRecent(e, decided, nil)
}

// WatchdogCount returns a summary such as "3 watchdogs: 1 calling, 1 very stale", or "" if there are no watchdogs.
func WatchdogCount(s *city.Snapshot) string {
	if len(s.Watchdogs) == 0 {
		return ""
	}
	calls, degraded, stale := 0, 0, 0
	for i := range s.Watchdogs {
		switch w := &s.Watchdogs[i]; {
		case w.IsEscalated():
			calls++
		case w.Degraded != "" && !w.Suspended:
			degraded++
		case isVeryStale(w):
			stale++
		}
	}
	return output.Tally(describe.Count(len(s.Watchdogs), "watchdog"),
		output.Part{N: calls, What: "calling"}, output.Part{N: degraded, What: "degraded"},
		output.Part{N: stale, What: string(city.VeryStale)})
}

// isVeryStale does not include dead agents, because the agent's own state shows that.
func isVeryStale(w *city.Watchdog) bool { return w.Freshness == city.VeryStale && !w.Suspended }

// Calls returns a line for each watchdog that is calling a user, for each degraded watchdog, and for each watched agent
// that is very stale.
func Calls(e *env.Env, s *city.Snapshot) []string {
	var out []string
	for i := range s.Watchdogs {
		w := &s.Watchdogs[i]
		if w.IsEscalated() {
			out = append(out, fmt.Sprintf("watchdog %s has been calling %s since %s: %s; "+
				"acknowledge it with `gcity watchdog acknowledge %s`",
				w.Name, w.Escalated.To, e.Clock(w.Escalated.At), w.Escalated.Message, w.Name))
		} else if isVeryStale(w) {
			out = append(out, fmt.Sprintf("agent %s is very stale (watchdog %s); `gcity watchdog "+
				"status %s` shows details", w.Watches, w.Name, w.Name))
		}
		if w.Degraded != "" && !w.Suspended {
			out = append(out, fmt.Sprintf("watchdog %s is degraded: %s", w.Name, w.Degraded))
		}
	}
	return out
}

func stuck(e *env.Env, s *city.Stuck) string {
	text := "stuck for " + e.Age(s.Since) + ": its screen has not changed"
	if s.Task != "" {
		text += "; it is working on " + s.Task
	}
	return text
}
