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

// AutomationState is how an automation is, in a word.
type AutomationState string

const (
	AutomationBroken  AutomationState = "broken"               // its file cannot be used
	AutomationFailing AutomationState = city.AutomationFailing // its newest run failed
	AutomationRunning AutomationState = "running"
	AutomationDue     AutomationState = "due"
	AutomationIdle    AutomationState = "idle"
	// idle, and nothing but a hand starts it
	AutomationManual AutomationState = city.AutomationManual
	AutomationOff    AutomationState = "off"
)

// AutomationRow is an automation made ready to be shown: every text cleaned, once.
type AutomationRow struct {
	Name     string // as the city knows it
	Shown    string
	Rig      string
	pool     string
	Source   string
	gate     string
	when     string // the gate's own word
	Reason   string
	State    AutomationState
	Next     time.Time // zero = unknown
	since    time.Time // of the run that goes, or of being due
	Failures int
	Last     *city.Run
	hand     string // the key that fires it
	Always   bool   // suspension does not stop it
}

func NewAutomationRow(a *city.Automation) AutomationRow {
	r := AutomationRow{Name: a.Name, Shown: widget.Plain(a.Name), Rig: a.Rig, pool: a.Pool,
		Source: widget.Plain(a.Source), gate: widget.Plain(a.Gate),
		when:   widget.Plain(strings.Join(strings.Fields(a.When), " ")),
		Reason: widget.Lead(a.Reason), Failures: a.Failures, Last: a.Last, Always: a.WhileSuspended}
	if d, err := time.ParseDuration(a.When); err == nil {
		r.when = widget.Duration(d)
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

// fails reports whether its newest finished run failed, also while the next one goes.
func (r *AutomationRow) fails() bool {
	return r.State == AutomationFailing || r.Failures > 0 && r.State != AutomationOff &&
		r.State != AutomationBroken
}

// Attention reports whether a person should look at it.
func (r *AutomationRow) Attention() bool { return r.fails() || r.State == AutomationBroken }

// Opens is the gate in words: "cooldown 5m", "cron 0 3 * * *".
func (r *AutomationRow) Opens() string { return strings.TrimSpace(r.gate + " " + r.when) }

// Says is what the gate says now, without what stands beside it anyway: its own name, and times that run down.
func (r *AutomationRow) Says() string {
	text, _ := strings.CutPrefix(r.Reason, r.gate+": ")
	switch {
	case r.State == AutomationManual:
		return "only by hand, with " + r.hand
	case text == r.gate:
		return ""
	case r.State == AutomationRunning && strings.HasPrefix(text, "running for "):
		_, text, _ = strings.Cut(text, "; ")
	case !r.Next.IsZero() && strings.HasSuffix(text, " remaining"):
		return ""
	case !r.Next.IsZero() && strings.HasPrefix(text, "retry "):
		text, _, _ = strings.Cut(text, " in ")
	}
	if day, ok := strings.CutPrefix(text, "next "); ok { // as the room writes a day
		if at, err := time.Parse("2006-01-02 15:04", day); err == nil {
			text = "next " + at.Format("Jan 02 15:04")
		}
	}
	return text
}

// Why is the gate and what it says, with a dot between them; of one that fails, how; of a broken one, what is wrong.
func (r *AutomationRow) Why(dot string) string {
	parts := []string{r.Opens()}
	switch {
	case r.State == AutomationBroken:
		return r.fault()
	case r.State == AutomationManual:
		return r.Says()
	case r.State == AutomationFailing:
		parts = append(parts, r.failure())
	}
	parts = append(parts, r.Says())
	parts = slices.DeleteFunc(parts, func(s string) bool { return s == "" })
	return strings.Join(parts, " "+dot+" ")
}

// fault is what is wrong with its file, which a row need not name in full: "automation.toml:4:1: both formula and
// exec".
func (r *AutomationRow) fault() string {
	if at, ok := strings.CutPrefix(r.Reason, r.Source); ok && r.Source != "" {
		return path.Base(r.Source) + at
	}
	return r.Reason
}

// failure says how its newest run failed: "last exit 128: not a git repository".
func (r *AutomationRow) failure() string {
	if r.Last == nil || r.Last.Outcome == "" || r.Last.Outcome == Ran {
		return ""
	}
	return "last " + RunFailure(r.Last)
}

// Ran is the outcome of a run that did what it should.
const Ran = "ok"

// RunFailure says why a run failed, with the last line it printed.
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

// Soon says when it will be due by itself, or how long its run goes.
func (r *AutomationRow) Soon(now time.Time) widget.Phrase {
	switch {
	case r.State == AutomationRunning && !r.since.IsZero():
		return widget.Same("for " + widget.Age(now.Sub(r.since)))
	case r.State == AutomationDue && !r.since.IsZero():
		return widget.Phrase{Full: "due for " + widget.Age(now.Sub(r.since)),
			Brief: widget.Age(now.Sub(r.since))}
	case r.Next.IsZero() || r.State == AutomationOff || r.State == AutomationRunning ||
		r.State == AutomationBroken:
		return widget.Phrase{}
	case r.Next.Before(now):
		return widget.Same("now")
	}
	in := "in " + widget.Remaining(r.Next.Sub(now))
	switch {
	case r.State == AutomationFailing:
		return widget.Phrase{Full: "again " + in, Brief: in}
	case r.gate == "cooldown":
		return widget.Phrase{Full: "ready " + in, Brief: in}
	case strings.HasPrefix(r.Says(), "next "): // it stands there with its date
		return widget.Same(in)
	}
	return widget.Phrase{Full: "next " + in, Brief: in}
}

// Ago is the last run and its outcome, or how long it goes: "ok 2m ago (1.2s)".
func (r *AutomationRow) Ago(now time.Time) string {
	run := r.Last
	switch {
	case r.State == AutomationBroken:
		return ""
	case r.State == AutomationRunning && !r.since.IsZero():
		return "running " + widget.Age(now.Sub(r.since))
	case run == nil:
		return "never ran"
	case run.Ending():
		return "ending"
	case run.Ended == nil:
		return "running " + widget.Age(now.Sub(run.Opened))
	case r.Failures > 1:
		return fmt.Sprintf("%d failures, %s ago", r.Failures, widget.Age(now.Sub(*run.Ended)))
	}
	return fmt.Sprintf("%s %s ago (%s)", widget.Plain(run.Outcome), widget.Age(now.Sub(*run.Ended)),
		widget.Elapsed(run.Ended.Sub(run.Opened)))
}

func (r *AutomationRow) Key() string { return r.Name }

// counts are the automations that wait for a place, that fail, and whose file cannot be used.
func (a *Automations) counts() (due, failing, broken int) {
	for i := range a.Rows {
		switch r := &a.Rows[i]; {
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

// ills is what the title says of them: "1 due, 1 failing".
func (a *Automations) ills() (text string, alert bool) {
	due, failing, broken := a.counts()
	var parts []string
	for _, p := range []struct {
		n    int
		what AutomationState
	}{{due, AutomationDue}, {failing, AutomationFailing}, {broken, AutomationBroken}} {
		if p.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", p.n, p.what))
		}
	}
	return strings.Join(parts, ", "), failing+broken > 0
}

// Problem is what the header says of them and which key shows them, "" if all is well.
func (a *Automations) Problem(key string) string {
	_, failing, broken := a.counts()
	switch {
	case failing == 0 && broken == 0:
		return ""
	case failing == 0:
		return widget.Count(broken, "automation") + " broken; " + key + " shows them"
	case broken == 0:
		return widget.Count(failing, "automation") + " failing; " + key + " shows them"
	}
	return fmt.Sprintf("%s failing, %d broken; %s shows them", widget.Count(failing, "automation"),
		broken, key)
}

// automationWays are the orders of automations: what needs a person first; by name; what is due next, or ran last
// first.
func automationWays() []widget.Way[AutomationRow] {
	next := func(a, b *AutomationRow) int {
		if a.Next.IsZero() != b.Next.IsZero() { // what nobody knows comes last
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
	return []widget.Way[AutomationRow]{
		{Name: "need", Rank: func(a, b *AutomationRow) int {
			return cmp.Compare(a.urgency(), b.urgency())
		}},
		{Name: "name", Rank: func(a, b *AutomationRow) int {
			return city.CompareNames(a.Name, b.Name)
		}},
		{Name: "next", Rank: next},
		{Name: "last", Rank: func(a, b *AutomationRow) int { return last(b).Compare(last(a)) }},
	}
}

// urgency orders automations: 0 needs a person most. What waits, runs and rests comes and goes all the time, and is
// one: a list that people read stays as it is meanwhile.
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

// Goes reports whether a run of it goes.
func (r *AutomationRow) Goes() bool {
	return r.State == AutomationRunning || r.Last != nil && r.Last.Ended == nil && !r.Last.Ending()
}
