package machine

import (
	"fmt"
	"math"
	"slices"
	"time"

	"gcity/city"
	"gcity/controller/effect"
	"gcity/session"
)

const (
	// measureIdle is the minimum age of the newest sample before a patrol takes another: a minute, less the jitter
	// of a patrol.
	measureIdle = 55 * time.Second
	// measureRest replaces measureIdle while all agents use no processor time and print nothing.
	measureRest = 8 * time.Minute
	// measureWatched replaces measureIdle while a client watches: 2 s, less the jitter of the loop's pulse.
	measureWatched = 1900 * time.Millisecond
	shownRSS       = 100_000 // displayed memory is rounded to this many bytes
)

// gauge measures the resources that the agents' processes use.
type gauge struct {
	m *Machine

	// able: the provider can measure; busy: a sample is in flight; atRest: the newest sample changed no figure
	able, busy, atRest bool
	ordered            time.Time // when the newest sample was requested
	turn               uint64    // turn in which the newest sample was requested
	problem            string    // why the newest sample failed
}

// sample is the newest measurement of a session. CPU usage is shown for the time since the sample before it.
type sample struct {
	id     string // ID of the session
	at     time.Time
	cpu    time.Duration
	show   *city.Usage // the figures shown; immutable; nil = unknown
	output uint64      // bytes that the session has printed so far
}

// measure requests a sample if an agent is running and the newest sample is older than age.
func (ga *gauge) measure(now time.Time, age time.Duration) {
	if !ga.able || ga.busy || ga.m.settling || ga.m.ending != alive || now.Sub(ga.ordered) < age ||
		!slices.ContainsFunc(ga.m.order, func(a *record) bool { return a.sess.alive }) {
		return
	}
	ga.busy, ga.ordered, ga.turn = true, now, ga.m.turn
	ga.m.step.Do(effect.Measure{})
}

// age returns the minimum age of the newest sample before a patrol takes another, if no client watches.
func (g *gauge) age(agents []*record) time.Duration {
	for _, a := range agents {
		sample, life := a.sess.sample, a.sess.life
		if !g.atRest || a.sess.alive && (sample.id != life.ID || sample.output != life.Output) {
			return measureIdle
		}
	}
	return measureRest
}

// measured handles a sample. If no displayed figure changes, nothing is published (L5).
func (ga *gauge) measured(in effect.Measured) {
	ga.busy, ga.atRest = false, in.Err == nil
	problem := ""
	if in.Err != nil {
		problem = fmt.Sprintf("the resources used by the agents' processes cannot be measured: %v",
			in.Err)
	}
	ga.m.step.Note(&ga.problem, problem)
	for _, a := range ga.m.order {
		if !a.sess.alive || a.act.opTurn > ga.turn { // the sample may be of an earlier session
			continue
		}
		shown, cpu := a.usage(), a.sess.sample.cpu
		u, ok := in.Usage[a.sess.life.Name]
		if a.measured(u, in.At); !ok {
			a.sess.sample = sample{}
		}
		ga.m.step.Changed = ga.m.step.Changed || a.usage() != shown
		ga.atRest = ga.atRest && a.usage() == shown && a.sess.sample.cpu == cpu
	}
}

func (a *record) measured(u session.Usage, at time.Time) {
	s := &a.sess.sample
	used, passed := u.CPU-s.cpu, at.Sub(s.at)
	if s.id != a.sess.life.ID {
		// over less than a second, the rate is meaningless
		used, passed = u.CPU, max(at.Sub(a.sess.life.Started), time.Second)
		s.show = nil
	}
	s.id, s.at, s.cpu, s.output = a.sess.life.ID, at, u.CPU, a.sess.life.Output
	figures := city.Usage{RSS: u.RSS, Procs: u.Procs}
	// a process that exits takes its usage with it, so the total can shrink
	if used > 0 && passed > 0 {
		figures.CPU = math.Round(1000*float64(used)/float64(passed)) / 10
	}
	if s.show == nil || s.show.CPU != figures.CPU || s.show.Procs != figures.Procs ||
		s.show.RSS/shownRSS != figures.RSS/shownRSS {
		s.show = new(figures) // published snapshots share the old value
	}
}

// usage returns the displayed resource usage of an agent's current session, or nil if it is unknown.
func (a *record) usage() *city.Usage {
	if a.sess.sample.id != a.sess.life.ID {
		return nil
	}
	return a.sess.sample.show
}
