package machine

import (
	"time"

	"gcity/controller/effect"
	"gcity/controller/pools"
	"gcity/controller/rollout"
	"gcity/events"
)

// poolCity implements the view of the city that controller/pools uses.
type poolCity struct{ runsCity }

func (c poolCity) Listed() bool             { return c.m.lists.listed }
func (c poolCity) Step() uint64             { return c.m.stepNumber }
func (c poolCity) IsAgent(name string) bool { return c.m.agents[name] != nil }

func (c poolCity) Work() pools.Work {
	wk := &c.m.work
	// while no controller is running, open work does not change the size of a pool
	return pools.Work{Counted: wk.counted && c.m.observes == nil, CountedStep: wk.countedStep,
		AsOf: wk.asOf, Pools: wk.counts.Pools, Tasks: wk.tasks, Uncounted: wk.uncounted}
}

func (c poolCity) Record(e events.Event) {
	c.m.journal.inOrder(queuedRecord{Record: effect.Record{Event: e}})
}

func (c poolCity) Session(name string) (alive, leaving bool) {
	a := c.m.agents[name]
	if a == nil || !a.phase.Alive() || a.phase.Stopping() {
		return false, false
	}
	d := a.drain.current
	return d == nil || !d.acked, d != nil
}

func (c poolCity) Found(p *pools.Pool) int {
	found := 0
	for _, a := range c.m.order {
		if a.pool == p && a.want != nil && a.belonged() {
			found++
		}
	}
	return found
}

// belonged reports whether the previous controller wanted a member that was found. It did if the member is running
// and not being drained by its pool, or if it has exited and was not draining.
func (a *record) belonged() bool {
	if !a.phase.Alive() {
		return a.sess.exit != nil && !a.sess.life.Drain.On()
	}
	return a.drain.current == nil || a.drain.current.by != byPool
}

func (c poolCity) WantedAgain(name string) {
	if a := c.m.agents[name]; a != nil {
		a.restart.wantedAgain()
	}
}

func (c poolCity) Populate(now time.Time, p *pools.Pool) {
	for _, w := range p.Members {
		if _, known := c.m.agents[w.Name]; !known && p.Has(w.Index) {
			c.m.join(c.m.record(now, w.Name), p, w)
		}
	}
	for _, a := range c.m.order {
		if a.pool == p {
			c.m.decide(now, a)
		}
	}
}

// Member returns the state of a pool's member for a rollout.
func (c poolCity) Member(name string) (rollout.Member, bool) {
	a := c.m.agents[name]
	if a == nil || a.unwanted() {
		return rollout.Member{}, false
	}
	m := rollout.Member{State: a.state, Reason: a.reason, Busy: a.phase.InFlight(),
		Starts: a.phase.Starting(), Due: a.act.intent.kind == causeRestart}
	if a.phase.Alive() {
		m.Life = a.sess.life.ID
	}
	return m, true
}

func (c poolCity) Restart(now time.Time, name string) (why string) {
	a := c.m.agents[name]
	if why := c.m.commands.noRestart(a); why != "" {
		return why
	}
	c.m.commands.startAgain(now, a)
	return ""
}
