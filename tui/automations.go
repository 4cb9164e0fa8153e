package tui

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

// automationState is how an automation is, in a word.
type automationState string

const (
	automationBroken  automationState = "broken"               // its file cannot be used
	automationFailing automationState = city.AutomationFailing // its newest run failed
	automationRunning automationState = "running"
	automationDue     automationState = "due"
	automationIdle    automationState = "idle"
	// idle, and nothing but a hand starts it
	automationManual automationState = city.AutomationManual
	automationOff    automationState = "off"
)

// automationRow is an automation made ready to be shown: every text cleaned, once.
type automationRow struct {
	name     string // as the city knows it
	shown    string
	rig      string
	pool     string
	source   string
	gate     string
	when     string // the gate's own word
	reason   string
	state    automationState
	next     time.Time // zero = unknown
	since    time.Time // of the run that goes, or of being due
	failures int
	last     *city.Run
	hand     string // the key that fires it
	always   bool   // suspension does not stop it
}

func newAutomationRow(a *city.Automation) automationRow {
	r := automationRow{name: a.Name, shown: widget.Plain(a.Name), rig: a.Rig, pool: a.Pool,
		source: widget.Plain(a.Source), gate: widget.Plain(a.Gate),
		when:   widget.Plain(strings.Join(strings.Fields(a.When), " ")),
		reason: widget.Lead(a.Reason), failures: a.Failures, last: a.Last, always: a.WhileSuspended}
	if d, err := time.ParseDuration(a.When); err == nil {
		r.when = widget.Duration(d)
	}
	if a.Next != nil {
		r.next = *a.Next
	}
	if a.Since != nil {
		r.since = *a.Since
	}
	r.state = automationState(widget.Plain(a.Word()))
	return r
}

// fails reports whether its newest finished run failed, also while the next one goes.
func (r *automationRow) fails() bool {
	return r.state == automationFailing || r.failures > 0 && r.state != automationOff &&
		r.state != automationBroken
}

// attention reports whether a person should look at it.
func (r *automationRow) attention() bool { return r.fails() || r.state == automationBroken }

// opens is the gate in words: "cooldown 5m", "cron 0 3 * * *".
func (r *automationRow) opens() string { return strings.TrimSpace(r.gate + " " + r.when) }

// says is what the gate says now, without what stands beside it anyway: its own name, and times that run down.
func (r *automationRow) says() string {
	text, _ := strings.CutPrefix(r.reason, r.gate+": ")
	switch {
	case r.state == automationManual:
		return "only by hand, with " + r.hand
	case text == r.gate:
		return ""
	case r.state == automationRunning && strings.HasPrefix(text, "running for "):
		_, text, _ = strings.Cut(text, "; ")
	case !r.next.IsZero() && strings.HasSuffix(text, " remaining"):
		return ""
	case !r.next.IsZero() && strings.HasPrefix(text, "retry "):
		text, _, _ = strings.Cut(text, " in ")
	}
	if day, ok := strings.CutPrefix(text, "next "); ok { // as the room writes a day
		if at, err := time.Parse("2006-01-02 15:04", day); err == nil {
			text = "next " + at.Format("Jan 02 15:04")
		}
	}
	return text
}

// why is the gate and what it says, with a dot between them; of one that fails, how; of a broken one, what is wrong.
func (r *automationRow) why(dot string) string {
	parts := []string{r.opens()}
	switch {
	case r.state == automationBroken:
		return r.fault()
	case r.state == automationManual:
		return r.says()
	case r.state == automationFailing:
		parts = append(parts, r.failure())
	}
	parts = append(parts, r.says())
	parts = slices.DeleteFunc(parts, func(s string) bool { return s == "" })
	return strings.Join(parts, " "+dot+" ")
}

// fault is what is wrong with its file, which a row need not name in full: "automation.toml:4:1: both formula and
// exec".
func (r *automationRow) fault() string {
	if at, ok := strings.CutPrefix(r.reason, r.source); ok && r.source != "" {
		return path.Base(r.source) + at
	}
	return r.reason
}

// failure says how its newest run failed: "last exit 128: not a git repository".
func (r *automationRow) failure() string {
	if r.last == nil || r.last.Outcome == "" || r.last.Outcome == ran {
		return ""
	}
	return "last " + runFailure(r.last)
}

