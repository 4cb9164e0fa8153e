package panel

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"gcity/city"
	"gcity/tui/widget"
)

// AutomationState is the state of an automation.
type AutomationState string

const (
	AutomationBroken  AutomationState = "broken" // its file is invalid
	AutomationFailing AutomationState = city.AutomationFailing
	AutomationRunning AutomationState = "running"
	AutomationDue     AutomationState = "due"
	AutomationIdle    AutomationState = "idle"
	// idle; it starts only when a user fires it
	AutomationManual AutomationState = city.AutomationManual
	AutomationOff    AutomationState = "off"
)

// AutomationRow is an automation ready to be drawn. The fields of the row itself are sanitized, but not those of the
// snapshot's automation.
type AutomationRow struct {
	*city.Automation
	Shown    string
	Source   string
	gate     string
	gateKind string
	Reason   string
	State    AutomationState
	Next     time.Time // when it runs next; zero = unknown
	since    time.Time // start of the current run, or the time at which it became due
	fireKey  string
	retries  bool // the next run is a retry
}

// Rejects returns why the city would reject a request to fire the automation, or "".
func (r *AutomationRow) Rejects() string {
	switch {
	case r.State == AutomationBroken:
		return r.Shown + " is broken: " + r.Reason
	case r.Disabled:
		return r.Shown + " is " + r.Reason
	case r.State == AutomationRunning && r.Overlap != "queue":
		return r.Shown + ` is running, and overlap is not "queue"`
	}
	return ""
}

func NewAutomationRow(a *city.Automation) AutomationRow {
	r := AutomationRow{Automation: a, Shown: widget.Plain(a.Name), Source: widget.Plain(a.Source),
		gate: widget.Plain(a.Gate), Reason: widget.FirstItem(a.Reason),
		gateKind: widget.Plain(strings.Join(strings.Fields(a.When), " ")),
		retries:  a.State == city.AutomationBackoff}
	if d, err := time.ParseDuration(a.When); err == nil {
		r.gateKind = widget.Duration(d)
	}
	if a.Next != nil {
		r.Next = *a.Next
	}
	if a.Since != nil {
		r.since = *a.Since
	}
	r.State = AutomationState(widget.Plain(a.Word()))
	return r
}

func (r *AutomationRow) fails() bool {
	return r.State == AutomationFailing || r.Failures > 0 && r.State != AutomationOff &&
		r.State != AutomationBroken
}

// Attention reports whether the automation needs a user's attention.
func (r *AutomationRow) Attention() bool { return r.fails() || r.State == AutomationBroken }

// GateText describes the gate: "cooldown 5m", "cron 0 3 * * *".
func (r *AutomationRow) GateText() string { return strings.TrimSpace(r.gate + " " + r.gateKind) }

// GateState returns the state of the gate without countdowns.
func (r *AutomationRow) GateState(now time.Time) string {
	text, _ := strings.CutPrefix(r.Reason, r.gate+": ")
	switch {
	case r.State == AutomationManual:
		return "manual, press " + r.fireKey
	case text == r.gate:
		return ""
	case r.Next.IsZero():
	case r.retries:
		text, _, _ = strings.Cut(text, " in ")
	case r.gate == "cooldown" && strings.HasSuffix(text, " remaining"):
		return ""
	}
	// a time in another zone has the zone's name, and stays as it is
	if at, err := time.Parse("next 2006-01-02 15:04", text); err == nil {
		text = at.Format("next Jan 02 15:04")
		if at.Format(time.DateOnly) == now.Format(time.DateOnly) {
			text = at.Format("next 15:04")
		}
	}
	return text
}

// Why returns the gate, the reason for a failure and the gate's state, separated by dot. For a broken automation, it
// returns only the error.
func (r *AutomationRow) Why(now time.Time, dot string) string {
	parts := []string{r.GateText()}
	switch {
	case r.State == AutomationBroken:
		return r.fileError()
	case r.State == AutomationManual:
		return r.GateState(now)
	case r.State == AutomationFailing:
		parts = append(parts, r.failure())
	}
	parts = append(parts, r.GateState(now))
	parts = slices.DeleteFunc(parts, func(s string) bool { return s == "" })
	return strings.Join(parts, " "+dot+" ")
}

func (r *AutomationRow) fileError() string {
	if at, ok := strings.CutPrefix(r.Reason, r.Source); ok && r.Source != "" {
		return path.Base(r.Source) + at
	}
	return r.Reason
}

func (r *AutomationRow) failure() string {
	if r.Last == nil || r.Last.Outcome == "" || r.Last.Outcome == RunOK {
		return ""
	}
	return "last " + RunFailure(r.Last)
}

