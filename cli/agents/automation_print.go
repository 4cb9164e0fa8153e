package agents

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"gcity/city"
	"gcity/cli/env"
	"gcity/cli/output"
	"gcity/describe"
	"gcity/internal/span"
)

func automationColor(i *city.Automation) string {
	switch {
	case i.State == city.AutomationBroken || i.Failures > 0 && i.State != city.AutomationRunning:
		return output.Red
	case i.State == city.AutomationRunning:
		return output.Green
	case i.State == city.AutomationBackoff:
		return output.Yellow
	case i.State == city.AutomationDue:
		return output.Cyan
	case i.State == city.AutomationOff:
		return output.Dim
	}
	return ""
}

func urgency(i *city.Automation) int {
	switch {
	case i.State == city.AutomationBroken:
		return 0
	case i.Failures > 0:
		return 1
	case i.State == city.AutomationOff:
		return 3
	}
	return 2
}

func writeAutomations(e *env.Env, all []city.Automation, live bool) error {
	all = slices.Clone(all)
	slices.SortStableFunc(all, func(x, y city.Automation) int {
		return cmp.Or(urgency(&x)-urgency(&y), city.CompareNames(x.Name, y.Name))
	})
	table := output.NewTable("STATE", "AUTOMATION", "GATE", "NEXT", "LAST", "WHY")
	for i := range all {
		it := &all[i]
		table.Add(output.Tinted(it.Word(), automationColor(it)),
			output.Tinted(it.Name, output.Bold), gateText(it), nextRun(e, it, live), lastRun(e, it),
			whyAutomation(e, it))
	}
	return e.Table(table)
}

func gateText(i *city.Automation) string {
	when := strings.Join(strings.Fields(i.When), " ")
	if d, err := time.ParseDuration(when); err == nil {
		when = span.Text(d)
	}
	if r := []rune(when); len(r) > 32 {
		when = string(r[:31]) + "…"
	}
	return strings.TrimSpace(i.Gate + " " + when)
}

func nextRun(e *env.Env, i *city.Automation, live bool) string {
	if i.Next == nil || !live {
		return "-"
	}
	if left := i.Next.Sub(e.Now()); left > 0 {
		return "in " + output.Span(left)
	}
	return "now"
}

func lastRun(e *env.Env, i *city.Automation) string {
	switch {
	case i.LastUnknown:
		return "unknown"
	case i.Last == nil:
		return "never"
	}
	if i.Last.Ended == nil {
		return openRun(e, i)
	}
	return fmt.Sprintf("%s %s ago (%s)", i.Last.Outcome, e.Age(*i.Last.Ended), took(i.Last))
}

func openRun(e *env.Env, i *city.Automation) string {
	switch {
	case i.Last.Ending():
		return "ending, " + i.Last.Outcome
	case i.State == city.AutomationRunning:
		return "running for " + e.Age(i.Last.Opened)
	}
	return "interrupted, started " + e.Age(i.Last.Opened) + " ago"
}

func took(r *city.Run) string {
	if r.Ended == nil {
		return ""
	}
	return lasted(r.Ended.Sub(r.Opened))
}

func lasted(d time.Duration) string {
	if d < time.Minute {
		return span.Took(d)
	}
	return output.Span(d)
}

func oneLine(text string) string { return strings.ReplaceAll(text, "\n", " · ") }

const widestWhy = 160

func whyAutomation(e *env.Env, i *city.Automation) string {
	parts := []string{failure(i), shortReason(gateReason(e, i))}
	if len(i.Warnings) > 0 {
		parts = append(parts, "warning: "+i.Warnings[0])
	}
	return cutWhy(output.Join(separator, parts...))
}

func cutWhy(text string) string { return ansi.Truncate(output.SafeLine(text), widestWhy, "…") }

// reasonNow returns an automation's reason with the time that remains now. The remaining time in the snapshot is as old
// as the last check.
func reasonNow(e *env.Env, i *city.Automation) string {
	if i.Next == nil {
		return i.Reason
	}
	left := output.Span(i.Next.Sub(e.Now()))
	if retry, wait, ok := strings.Cut(i.Reason, " in "); ok && i.State == city.AutomationBackoff {
		_, more, _ := strings.Cut(wait, ";")
		return output.Join(";", retry+" in "+left, more)
	}
	before, after, timed := strings.Cut(i.Reason, " remaining")
	gate, _, _ := strings.Cut(before, ": ")
	if !timed || gate != i.Gate {
		return i.Reason
	}
	return fmt.Sprintf("%s: %s remaining%s", gate, left, after)
}

func gateReason(e *env.Env, i *city.Automation) string {
	if i.Word() == city.AutomationManual {
		return "starts only by hand: `gcity automation run " + i.Name + "`"
	}
	return reasonNow(e, i)
}

func failure(i *city.Automation) string {
	if i.Failures == 0 {
		return ""
	}
	text := "the last run failed"
	if i.Failures > 1 {
		text = fmt.Sprintf("the last %d runs failed", i.Failures)
	}
	if r := i.Last; r != nil && r.Ended != nil {
		text += ": " + ended(r)
	}
	return text
}