// ran is the outcome of a run that did what it should.
const ran = "ok"

// runFailure says why a run failed, with the last line it printed.
func runFailure(run *city.Run) string {
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

// soon says when it will be due by itself, or how long its run goes.
func (r *automationRow) soon(now time.Time) widget.Phrase {
	switch {
	case r.state == automationRunning && !r.since.IsZero():
		return widget.Same("for " + widget.Age(now.Sub(r.since)))
	case r.state == automationDue && !r.since.IsZero():
		return widget.Phrase{Full: "due for " + widget.Age(now.Sub(r.since)),
			Brief: widget.Age(now.Sub(r.since))}
	case r.next.IsZero() || r.state == automationOff || r.state == automationRunning ||
		r.state == automationBroken:
		return widget.Phrase{}
	case r.next.Before(now):
		return widget.Same("now")
	}
	in := "in " + widget.Remaining(r.next.Sub(now))
	switch {
	case r.state == automationFailing:
		return widget.Phrase{Full: "again " + in, Brief: in}
	case r.gate == "cooldown":
		return widget.Phrase{Full: "ready " + in, Brief: in}
	case strings.HasPrefix(r.says(), "next "): // it stands there with its date
		return widget.Same(in)
	}
	return widget.Phrase{Full: "next " + in, Brief: in}
}

// ago is the last run and its outcome, or how long it goes: "ok 2m ago (1.2s)".
func (r *automationRow) ago(now time.Time) string {
	run := r.last
	switch {
	case r.state == automationBroken:
		return ""
	case r.state == automationRunning && !r.since.IsZero():
		return "running " + widget.Age(now.Sub(r.since))
	case run == nil:
		return "never ran"
	case run.Ending():
		return "ending"
	case run.Ended == nil:
		return "running " + widget.Age(now.Sub(run.Opened))
	case r.failures > 1:
		return fmt.Sprintf("%d failures, %s ago", r.failures, widget.Age(now.Sub(*run.Ended)))
	}
	return fmt.Sprintf("%s %s ago (%s)", widget.Plain(run.Outcome), widget.Age(now.Sub(*run.Ended)),
		widget.Elapsed(run.Ended.Sub(run.Opened)))
}

func (r *automationRow) Key() string { return r.name }

// counts are the automations that wait for a place, that fail, and whose file cannot be used.
func (a *automations) counts() (due, failing, broken int) {
	for i := range a.Rows {
		switch r := &a.Rows[i]; {
		case r.state == automationBroken:
			broken++
		case r.fails():
			failing++
		case r.state == automationDue:
			due++
		}
	}
	return due, failing, broken
}

// ills is what the title says of them: "1 due, 1 failing".
func (a *automations) ills() (text string, alert bool) {
	due, failing, broken := a.counts()
	var parts []string
	for _, p := range []struct {
		n    int
		what automationState
	}{{due, automationDue}, {failing, automationFailing}, {broken, automationBroken}} {
		if p.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", p.n, p.what))
		}
	}
	return strings.Join(parts, ", "), failing+broken > 0
}

// problem is what the header says of them and which key shows them, "" if all is well.
func (a *automations) problem(key string) string {
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
func automationWays() []widget.Way[automationRow] {
	next := func(a, b *automationRow) int {
		if a.next.IsZero() != b.next.IsZero() { // what nobody knows comes last
			return b.next.Compare(a.next)
		}
		return a.next.Compare(b.next)
	}
	last := func(r *automationRow) time.Time {
		if r.last == nil {
			return time.Time{}
		}
		return r.last.Opened
	}
	return []widget.Way[automationRow]{
		{Name: "need", Rank: func(a, b *automationRow) int {
			return cmp.Compare(a.urgency(), b.urgency())
		}},
		{Name: "name", Rank: func(a, b *automationRow) int {
			return city.CompareNames(a.name, b.name)
		}},
		{Name: "next", Rank: next},
		{Name: "last", Rank: func(a, b *automationRow) int { return last(b).Compare(last(a)) }},
	}
}

// urgency orders automations: 0 needs a person most. What waits, runs and rests comes and goes all the time, and is
// one: a list that people read stays as it is meanwhile.
func (r *automationRow) urgency() int {
	switch {
	case r.state == automationBroken:
		return 0
	case r.fails():
		return 1
	case r.state == automationOff:
		return 3
	}
	return 2
}
