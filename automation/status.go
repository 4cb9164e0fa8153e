package automation

import (
	"fmt"
	"time"
)

// State is where an automation stands.
type State string

// The states.
const (
	Idle    State = "idle"    // its gate is closed
	Ready   State = "due"     // it waits for a place, or for its record
	Running State = "running" // a run goes
	Backoff State = "backoff" // a run failed, and is tried again
	Off     State = "off"     // disabled, or of a suspended rig or city
)

// Status is one automation as a person sees it.
type Status struct {
	Definition Definition
	State      State
	Reason     string // in words, as of the newest turn
	// of the run that goes, or of being due; else of the newest end; zero = never run
	Since  time.Time
	Until  time.Time // when it will be due by itself; zero = unknown
	Memory Memory
	Run    *Run // that goes or waits; nil = none. The caller's
}

// Status gives all automations of the catalog, in the order of their scoped names.
func (r *Runs) Status() []Status {
	out := make([]Status, 0, len(r.order))
	for _, it := range r.order {
		if !it.gone {
			out = append(out, it.status(r))
		}
	}
	return out
}

// Leaving gives those that no catalog has any more, and whose run goes still, in the same order.
func (r *Runs) Leaving() []Status {
	var out []Status
	for _, it := range r.order {
		if it.gone && it.run != nil && !it.run.Opened.IsZero() {
			s := it.status(r)
			s.Reason = "its file is gone; it ends with this run"
			out = append(out, s)
		}
	}
	return out
}

func (it *item) status(r *Runs) Status {
	s := Status{Definition: it.d, State: Idle, Reason: it.verdict.Reason, Memory: it.memory}
	// it has not been judged for a while, and the words say how long is left
	if it.sleeps(it.rests, r.now) {
		s.Reason = Judge(it.d, it.facts(it.rests, r.patrol, r.now), r.now).Reason
	}
	s.Since, s.Until = it.memory.Ended, it.verdict.Next
	switch {
	case it.run != nil:
		run := *it.run
		s.State, s.Reason, s.Since, s.Until, s.Run = Running, run.Reason, run.began(), time.Time{},
			&run
		if run.Opened.IsZero() {
			s.State, s.Reason = Ready, run.Reason+"; a record of it is being made"
		}
	case it.want != nil:
		run := *it.want
		s.State, s.Since, s.Until, s.Run = Ready, run.Since, it.unopened, &run
		s.Reason = fmt.Sprintf("%s; waits for a place, %d run", run.Reason, r.most)
		switch {
		case r.closed != "":
			s.Reason, s.Until = run.Reason+"; cannot be opened: "+r.closed, time.Time{}
		case it.whyNot != "":
			s.Reason = run.Reason + "; cannot be opened: " + it.whyNot
		}
	case it.d.Off != "" || it.verdict.off:
		s.State = Off
	case it.memory.Tries > 0:
		s.State = Backoff
	}
	if it.chain != "" && s.State == Idle {
		s.Reason += "; " + it.chain
	}
	if s.Reason == "" {
		s.Reason = "not judged yet"
	}
	return s
}

// Next is the earliest time after now at which a turn will find something due that none finds before; zero = none
// is known. Checks of conditions and the ends of runs are not counted.
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
