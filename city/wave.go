package city

import (
	"fmt"
	"time"
)

// Wave is the progress of a group of agents that start, stop or drain together.
type Wave struct {
	Verb        string // "starting", "stopping" or "draining"
	Done, Total int
	// estimate, or the time until the last deadline; 0 = unknown
	Left time.Duration
}

// String returns "starting: 312 of 500 agents, 14s left" or "draining: 3 of 12 agents, at most 4m left".
func (w Wave) String() string {
	text := fmt.Sprintf("%s: %d of %d agents", w.Verb, w.Done, w.Total)
	if w.Left > 0 {
		limit := ""
		if w.Verb == draining {
			limit = "at most "
		}
		text += fmt.Sprintf(", %s%s left", limit, max(w.Left.Round(time.Second), time.Second))
	}
	return text
}

const draining = "draining"

// Large reports whether the header should show the wave.
func (w Wave) Large() bool { return w.Total >= 10 }

// Waves detects waves in successive snapshots. The zero value is ready to use.
type Waves struct {
	stop, drain, start wave
}

// A wave lasts as long as snapshots contain agents in its state.
type wave struct {
	since       time.Time
	left, total int
}

// See takes the next snapshot and returns its most important wave, or the zero Wave.
func (ws *Waves) See(s *Snapshot) Wave {
	var stops, drains, starts int
	var stopped, drained time.Time
	unlimited := false // a drain has no deadline
	for i := range s.Agents {
		a := &s.Agents[i]
		switch {
		case a.State == Stopping, s.Ending != nil && a.Running:
			stops++
			stopped = latest(stopped, a.Until)
		case a.State == Draining:
			drains++
			drained = latest(drained, a.Until)
			unlimited = unlimited || a.Until == nil
		case a.State == Starting:
			starts++
		}
	}
	if s.Ending != nil {
		stopped = s.Ending.Until
	}
	stop := ws.stop.see("stopping", s.At, stops, stopped)
	if unlimited {
		drained = time.Time{}
	}
	drain := ws.drain.see(draining, s.At, drains, drained)
	start := ws.start.see("starting", s.At, starts, time.Time{})
	switch {
	case stop.Total > 0:
		return stop
	case drain.Total > start.Total:
		return drain
	}
	return start
}

func latest(t time.Time, until *time.Time) time.Time {
	if until != nil && until.After(t) {
		return *until
	}
	return t
}

func (w *wave) see(verb string, now time.Time, left int, deadline time.Time) Wave {
	switch {
	case left == 0:
		*w = wave{}
		return Wave{}
	case w.total == 0:
		w.since = now
	}
	w.total += max(0, left-w.left)
	w.left = left
	out := Wave{Verb: verb, Done: w.total - left, Total: w.total}
	// other agents' drains do not show how long the rest of an agent's work takes
	if passed := now.Sub(w.since); verb != draining && out.Done > 0 && passed > 0 {
		out.Left = passed / time.Duration(out.Done) * time.Duration(left)
	}
	if by := deadline.Sub(now); !deadline.IsZero() && by > 0 && (out.Left == 0 || by < out.Left) {
		out.Left = by
	}
	return out
}
