package cli

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"gcity/city"
)

// watchdogColour gives a watchdog's word the colour that goes with its urgency.
func watchdogColour(w *city.Watchdog) string {
	switch {
	case w.Calls():
		return red
	case w.Suspended:
		return dim
	}
	return map[city.Freshness]string{city.Dead: red, city.VeryStale: red, city.Stale: yellow, city.Fresh: green}[w.Freshness]
}

// writeWatchdogs writes a table of watchdogs, those that call or are ill first.
func (a *app) writeWatchdogs(w io.Writer, all []city.Watchdog) error {
	rank := func(w *city.Watchdog) int {
		switch {
		case w.Calls():
			return 0
		case w.Ill():
			return 1
		}
		return 2
	}
	all = slices.Clone(all)
	slices.SortStableFunc(all, func(x, y city.Watchdog) int {
		return cmp.Or(rank(&x)-rank(&y), city.CompareNames(x.Name, y.Name))
	})
	rows := make([][]cell, 0, len(all))
	for i := range all {
		d := &all[i]
		rows = append(rows, []cell{
			{cmp.Or(d.Word(), "-"), watchdogColour(d)}, {d.Name, bold}, plainCell(d.Watches), plainCell(a.heartbeatAge(d)), plainCell(string(d.Mode)),
			plainCell(a.nextBeat(d)), plainCell(a.lastJudged(d)), plainCell(cutWhy(a.whyWatchdog(d))),
		})
	}
	return a.table(w, a.columns(), []string{"STATE", "WATCHDOG", "WATCHES", "HEARTBEAT", "MODE", "NEXT", "LAST", "WHY"}, rows)
}

func (a *app) heartbeatAge(w *city.Watchdog) string {
	switch {
	case w.Freshness == "": // nobody has looked
		return "-"
	case w.Heartbeat == nil:
		return "none"
	}
	return a.age(*w.Heartbeat) + " ago"
}

// nextBeat is when a watchdog looks next, or that its triage agent is at work.
func (a *app) nextBeat(w *city.Watchdog) string {
	switch {
	case w.Triaged != nil:
		return "judged for " + a.age(w.Triaged.Since)
	case w.Next == nil:
		return "-"
	case w.Next.After(a.now()):
		return "in " + span(w.Next.Sub(a.now()))
	}
	return "now"
}

func (a *app) lastJudged(w *city.Watchdog) string {
	if w.Last == nil {
		return "never"
	}
	return fmt.Sprintf("%s %s ago", w.Last.Decision, a.age(w.Last.At))
}

// whyWatchdog is the reason for a list: the call, what is wrong with the judging or the heartbeat, why it decided as it did.
func (a *app) whyWatchdog(w *city.Watchdog) string {
	var parts []string
	if w.Calls() {
		parts = append(parts, "calls "+w.Escalated.To+": "+w.Escalated.Message)
	}
	if w.Degraded != "" {
		parts = append(parts, "degraded: "+w.Degraded)
	}
	if w.Problem != "" {
		parts = append(parts, w.Problem)
	}
	if w.Last != nil {
		parts = append(parts, w.Last.Reason)
		if strings.HasPrefix(w.Last.Result, "failed") {
			parts = append(parts, w.Last.Result)
		}
	}
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), " · ")
}

// watchdogStanding is how a watchdog stands, in a sentence.
func (a *app) watchdogStanding(w *city.Watchdog) string {
	name := a.paint(bold, safeLine(w.Name))
	word := a.paint(watchdogColour(w), safeLine(w.Word()))
	switch {
	case w.Calls():
		return fmt.Sprintf("%s %s for %s since %s (%s)", name, word, safeLine(w.Escalated.To), a.clock(w.Escalated.At), a.age(w.Escalated.At))
	case w.Suspended:
		return fmt.Sprintf("%s is %s", name, word)
	}
	if w.Freshness == "" {
		return fmt.Sprintf("%s watches %s once a controller runs", name, safeLine(w.Watches))
	}
	return fmt.Sprintf("%s watches %s, which is %s", name, safeLine(w.Watches), word)
}

// tellWatchdog writes what is known of a watchdog, one fact a line, and what it decided lately.
func (a *app) tellWatchdog(w *city.Watchdog, live bool) {
	a.sayf("%s", a.watchdogStanding(w))
	a.watchdogFacts(w, live)
	a.judged(w.Recent)
}

