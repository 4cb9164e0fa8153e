package automation

import (
	"fmt"
	"time"
)

// State is the state of an automation.
type State string

const (
	Idle    State = "idle"    // its gate is closed
	Ready   State = "due"     // it waits for a slot or for its record
	Running State = "running" // a run is active
	Backoff State = "backoff" // a run failed and will be retried
	Off     State = "off"     // disabled, or its rig or the city is suspended
)

// Status is the state of one automation for display.
type Status struct {
	Definition Definition
	State      State
	Reason     string // one sentence, as of the latest turn
	// start of the current run, or when it became due; otherwise the latest end; zero = never run
	Since  time.Time
	Until  time.Time // when it will be due automatically; zero = unknown
	Memory Memory
	Run    *Run // the active or waiting run; nil = none. The caller owns it
}

// Status returns all automations of the catalog, sorted by scoped name.
func (r *Runs) Status() []Status {
	out := make([]Status, 0, len(r.order))
	for _, it := range r.order {
		if !it.gone {
			out = append(out, it.status(r))
		}
	}
	return out
}

// Leaving returns removed automations with an active run, sorted by scoped name.
func (r *Runs) Leaving() []Status {
	var out []Status
	for _, it := range r.order {
		if it.gone && it.run != nil && !it.run.Opened.IsZero() {
			s := it.status(r)
			s.Reason = "its file was removed; it ends with this run"
			out = append(out, s)
		}
	}
	return out
}

func (it *item) status(r *Runs) Status {
	s := Status{Definition: it.d, State: Idle, Reason: it.verdict.Reason, Memory: it.memory}
	// it has not been judged for a while, and the text contains a remaining time
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
			s.State, s.Reason = Ready, run.Reason+"; its record is being written"
		}
	case it.want != nil:
		run := *it.want
		s.State, s.Since, s.Until, s.Run = Ready, run.Since, it.unopened, &run
		s.Reason = fmt.Sprintf("%s; waits for a slot, %d run", run.Reason, r.most)
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

// Next returns the earliest time after now at which a turn will find a new due run; zero = unknown. It does not
// consider checks of conditions and the ends of runs.
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