// FailingAutomations returns a line for each automation that is failing or broken.
func FailingAutomations(s *city.Snapshot) []string {
	var out []string
	for i := range s.Automations {
		switch a := &s.Automations[i]; {
		case a.Name == "": // a brief snapshot from an older controller has no names
		case a.State == city.AutomationBroken:
			out = append(out, fmt.Sprintf("automation %s is broken: %s", a.Name, a.Reason))
		case a.Failures > 0:
			out = append(out, fmt.Sprintf("automation %s is failing: %s in a row; `gcity why %s` "+
				"shows why", a.Name, describe.Count(a.Failures, "failed run"), a.Name))
		}
	}
	return out
}

func shortReason(reason string) string {
	first, more, several := strings.Cut(reason, "\n")
	if !several {
		return reason
	}
	return fmt.Sprintf("%s; and %d more", first, 1+strings.Count(more, "\n"))
}

func ranText(r *city.Run) string {
	text := outcomeText(r)
	if r.Outcome == "" || r.Outcome == text {
		return fmt.Sprintf("%s after %s", text, took(r))
	}
	return fmt.Sprintf("%s after %s: %s", r.Outcome, took(r), text)
}

func outcomeText(r *city.Run) string {
	switch {
	case r.Error != "":
		return r.Error
	case r.Code != nil && (*r.Code != 0 || r.Outcome != "ok"):
		return output.ExitText(*r.Code, "")
	}
	return cmp.Or(r.Outcome, "ended without a recorded outcome")
}

func automationStanding(e *env.Env, i *city.Automation) string {
	text := fmt.Sprintf("%s: %s", e.Bold(i.Name),
		e.Paint(automationColor(i), i.Word()))
	if i.Since != nil {
		text += fmt.Sprintf(" since %s (%s)", e.Clock(*i.Since), e.Age(*i.Since))
	}
	return text
}

func automationFacts(e *env.Env, i *city.Automation, l *env.Link) {
	label := "because"
	if i.Word() == city.AutomationFailing {
		e.Fact(label, failure(i))
		label = "waits"
	}
	for line := range strings.SplitSeq(gateReason(e, i), "\n") {
		e.Fact(label, line)
	}
	if l.Live && i.Next != nil {
		e.Fact("next", nextAt(e, i))
	}
	e.Fact("city", l.Idle("no automation will start"))
	e.Fact("gate", strings.TrimSpace(i.Gate+" "+oneLine(strings.TrimSpace(i.When))))
	e.Fact("runs", oneLine(strings.TrimSpace(i.Exec)))
	e.Fact("formula", i.Formula)
	e.Fact("for pool", i.Pool)
	if i.Timeout > 0 {
		e.Fact("limits", describe.Limits(i))
	}
	e.Fact("rig", i.Rig)
	e.Fact("file", i.Source)
	e.Fact("layer", i.Layer)
	for _, w := range i.Warnings {
		e.Fact("warning", w)
	}
	r := i.Last
	if r == nil {
		e.Fact("last run", lastRun(e, i))
		return
	}
	how := ranText(r)
	if r.Ended == nil {
		how = openRun(e, i)
	}
	e.Fact("last run", fmt.Sprintf("%s at %s (%s): %s", r.ID, e.Clock(r.Opened), r.Reason, how))
	e.Fact("created", r.Made)
	for line := range strings.SplitSeq(strings.TrimRight(r.Output, "\n"), "\n") {
		e.Fact("output", line)
	}
}

// nextAt returns the time of the next run. For a cron schedule, it adds this machine's time zone, because the schedule
// can use a different one.
func nextAt(e *env.Env, i *city.Automation) string {
	if i.Gate != "cron" {
		return e.Ahead(*i.Next)
	}
	return fmt.Sprintf("%s %s (in %s)", e.Clock(*i.Next), i.Next.Local().Format("MST"),
		output.Span(i.Next.Sub(e.Now())))
}

// writeRuns prints runs. If named is true, the table contains the name of each run's automation.
func writeRuns(e *env.Env, runs []city.Run, named bool) error {
	times := make([]time.Time, 0, len(runs))
	for _, r := range runs {
		times = append(times, r.Opened)
	}
	stamp := e.Stamps(times)
	head := []string{"OUTCOME", "RUN", "OPENED", "TOOK", "WHY", "HOW"}
	if named {
		head = slices.Insert(head, 2, "AUTOMATION")
	}
	table := output.NewTable(head...)
	for i := range runs {
		r := &runs[i]
		color := map[string]string{"ok": output.Green, "failed": output.Red,
			"interrupted": output.Yellow}[r.Outcome]
		why := r.Reason
		if r.By != "" {
			why += " (" + r.By + ")"
		}
		if r.Retry > 0 && r.By != "" { // otherwise, the reason contains the number
			why += fmt.Sprintf(", retry %d", r.Retry)
		}
		row := []any{output.Tinted(cmp.Or(r.Outcome, "open"), color),
			output.Tinted(r.ID, output.Bold), stamp(r.Opened), took(r), why, ended(r)}
		if named {
			row = slices.Insert(row, 2, any(r.Automation))
		}
		table.Add(row...)
	}
	return e.Table(table)
}

func ended(r *city.Run) string {
	var parts []string
	if r.Outcome != "ok" && r.Outcome != "" {
		parts = append(parts, outcomeText(r))
	}
	if r.Made != "" {
		parts = append(parts, "created "+r.Made)
	}
	if lines := strings.Split(strings.TrimSpace(r.Output), "\n"); lines[len(lines)-1] != "" {
		parts = append(parts, lines[len(lines)-1])
	}
	return strings.Join(slices.Compact(parts), ": ")
}