func (a *app) watchdogFacts(w *city.Watchdog, live bool) {
	if e := w.Escalated; e != nil {
		a.fact("calls", fmt.Sprintf("%s since %s: %s", e.To, a.clock(e.At), e.Message))
		if e.Seen {
			a.fact("seen", "by "+cmp.Or(e.By, "somebody"))
		} else {
			a.fact("answer", "gcity watchdog acknowledge "+w.Name)
		}
	}
	if !live {
		a.fact("city", "no controller runs: nobody watches until one does")
	}
	a.fact("watches", w.Watches)
	if w.Freshness != "" {
		text := a.heartbeatAge(w) + ", " + string(w.Freshness)
		if w.Fresh > 0 {
			text += fmt.Sprintf(" (stale after %s, very stale after %s)", exact(w.Fresh), exact(w.VeryStale))
		}
		a.fact("heartbeat", text)
	}
	a.fact("reports", w.Reports())
	a.fact("problem", w.Problem)
	if w.Mail > 0 {
		a.fact("mail", fmt.Sprintf("%d unread", w.Mail))
	}
	a.fact("judges", judges(w))
	a.fact("degraded", w.Degraded)
	if t := w.Triaged; t != nil {
		a.fact("at work", fmt.Sprintf("%s, for %s; at %s the ages decide", cmp.Or(w.Triage, "triage"), a.age(t.Since), a.ahead(t.Until)))
	}
	if w.Last != nil {
		a.fact("decided", a.judgement(w.Last))
	} else {
		a.fact("decided", "nothing yet")
	}
	if w.Failed > 0 {
		a.fact("in vain", counted(w.Failed, "wake")+" in a row")
	}
	if w.Next != nil && w.Next.After(a.now()) {
		a.fact("next beat", a.ahead(*w.Next)+", every "+exact(w.Every))
	} else if w.Next != nil {
		a.fact("next beat", "now, every "+exact(w.Every))
	} else if w.Every > 0 {
		a.fact("every", exact(w.Every))
	}
	a.fact("declared", w.Source)
}

// judges says who decides the next beat.
func judges(w *city.Watchdog) string {
	switch w.Mode {
	case city.ByTriage:
		text := w.Triage + ", started for each beat"
		if w.TTL > 0 {
			text += ", within " + exact(w.TTL)
		}
		return text
	case city.ByThresholds:
		return "the ages alone"
	case city.ByRestart:
		return "the ages alone; nothing can be typed, so what is very stale is restarted"
	}
	return string(w.Mode)
}

// judgement is a decision in a line: "wake 2m ago, by scout in 12s: it hangs (typed)".
func (a *app) judgement(j *city.Judgement) string {
	text := fmt.Sprintf("%s %s ago, by %s", j.Decision, a.age(j.At), j.By)
	if j.Took > 0 {
		text += " in " + lasted(j.Took)
	}
	text += ": " + j.Reason
	if j.Result != "" {
		text += " (" + j.Result + ")"
	}
	return text
}

// judged writes the decisions that did something.
func (a *app) judged(all []city.Judgement) {
	decided := make([]city.Decision, 0, len(all))
	for _, j := range all {
		why := j.By + ": " + j.Reason
		if j.Result != "" {
			why += " (" + j.Result + ")"
		}
		decided = append(decided, city.Decision{At: j.At, What: string(j.Decision), Why: why})
	}
	a.lately(decided, nil)
}

// watchdogCount is "3 watchdogs: 1 calls, 1 degraded", "" if there are none.
func watchdogCount(s *city.Snapshot) string {
	if len(s.Watchdogs) == 0 {
		return ""
	}
	calls, degraded := 0, 0
	for i := range s.Watchdogs {
		switch w := &s.Watchdogs[i]; {
		case w.Calls():
			calls++
		case w.Degraded != "" && !w.Suspended:
			degraded++
		}
	}
	var parts []string
	if calls > 0 {
		parts = append(parts, fmt.Sprintf("%d calling", calls))
	}
	if degraded > 0 {
		parts = append(parts, fmt.Sprintf("%d degraded", degraded))
	}
	text := counted(len(s.Watchdogs), "watchdog")
	if len(parts) > 0 {
		text += ": " + strings.Join(parts, ", ")
	}
	return text
}

// calls are the watchdogs that call for a person, and those that are not judged as declared.
func (a *app) calls(s *city.Snapshot) []string {
	var out []string
	for i := range s.Watchdogs {
		w := &s.Watchdogs[i]
		if w.Calls() {
			out = append(out, fmt.Sprintf("watchdog %s calls %s since %s: %s; `gcity watchdog acknowledge %s` answers",
				w.Name, w.Escalated.To, a.clock(w.Escalated.At), w.Escalated.Message, w.Name))
		}
		if w.Degraded != "" && !w.Suspended {
			out = append(out, fmt.Sprintf("watchdog %s is degraded: %s", w.Name, w.Degraded))
		}
	}
	return out
}

// stuck says for how long an agent's screen is as it was, and with which work.
func (a *app) stuck(s *city.Stuck) string {
	text := "stuck for " + a.age(s.Since) + ": its screen is as it was"
	if s.Task != "" {
		text += ", with " + s.Task
	}
	return text
}

func stuckFirst(x, y *city.Agent) int {
	switch {
	case (x.Stuck != nil) == (y.Stuck != nil):
		return 0
	case x.Stuck != nil:
		return -1
	}
	return 1
}
