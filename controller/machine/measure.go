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
	// measureIdle is the age at which a patrol takes a new sample: a minute, minus the jitter of a patrol.
	measureIdle = 55 * time.Second
	// measureRest is the same for a city with agents that use no processor time and print nothing.
	measureRest = 8 * time.Minute
	// measureWatched is the same while a client watches: 2 s, minus the jitter of the pulse.
	measureWatched = 1900 * time.Millisecond
	shownRSS       = 100_000 // memory is shown in steps of this many bytes
)

// gauge samples the resources of the agents' processes.
type gauge struct {
	m *Machine

	// the provider can measure; a sample is in flight; the newest sample changed no figure
	able, busy, atRest bool
	ordered            time.Time // of the newest sample
	turn               uint64    // turn of the newest sample
	problem            string    // why the newest sample failed
}

// sample is what a session had used and printed at a time. CPU is shown for the time since the previous sample.
type sample struct {
	id     string // of the session
	at     time.Time
	cpu    time.Duration
	show   *city.Usage // immutable after it is shown; nil = unknown
	output uint64      // bytes that the session had printed
}

// measure requests a sample if the newest is older than age and an agent runs.
func (ga *gauge) measure(now time.Time, age time.Duration) {
	if !ga.able || ga.busy || ga.m.settling || ga.m.ending != alive || now.Sub(ga.ordered) < age ||
		!slices.ContainsFunc(ga.m.order, func(a *record) bool { return a.sess.alive }) {
		return
	}
	ga.busy, ga.ordered, ga.turn = true, now, ga.m.turn
	ga.m.step.Do(effect.Measure{})
}

// age returns the age at which a patrol takes a new sample while no client watches.
func (g *gauge) age(agents []*record) time.Duration {
	for _, a := range agents {
		sample, life := a.sess.sample, a.sess.life
		if !g.atRest || a.sess.alive && (sample.id != life.ID || sample.output != life.Output) {
			return measureIdle
		}
	}
	return measureRest
}

// measured takes a sample. If no shown figure changes, nothing is published (L5).
func (ga *gauge) measured(in effect.Measured) {
	ga.busy, ga.atRest = false, in.Err == nil
	problem := ""
	if in.Err != nil {
		problem = fmt.Sprintf("the resources of the agents' processes cannot be measured: %v",
			in.Err)
	}
	ga.m.step.Note(&ga.problem, problem)
	for _, a := range ga.m.order {
		if !a.sess.alive || a.act.opTurn > ga.turn { // the sample may be of the previous session
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
		// a shorter time is meaningless
		used, passed = u.CPU, max(at.Sub(a.sess.life.Started), time.Second)
		s.show = nil
	}
	s.id, s.at, s.cpu, s.output = a.sess.life.ID, at, u.CPU, a.sess.life.Output
	figures := city.Usage{RSS: u.RSS, Procs: u.Procs}
	if used > 0 && passed > 0 { // the usage of a process is lost when it exits
		figures.CPU = math.Round(1000*float64(used)/float64(passed)) / 10
	}
	if s.show == nil || s.show.CPU != figures.CPU || s.show.Procs != figures.Procs ||
		s.show.RSS/shownRSS != figures.RSS/shownRSS {
		s.show = new(figures) // copied only if it differs
	}
}

// usage returns the shown usage of an agent's current session, nil if it is unknown.
func (a *record) usage() *city.Usage {
	if a.sess.sample.id != a.sess.life.ID {
		return nil
	}
	return a.sess.sample.show
}
