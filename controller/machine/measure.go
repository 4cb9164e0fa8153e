package machine

import (
	"fmt"
	"math"
	"time"

	"gcity/city"
	"gcity/controller/effect"
	"gcity/session"
)

const (
	// measureIdle is the age at which a patrol wants new figures while no client watches: a minute, less what a patrol
	// may be early. A sample reads a file of every process of the machine, which was half of what a patrol costs.
	measureIdle = 55 * time.Second
	// measureWatched is the age at which somebody who watches wants them: 2 s, less what the pulse may be early.
	measureWatched = 1900 * time.Millisecond
	// shownRSS is the step in which memory is shown, in bytes.
	shownRSS = 100_000
)

// gauge is what the machine knows of the figures of its agents' processes.
type gauge struct {
	able    bool      // the provider can measure
	busy    bool      // a sample is being taken
	ordered time.Time // when the newest one was
	turn    uint64    // and in which turn
	problem string    // why there is none
}

// sample is what one life had used at a moment, and what is shown of it. Between two samples the processor's share is
// that of the time between them, before there are two it is that of the whole life.
type sample struct {
	id   string // of the life
	at   time.Time
	cpu  time.Duration
	show *city.Usage // never changed once it is shown; nil = nothing is known
}

// measure orders a sample if the newest is older than age and there is anything to measure.
func (m *Machine) measure(now time.Time, age time.Duration) {
	g := &m.gauge
	if !g.able || g.busy || m.settling || m.ending != alive || now.Sub(g.ordered) < age ||
		!m.anyAlive() {
		return
	}
	g.busy, g.ordered, g.turn = true, now, m.turn
	m.do(effect.Measure{})
}

func (m *Machine) anyAlive() bool {
	for _, a := range m.order {
		if a.alive {
			return true
		}
	}
	return false
}

// measured takes a sample. Where no shown figure changes it changes nothing: a city at rest publishes nothing (L5).
func (m *Machine) measured(in effect.Measured) {
	m.gauge.busy = false
	if in.Err != nil {
		m.note(&m.gauge.problem, fmt.Sprintf("what the agents' processes take cannot be "+
			"measured: %v", in.Err))
	} else {
		m.note(&m.gauge.problem, "")
	}
	for _, a := range m.order {
		if !a.alive || a.opTurn > m.gauge.turn { // the sample may be of the life before
			continue
		}
		before := a.usage()
		if u, ok := in.Usage[a.life.Name]; ok {
			a.measured(u, in.At)
		} else {
			a.sample = sample{}
		}
		m.changed = m.changed || a.usage() != before
	}
}

func (a *record) measured(u session.Usage, at time.Time) {
	s := &a.sample
	used, passed := u.CPU-s.cpu, at.Sub(s.at)
	if s.id != a.life.ID {
		used, passed = u.CPU, max(at.Sub(a.life.Started), time.Second) // less says nothing
		s.show = nil
	}
	s.id, s.at, s.cpu = a.life.ID, at, u.CPU
	figures := city.Usage{RSS: u.RSS, Procs: u.Procs}
	if used > 0 && passed > 0 { // what a process had used goes with it
		figures.CPU = math.Round(1000*float64(used)/float64(passed)) / 10
	}
	if s.show == nil || s.show.CPU != figures.CPU || s.show.Procs != figures.Procs ||
		s.show.RSS/shownRSS != figures.RSS/shownRSS {
		shown := figures // of its own: most samples show nothing new
		s.show = &shown
	}
}

// usage is what is shown of the life that an agent is in, nil if nothing is known of it.
func (a *record) usage() *city.Usage {
	if a.sample.id != a.life.ID {
		return nil
	}
	return a.sample.show
}
