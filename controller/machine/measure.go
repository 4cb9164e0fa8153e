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
	// measureIdle is the age at which a patrol wants new figures: a minute, less what a patrol may be early.
	measureIdle = 55 * time.Second
	// measureRest is the same for a city in which no agent has used processor time or printed anything.
	measureRest = 8 * time.Minute
	// measureWatched is the same while a client watches: 2 s, less what the pulse may be early.
	measureWatched = 1900 * time.Millisecond
	shownRSS       = 100_000 // the step in which memory is shown, in bytes
)

// gauge is what the machine knows of the figures of its agents' processes.
type gauge struct {
	m *Machine

	// the provider can measure; a sample is being taken; no figure changed in the newest
	able, busy, atRest bool
	ordered            time.Time // when the newest one was
	turn               uint64    // and in which turn
	problem            string    // why there is none
}

// sample is what a life had used and printed at a moment. CPU is shown of the time since the sample before.
type sample struct {
	id     string // of the life
	at     time.Time
	cpu    time.Duration
	show   *city.Usage // never changed once it is shown; nil = nothing is known
	output uint64      // what the life had printed, in bytes
}

// measure orders a sample if the newest is older than age and there is anything to measure.
func (ga *gauge) measure(now time.Time, age time.Duration) {
	if !ga.able || ga.busy || ga.m.settling || ga.m.ending != alive || now.Sub(ga.ordered) < age ||
		!slices.ContainsFunc(ga.m.order, func(a *record) bool { return a.sess.alive }) {
		return
	}
	ga.busy, ga.ordered, ga.turn = true, now, ga.m.turn
	ga.m.step.Do(effect.Measure{})
}

// age returns the age at which a patrol wants new figures while no client watches.
func (g *gauge) age(agents []*record) time.Duration {
	for _, a := range agents {
		sample, life := a.sess.sample, a.sess.life
		if !g.atRest || a.sess.alive && (sample.id != life.ID || sample.output != life.Output) {
			return measureIdle
		}
	}
	return measureRest
}

// measured takes a sample. Where no shown figure changes it changes nothing: a city at rest publishes nothing (L5).
func (ga *gauge) measured(in effect.Measured) {
	ga.busy, ga.atRest = false, in.Err == nil
	problem := ""
	if in.Err != nil {
		problem = fmt.Sprintf("what the agents' processes take cannot be measured: %v", in.Err)
	}
	ga.m.step.Note(&ga.problem, problem)
	for _, a := range ga.m.order {
		if !a.sess.alive || a.act.opTurn > ga.turn { // the sample may be of the life before
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
		used, passed = u.CPU, max(at.Sub(a.sess.life.Started), time.Second) // less says nothing
		s.show = nil
	}
	s.id, s.at, s.cpu, s.output = a.sess.life.ID, at, u.CPU, a.sess.life.Output
	figures := city.Usage{RSS: u.RSS, Procs: u.Procs}
	if used > 0 && passed > 0 { // what a process had used goes with it
		figures.CPU = math.Round(1000*float64(used)/float64(passed)) / 10
	}
	if s.show == nil || s.show.CPU != figures.CPU || s.show.Procs != figures.Procs ||
		s.show.RSS/shownRSS != figures.RSS/shownRSS {
		s.show = new(figures) // a copy: most samples show nothing new
	}
}

// usage is what is shown of the life that an agent is in, nil if nothing is known of it.
func (a *record) usage() *city.Usage {
	if a.sess.sample.id != a.sess.life.ID {
		return nil
	}
	return a.sess.sample.show
}
