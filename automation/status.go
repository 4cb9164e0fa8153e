package automation

import (
	"fmt"
	"time"
)

// State is the state of an automation.
type State string

const (
	Idle    State = "idle" // the gate is closed
	Ready   State = "due"  // a run is waiting for a slot or for its record to be written
	Running State = "running"
	Backoff State = "backoff" // a run failed and will be retried
	Off     State = "off"     // the automation is disabled, or its rig or the city is suspended
)

// Status is an automation's state as shown to users.
type Status struct {
	Definition Definition
	State      State
	Reason     string // one sentence
	// when the active run started, when the due run became due, or when the latest run ended; zero = never run
	Since  time.Time
	Until  time.Time // when the automation becomes due by itself; zero = unknown
	Memory Memory
	Run    *Run // the run that is due or active; it belongs to the caller; nil = none
}

// Status returns the status of all automations in the catalog, sorted by scoped name.
func (r *Runs) Status() []Status {
	out := make([]Status, 0, len(r.order))
	for _, it := range r.order {
		if !it.gone {
			out = append(out, it.status(r))
		}
	}
	return out
}

// Leaving returns the status of removed automations that have an active run, sorted by scoped name.
func (r *Runs) Leaving() []Status {
	var out []Status
	for _, it := range r.order {
		if it.gone && it.run != nil && !it.run.Opened.IsZero() {
			s := it.status(r)
			s.Reason = "the automation's file was removed; this run is the last"
			out = append(out, s)
		}
	}
	return out
}

func (it *item) status(r *Runs) Status {
	s := Status{Definition: it.d, State: Idle, Reason: it.verdict.Reason, Memory: it.memory}
	// the stored reason can contain a remaining time that is out of date
	if it.upToDate(it.suspended, r.now) {
		s.Reason = Judge(it.d, it.facts(it.suspended, r.patrol, r.now), r.now).Reason
	}
	s.Since, s.Until = it.memory.Ended, it.verdict.Next
	switch {
	case it.run != nil:
		run := *it.run
		s.State, s.Reason, s.Since, s.Until, s.Run = Running, run.Reason, run.began(), time.Time{},
			&run
		if run.Opened.IsZero() {
			s.State, s.Reason = Ready, run.why()+"; the run's record is being written"
		}
		if _, by := it.queued(); by != "" {
			s.Reason += "; the next run is queued (" + by + ")"
		}
	case it.want != nil:
		run := *it.want
		s.State, s.Since, s.Until, s.Run = Ready, run.Since, it.unopened, &run
		s.Reason = fmt.Sprintf("%s; waiting for a slot (at most %d automations run at the same "+
			"time)", run.why(), r.most)
		switch {
		case r.closed != "":
			s.Reason, s.Until = run.why()+"; cannot start: "+r.closed, time.Time{}
		case it.openProblem != "":
			s.Reason = run.why() + "; cannot start: " + it.openProblem
		}
	case it.d.Off != "" || it.verdict.off:
		s.State = Off
	case it.retries():
		s.State = Backoff
	}
	if it.skipReason != "" && s.State == Idle {
		s.Reason += "; " + it.skipReason
	}
	if s.Reason == "" {
		s.Reason = "not evaluated yet"
	}
	return s
}

// why returns the reason, and the user that requested the run.
func (r *Run) why() string {
	if r.By == "" {
		return r.Reason
	}
	return r.Reason + " (" + r.By + ")"
}

// Next returns the earliest time after now at which a run becomes due, or the zero time if it is unknown.
func (r *Runs) Next(now time.Time) time.Time {
	var first time.Time
	for _, it := range r.order {
		at := it.verdict.Next
		switch {
		case it.gone || it.run != nil:
			continue
		case it.want != nil:
			at = it.unopened
		}
		if at.After(now) && (first.IsZero() || at.Before(first)) {
			first = at
		}
	}
	return first
}
