// Package usage converts process samples to the displayed resource usage.
package usage

import (
	"math"
	"time"

	"gcity/city"
	"gcity/session"
)

// shownRSS is the step, in bytes, in which displayed memory changes.
const shownRSS = 100_000

// Sample is the latest measurement of a session. The displayed CPU usage is for the time since the previous sample.
type Sample struct {
	id     string
	at     time.Time
	cpu    time.Duration
	shown  *city.Usage // immutable; nil = unknown
	output uint64      // bytes printed so far
}

// Take replaces the sample of a live session.
func (s *Sample) Take(life *session.Status, u session.Usage, at time.Time) {
	used, passed := u.CPU-s.cpu, at.Sub(s.at)
	if s.id != life.ID {
		// measure the rate of a new session over at least one second
		used, passed = u.CPU, max(at.Sub(life.Started), time.Second)
		s.shown = nil
	}
	s.id, s.at, s.cpu, s.output = life.ID, at, u.CPU, life.Output
	figures := city.Usage{RSS: u.RSS, Procs: u.Procs}
	// the usage of a process that exits is no longer counted, so the total can decrease
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

// Same reports whether two samples show the same figures for the session and have the same processor time.
func (s *Sample) Same(other Sample, id string) bool {
	return s.cpu == other.cpu && s.Shown(id) == other.Shown(id)
}
