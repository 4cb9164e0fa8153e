package cli

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"gcity/city"
	"gcity/cli/output"
)

// watchdogColour gives a watchdog's word the colour that goes with its urgency.
func watchdogColour(w *city.Watchdog) string {
	switch {
	case w.Calls():
		return output.Red
	case w.Suspended:
		return output.Dim
	}
	return map[city.Freshness]string{city.Dead: output.Red, city.VeryStale: output.Red, city.Stale: output.Yellow, city.Fresh: output.Green}[w.Freshness]
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
	rows := make([][]output.Cell, 0, len(all))
	for i := range all {
		d := &all[i]
		rows = append(rows, []output.Cell{
			output.Tinted(cmp.Or(d.Word(), "-"), watchdogColour(d)), output.Tinted(d.Name, output.Bold), output.Plain(d.Watches), output.Plain(a.heartbeatAge(d)), output.Plain(string(d.Mode)),
			output.Plain(a.nextBeat(d)), output.Plain(a.lastJudged(d)), output.Plain(cutWhy(a.whyWatchdog(d))),
		})
	}
	return a.Table(w, a.Columns(), []string{"STATE", "WATCHDOG", "WATCHES", "HEARTBEAT", "MODE", "NEXT", "LAST", "WHY"}, rows)
}

func (a *app) heartbeatAge(w *city.Watchdog) string {
	switch {
	case w.Freshness == "": // nobody has looked
		return "-"
	case w.Heartbeat == nil:
		return "none"
	}
	return a.Age(*w.Heartbeat) + " ago"
}

// nextBeat is when a watchdog looks next, or that its triage agent is at work.
func (a *app) nextBeat(w *city.Watchdog) string {
	switch {
	case w.Triaged != nil:
		return "judged for " + a.Age(w.Triaged.Since)
	case w.Next == nil:
		return "-"
	case w.Next.After(a.Now()):
		return "in " + output.Span(w.Next.Sub(a.Now()))
	}
	return "now"
}

func (a *app) lastJudged(w *city.Watchdog) string {
	if w.Last == nil {
		return "never"
	}
	return fmt.Sprintf("%s %s ago", w.Last.Decision, a.Age(w.Last.At))
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
	name := a.Paint(output.Bold, output.SafeLine(w.Name))
	word := a.Paint(watchdogColour(w), output.SafeLine(w.Word()))
	switch {
	case w.Calls():
		return fmt.Sprintf("%s %s for %s since %s (%s)", name, word, output.SafeLine(w.Escalated.To), a.Clock(w.Escalated.At), a.Age(w.Escalated.At))
	case w.Suspended:
		return fmt.Sprintf("%s is %s", name, word)
	}
	if w.Freshness == "" {
		return fmt.Sprintf("%s watches %s once a controller runs", name, output.SafeLine(w.Watches))
	}
	return fmt.Sprintf("%s watches %s, which is %s", name, output.SafeLine(w.Watches), word)
}

// tellWatchdog writes what is known of a watchdog, one fact a line, and what it decided lately.
func (a *app) tellWatchdog(w *city.Watchdog, live bool) {
	a.Sayf("%s", a.watchdogStanding(w))
	a.watchdogFacts(w, live)
	a.judged(w.Recent)
}

func (a *app) watchdogFacts(w *city.Watchdog, live bool) {
	if e := w.Escalated; e != nil {
		a.Fact("calls", fmt.Sprintf("%s since %s: %s", e.To, a.Clock(e.At), e.Message))
		if e.Seen {
			a.Fact("seen", "by "+cmp.Or(e.By, "somebody"))
		} else {
			a.Fact("answer", "gcity watchdog acknowledge "+w.Name)
		}
	}
	if !live {
		a.Fact("city", "no controller runs: nobody watches until one does")
	}
	a.Fact("watches", w.Watches)
	if w.Freshness != "" {
		text := a.heartbeatAge(w) + ", " + string(w.Freshness)
		if w.Fresh > 0 {
			text += fmt.Sprintf(" (stale after %s, very stale after %s)", output.Exact(w.Fresh), output.Exact(w.VeryStale))
		}
		a.Fact("heartbeat", text)
	}
	a.Fact("reports", w.Reports())
	a.Fact("problem", w.Problem)
	if w.Mail > 0 {
		a.Fact("mail", fmt.Sprintf("%d unread", w.Mail))
	}
	a.Fact("judges", judges(w))
	a.Fact("degraded", w.Degraded)
	if t := w.Triaged; t != nil {
		a.Fact("at work", fmt.Sprintf("%s, for %s; at %s the ages decide", cmp.Or(w.Triage, "triage"), a.Age(t.Since), a.Ahead(t.Until)))
	}
	if w.Last != nil {
		a.Fact("decided", a.judgement(w.Last))
	} else {
		a.Fact("decided", "nothing yet")
	}
	if w.Failed > 0 {
		a.Fact("in vain", output.Counted(w.Failed, "wake")+" in a row")
	}
	if w.Next != nil && w.Next.After(a.Now()) {
		a.Fact("next beat", a.Ahead(*w.Next)+", every "+output.Exact(w.Every))
	} else if w.Next != nil {
		a.Fact("next beat", "now, every "+output.Exact(w.Every))
	} else if w.Every > 0 {
		a.Fact("every", output.Exact(w.Every))
	}
	a.Fact("declared", w.Source)
}

// judges says who decides the next beat.
func judges(w *city.Watchdog) string {
	switch w.Mode {
	case city.ByTriage:
		text := w.Triage + ", started for each beat"
		if w.TTL > 0 {
			text += ", within " + output.Exact(w.TTL)
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
	text := fmt.Sprintf("%s %s ago, by %s", j.Decision, a.Age(j.At), j.By)
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
	text := output.Counted(len(s.Watchdogs), "watchdog")
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
				w.Name, w.Escalated.To, a.Clock(w.Escalated.At), w.Escalated.Message, w.Name))
		}
		if w.Degraded != "" && !w.Suspended {
			out = append(out, fmt.Sprintf("watchdog %s is degraded: %s", w.Name, w.Degraded))
		}
	}
	return out
}

// stuck says for how long an agent's screen is as it was, and with which work.
func (a *app) stuck(s *city.Stuck) string {
	text := "stuck for " + a.Age(s.Since) + ": its screen is as it was"
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
