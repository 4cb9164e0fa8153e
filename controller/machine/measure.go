package machine

import (
	"slices"
	"time"

	"gcity/city"
	"gcity/controller/effect"
	"gcity/controller/usage"
)

const (
	// minimum age of the latest sample before a patrol takes a new one: a minute, minus jitter
	measureIdle = 55 * time.Second
	// while no agent uses processor time or prints output
	measureRest = 8 * time.Minute
	// while a client is watching: 2 s, minus the jitter of the loop's pulse
	measureWatched = 1900 * time.Millisecond
)

type gauge struct {
	m *Machine

	// able: the provider can measure; atRest: the latest sample changed nothing
	able, busy, atRest bool
	ordered            time.Time
	step               uint64
	problem            string
}

func (ga *gauge) measure(now time.Time, age time.Duration) {
	if !ga.able || ga.busy || ga.m.oneShot || ga.m.ending != running || now.Sub(ga.ordered) < age ||
		!slices.ContainsFunc(ga.m.order, func(a *record) bool { return a.phase.Alive() }) {
		return
	}
	ga.busy, ga.ordered, ga.step = true, now, ga.m.stepNumber
	ga.m.step.Do(effect.Measure{})
}

func (g *gauge) age(agents []*record) time.Duration {
	age := measureRest
	for _, a := range agents {
		if a.phase.Alive() && a.phase.Step() > g.step {
			return 0 // its session is newer than the latest sample
		}
		if !g.atRest || a.phase.Alive() && !a.sess.sample.Current(&a.sess.life) {
			age = measureIdle
		}
	}
	return age
}

// if no displayed figure changes, no snapshot is published (L5)
func (ga *gauge) measured(in effect.Measured) {
	ga.busy, ga.atRest = false, in.Err == nil
	ga.m.step.Lose(&ga.problem, "the resources used by the agents' processes cannot be measured",
		in.Err)
	for _, a := range ga.m.order {
		// the sample might be from an earlier session
		if !a.phase.Alive() || a.phase.Step() > ga.step {
			continue
		}
		shown, before := a.usage(), a.sess.sample
		u, ok := in.Usage[a.sess.life.Name]
		if a.sess.sample.Take(&a.sess.life, u, in.At); !ok {
			a.sess.sample = usage.Sample{}
		}
		ga.m.step.Changed = ga.m.step.Changed || a.usage() != shown
		ga.atRest = ga.atRest && a.sess.sample.Same(before, a.sess.life.ID)
	}
}

func (a *record) usage() *city.Usage { return a.sess.sample.Shown(a.sess.life.ID) }
