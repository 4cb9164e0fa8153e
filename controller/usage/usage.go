// Package usage turns samples of processes into the resource usage that is shown. It is pure.
package usage

import (
	"math"
	"time"

	"gcity/city"
	"gcity/session"
)

// shownRSS is the step to which displayed memory is rounded, in bytes.
const shownRSS = 100_000

// Sample is the newest measurement of a session. CPU usage is shown for the time since the sample before it.
type Sample struct {
	id     string // ID of the session
	at     time.Time
	cpu    time.Duration
	shown  *city.Usage // the figures shown; immutable; nil = unknown
	output uint64      // bytes that the session has printed so far
}

// Take replaces the sample of a living session.
func (s *Sample) Take(life *session.Status, u session.Usage, at time.Time) {
	used, passed := u.CPU-s.cpu, at.Sub(s.at)
	if s.id != life.ID {
		// over less than a second, the rate is meaningless
		used, passed = u.CPU, max(at.Sub(life.Started), time.Second)
		s.shown = nil
	}
	s.id, s.at, s.cpu, s.output = life.ID, at, u.CPU, life.Output
	figures := city.Usage{RSS: u.RSS, Procs: u.Procs}
	// a process that exits takes its usage with it, so the total can shrink
	if used > 0 && passed > 0 {
		figures.CPU = math.Round(1000*float64(used)/float64(passed)) / 10
	}
	if s.shown == nil || s.shown.CPU != figures.CPU || s.shown.Procs != figures.Procs ||
		s.shown.RSS/shownRSS != figures.RSS/shownRSS {
		s.shown = new(figures) // published snapshots share the old value
	}
}

// Shown returns the displayed resource usage of the session with this ID, or nil if it is unknown.
func (s *Sample) Shown(id string) *city.Usage {
	if s.id != id {
		return nil
	}
	return s.shown
}

// Current reports whether the session has printed nothing since the sample.
func (s *Sample) Current(life *session.Status) bool {
	return s.id == life.ID && s.output == life.Output
}

// Same reports whether another sample shows the same figures of the session and the same processor time.
func (s *Sample) Same(other Sample, id string) bool {
	return s.cpu == other.cpu && s.Shown(id) == other.Shown(id)
}
