package machine

import (
	"math"
	"time"

	"gcity/agent"
	"gcity/pool"
)

// has reports that the member of an index is wanted.
func (p *poolRecord) has(index int) bool { return index < len(p.in) && p.in[index] }

// fit makes room for all possible members, and forgets those that are possible no longer.
func (p *poolRecord) fit() {
	in := make([]bool, len(p.members)+1)
	copy(in, p.in)
	p.in = in
}

// choose settles who of a pool is wanted: pool.Choose says who leaves and who comes back. Before some leave it is
// found out who is at work, by a count that begins no earlier than their leaving is decided; and before anybody is
// first picked, by any count. As long as that is awaited, or not all sessions have been seen, a first choice is a
// guess, and made anew then.
func (ps *poolSizes) choose(p *poolRecord) {
	all, n := ps.standings(p), min(p.desired, len(p.members))
	wait := !ps.informed() && (p.placed && p.wanted() > n || !p.placed && ps.m.looks.listed &&
		ps.picks(all, n))
	if wait && p.asks == 0 {
		p.asks, ps.m.step.Changed = ps.m.turn, true
		ps.m.work.count()
	}
	switch {
	case wait && p.placed:
		return
	case !wait:
		p.asks, p.placed = 0, ps.m.looks.listed
	}
	pool.Choose(all, n)
	for i, w := range p.members {
		if all[i].In == p.in[w.Index] {
			continue
		}
		p.in[w.Index], ps.m.step.Changed = all[i].In, true
		// who was let go, and is wanted again, begins anew
		if a := ps.m.agents[w.Name]; a != nil && a.rest.left && all[i].In {
			a.rest.left, a.rest.final, a.rest.hold, a.rest.holdWhy = false, false, "", ""
		}
	}
}

// picks reports that it matters for a first choice who is at work: some of those who live are to leave, or some of
// those who do not are to begin, and no work has been counted yet.
func (ps *poolSizes) picks(all []pool.Standing, n int) bool {
	living := 0
	for _, s := range all {
		if s.Alive && !s.Leaving {
			living++
		}
	}
	return 0 < n && n < len(all) && (living > n || living < n && ps.m.work.told == 0)
}

// guessed reports that who of a pool is wanted is not settled before its work has been counted: nobody leaves for it.
func (p *poolRecord) guessed() bool { return p != nil && p.asks > 0 && !p.placed }

// standings are how all possible members of a pool stand.
func (ps *poolSizes) standings(p *poolRecord) []pool.Standing {
	all := make([]pool.Standing, len(p.members))
	for i, w := range p.members {
		s := pool.Standing{In: p.placed && p.has(w.Index), Working: ps.m.work.tasks[w.Name] != ""}
		if a := ps.m.agents[w.Name]; a != nil && a.sess.alive && a.act.op != opStop {
			s.Alive = a.finish.drain == nil || !a.finish.drain.acked
			s.Leaving = a.finish.drain != nil
		}
		all[i] = s
	}
	return all
}

// wanted is how many members are wanted; while it is being found out who leaves, more than are to stay.
func (p *poolRecord) wanted() int {
	n := 0
	for _, in := range p.in {
		if in {
			n++
		}
	}
	return n
}

// informed reports that it is known who is at work, as well as it can be: from a count that has just come back, or
// nobody counts here.
func (ps *poolSizes) informed() bool {
	return ps.m.conf.NoWork || ps.m.work.told == ps.m.turn || ps.m.ending != alive
}

// chosen lets those pools go on that have waited for a count which began in that turn.
func (ps *poolSizes) chosen(now time.Time, ordered uint64) {
	for _, p := range ps.poolOrder {
		if p.asks > 0 && p.asks <= ordered {
			ps.populate(now, p)
		}
	}
}

// sizeFor is the smallest size at which a pool would keep a member.
func (ps *poolSizes) sizeFor(a *record) int {
	p := a.pool
	for n := p.desired + 1; n < len(p.members); n++ {
		all := ps.standings(p)
		if pool.Choose(all, n); all[a.want.Index-1].In {
			return n
		}
	}
	return len(p.members)
}

// populate sees to it that as many members are wanted as the pool's size says, that each of them has a record, and
// decides about each member that there is.
func (ps *poolSizes) populate(now time.Time, p *poolRecord) {
	ps.choose(p)
	for _, w := range p.members {
		if _, known := ps.m.agents[w.Name]; !known && p.has(w.Index) {
			ps.m.record(now, w.Name).join(p, w)
		}
	}
	for _, a := range ps.m.order {
		if a.pool == p {
			ps.m.decide(now, a)
		}
	}
}

// memberWant finds the want of a name that a pool can have a member of, nil if none can.
func (ps *poolSizes) memberWant(name string) *agent.Want {
	for _, p := range ps.poolOrder {
		if i := p.want.Index(name); i > 0 && i <= len(p.members) {
			return p.members[i-1]
		}
	}
	return nil
}

// member finds the pool that a session belongs to which was found: it may be one that the pool does not want now, or
// one beyond a maximum that was lowered.
func (ps *poolSizes) member(a *record) {
	if w := ps.memberWant(a.name); w != nil {
		a.join(ps.pools[w.Pool], w)
		return
	}
	for _, p := range ps.poolOrder {
		any := pool.Spec{Name: p.name(), Max: math.MaxInt}
		if a.name == p.name() || any.Index(a.name) > 0 {
			a.pool = p
			return
		}
	}
}