// RunOK is the outcome of a successful run.
const RunOK = "ok"

// RunFailure returns why a run failed, with the last line of its output.
func RunFailure(run *city.Run) string {
	text := widget.Plain(run.Outcome)
	switch {
	case run.Error != "":
		text = widget.Plain(run.Error)
	case run.Code != nil:
		text = fmt.Sprintf("exit %d", *run.Code)
	}
	if out := lastLine(run.Output); out != "" {
		text += ": " + out
	}
	return text
}

// DueText says when the automation will be due, or how long it has been due or running.
func (r *AutomationRow) DueText(now time.Time) widget.Phrase {
	switch {
	case r.State == AutomationRunning && !r.since.IsZero():
		return widget.SamePhrase("for " + widget.Since(r.since, now))
	case r.State == AutomationDue && !r.since.IsZero():
		age := widget.Since(r.since, now)
		return widget.Phrase{Full: "due for " + age, Brief: age}
	case r.Next.IsZero() || r.State == AutomationOff || r.State == AutomationRunning ||
		r.State == AutomationBroken:
		return widget.Phrase{}
	case r.Next.Before(now):
		return widget.SamePhrase("now")
	}
	in := widget.Until(r.Next, now)
	switch {
	case r.State == AutomationFailing && r.retries:
		return timed("retries in ", in)
	case r.State == AutomationFailing:
		return timed("next run in ", in)
	case r.gate == "cooldown":
		return timed("due in ", in)
	case r.gate == "cron" && strings.Contains(r.Reason, r.Next.Format(time.DateOnly)):
		return widget.SamePhrase("in " + in)
	}
	return timed("next in ", in)
}

// LastRunText returns the latest run's outcome and age: "ok 2m ago (1.2s)".
func (r *AutomationRow) LastRunText(now time.Time) string {
	run := r.Last
	switch {
	case r.State == AutomationBroken:
		return ""
	case r.State == AutomationRunning && !r.since.IsZero():
		return "running " + widget.Since(r.since, now)
	case r.LastUnknown:
		return "unknown"
	case run == nil:
		return "never"
	case run.Ending():
		return "ending"
	case run.Ended == nil:
		return "running " + widget.Since(run.Opened, now)
	case r.Failures > 1:
		return fmt.Sprintf("failed %s (%d×)", widget.Ago(*run.Ended, now), r.Failures)
	}
	return fmt.Sprintf("%s %s (%s)", widget.Plain(run.Outcome), widget.Ago(*run.Ended, now),
		widget.Elapsed(run.Ended.Sub(run.Opened)))
}

func (r *AutomationRow) Key() string { return r.Name }

func (a *Automations) counts() (due, failing, broken int) {
	for r := range a.All() {
		switch {
		case r.State == AutomationBroken:
			broken++
		case r.fails():
			failing++
		case r.State == AutomationDue:
			due++
		}
	}
	return due, failing, broken
}

func (a *Automations) issues(*Env) (text string, alert bool) {
	due, failing, broken := a.counts()
	parts := widget.AppendCount(nil, due, string(AutomationDue))
	parts = widget.AppendCount(parts, failing, string(AutomationFailing))
	parts = widget.AppendCount(parts, broken, string(AutomationBroken))
	return strings.Join(parts, ", "), failing+broken > 0
}

func automationSorts(time.Time) []widget.SortKey[*AutomationRow] {
	next := func(a, b *AutomationRow) int {
		if a.Next.IsZero() != b.Next.IsZero() { // rows with unknown times come last
			return b.Next.Compare(a.Next)
		}
		return a.Next.Compare(b.Next)
	}
	last := func(r *AutomationRow) time.Time {
		if r.Last == nil {
			return time.Time{}
		}
		return r.Last.Opened
	}
	return []widget.SortKey[*AutomationRow]{
		{Name: "state", Desc: true, Cmp: func(a, b *AutomationRow) int {
			return cmp.Compare(a.urgency(), b.urgency())
		}},
		{Name: "name"},
		{Name: "gate", Cmp: next},
		{Name: "last run", Desc: true, Cmp: func(a, b *AutomationRow) int {
			return last(b).Compare(last(a))
		}},
	}
}

// due, running and idle have the same rank, so that rows do not move with every run
func (r *AutomationRow) urgency() int {
	switch {
	case r.State == AutomationBroken:
		return 0
	case r.fails():
		return 1
	case r.State == AutomationOff:
		return 3
	}
	return 2
}

// InRun reports whether a run is in progress.
func (r *AutomationRow) InRun() bool {
	return r.State == AutomationRunning || r.Last != nil && r.Last.Ended == nil && !r.Last.Ending()
}
