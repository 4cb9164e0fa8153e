package machine

import (
	"math"
	"time"

	"gcity/agent"
	"gcity/pool"
)

// has reports whether the pool currently wants the member with this index.
func (p *poolRecord) has(index int) bool { return index < len(p.in) && p.in[index] }

// fit resizes the list of wanted members to the possible number of members.
func (p *poolRecord) fit() {
	in := make([]bool, len(p.members)+1)
	copy(in, p.in)
	p.in = in
}

// choose selects the wanted members with pool.Choose. Members with work leave last. So before any member leaves,
// choose waits for a count of work that started after the decision. The first choice accepts any count, and is
// provisional until it has one and all sessions are known.
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
		// a drained member restarts when the pool wants it again
		if a := ps.m.agents[w.Name]; a != nil && a.rest.staysDown && all[i].In {
			a.rest.staysDown, a.rest.final, a.rest.hold, a.rest.holdWhy = false, false, "", ""
		}
	}
}

// picks reports whether the first choice depends on which members are busy, and no work has been counted yet.
func (ps *poolSizes) picks(all []pool.Standing, n int) bool {
	living := 0
	for _, s := range all {
		if s.Alive && !s.Leaving {
			living++
		}
	}
	return 0 < n && n < len(all) && (living > n || living < n && ps.m.work.countedTurn == 0)
}

// guessed reports whether the choice of members is provisional. No member is stopped because of such a choice.
func (p *poolRecord) guessed() bool { return p != nil && p.asks > 0 && !p.placed }

// standings returns the state of each possible member of a pool.
func (ps *poolSizes) standings(p *poolRecord) []pool.Standing {
	all := make([]pool.Standing, len(p.members))
	for i, w := range p.members {
		s := pool.Standing{In: p.placed && p.has(w.Index), Working: ps.m.work.tasks[w.Name] != ""}
		if a := ps.m.agents[w.Name]; a != nil && a.phase.Alive() && !a.phase.Stopping() {
			s.Alive = a.finish.drain == nil || !a.finish.drain.acked
			s.Leaving = a.finish.drain != nil
		}
		all[i] = s
	}
	return all
}

// wanted returns how many members are wanted. It is more than the size while a smaller choice waits for a count.
func (p *poolRecord) wanted() int {
	n := 0
	for _, in := range p.in {
		if in {
			n++
		}
	}
	return n
}

// informed reports whether all that can be known about busy members is known: from a new count, or without counts.
func (ps *poolSizes) informed() bool {
	return ps.m.conf.NoWork || ps.m.work.countedTurn == ps.m.turn || ps.m.ending != alive
}

// chosen makes the choice in the pools that waited for a count requested in this turn or earlier.
func (ps *poolSizes) chosen(now time.Time, ordered uint64) {
	for _, p := range ps.poolOrder {
		if p.asks > 0 && p.asks <= ordered {
			ps.populate(now, p)
		}
	}
}

// sizeFor returns the smallest pool size at which pool.Choose keeps this member.
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

// populate chooses the wanted members according to the pool's size, creates missing records, and decides about each
// member.
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

// memberWant returns the declaration of the possible pool member with this name, or nil if there is none.
func (ps *poolSizes) memberWant(name string) *agent.Want {
	for _, p := range ps.poolOrder {
		if i := p.want.Index(name); i > 0 && i <= len(p.members) {
			return p.members[i-1]
		}
	}
	return nil
}

// member assigns an agent to the pool that its name belongs to, although the pool may not want it or allow its
// index.
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
