package pools

import (
	"math"
	"time"

	"gcity/agent"
	"gcity/controller/effect"
	"gcity/pool"
)

// Has reports whether the pool currently wants the member with this index.
func (p *Pool) Has(index int) bool { return index < len(p.wantedAt) && p.wantedAt[index] }

func (p *Pool) fit() {
	in := make([]bool, len(p.Members)+1)
	copy(in, p.wantedAt)
	p.wantedAt = in
}

// choose waits for a new count before it removes a member, because members with work leave last.
func (ps *Pools) choose(p *Pool) {
	all, n, before := ps.candidates(p), min(p.Desired, len(p.Members)), p.final
	wait := !ps.informed() && (p.final && p.wanted() > n || !p.final && ps.city.Listed() &&
		ps.dependsOnWork(all, n))
	if wait && p.countStep == 0 {
		p.countStep, ps.out.Changed = ps.city.Step(), true
		ps.city.CountWork()
	}
	switch {
	case wait && p.final:
		return
	case !wait:
		p.countStep, p.final = 0, ps.city.Listed()
	}
	pool.Choose(all, n)
	for i, w := range p.Members {
		if all[i].In == p.wantedAt[w.Index] {
			continue
		}
		p.wantedAt[w.Index], ps.out.Changed = all[i].In, true
		if all[i].In && before {
			ps.city.WantedAgain(w.Name)
		}
	}
}

func (ps *Pools) dependsOnWork(all []pool.Candidate, n int) bool {
	living := 0
	for _, s := range all {
		if s.Alive && !s.Leaving {
			living++
		}
	}
	return 0 < n && n < len(all) && (living > n || living < n && ps.city.Work().CountedStep == 0)
}

// Provisional reports whether the choice of members is provisional. A provisional choice never stops a member.
func (p *Pool) Provisional() bool { return p != nil && p.countStep > 0 && !p.final }

func (ps *Pools) candidates(p *Pool) []pool.Candidate {
	all, tasks := make([]pool.Candidate, len(p.Members)), ps.city.Work().Tasks
	for i, w := range p.Members {
		all[i] = pool.Candidate{In: p.final && p.Has(w.Index), Working: tasks[w.Name] != ""}
		all[i].Alive, all[i].Leaving = ps.city.Session(w.Name)
	}
	return all
}

// wanted returns the number of wanted members. It can exceed a reduced size until work has been counted again.
func (p *Pool) wanted() int {
	n := 0
	for _, in := range p.wantedAt {
		if in {
			n++
		}
	}
	return n
}

func (ps *Pools) informed() bool {
	return ps.city.Configuration().NoWork || ps.city.Work().CountedStep == ps.city.Step() ||
		!ps.city.Running()
}

// Chosen chooses the members of pools that waited for a count of work. ordered is the step in which the count was
// requested.
func (ps *Pools) Chosen(now time.Time, ordered uint64) {
	for _, p := range ps.order {
		if p.countStep > 0 && p.countStep <= ordered {
			ps.populate(now, p)
		}
	}
}

// SizeFor returns the smallest size at which pool.Choose keeps the member with this index.
func (ps *Pools) SizeFor(p *Pool, index int) int {
	for n := p.Desired + 1; n < len(p.Members); n++ {
		all := ps.candidates(p)
		if pool.Choose(all, n); all[index-1].In {
			return n
		}
	}
	return len(p.Members)
}

func (ps *Pools) populate(now time.Time, p *Pool) {
	ps.choose(p)
	ps.city.Populate(now, p)
}

// MemberWant returns the declaration of the possible member with this name, or nil.
func (ps *Pools) MemberWant(name string) *agent.Want {
	for _, p := range ps.order {
		if i := p.Want.Index(name); i > 0 && i <= len(p.Members) {
			return p.Members[i-1]
		}
	}
	return nil
}

// Inherit sets Former from the agents that the previous controller saved. Adopt removes the declared agents from it.
func (ps *Pools) Inherit(agents map[string]effect.SavedAgent) {
	ps.Former = map[string]*Pool{}
	for name, a := range agents {
		if m := a.Member; m.Pool != "" {
			ps.Former[name] = &Pool{final: true, Want: &agent.Pool{
				Spec: pool.Spec{Name: m.Pool}, DrainTimeout: m.DrainTimeout}}
		}
	}
}

// Of returns the pool that an agent's name belongs to, which may have been removed. w is nil if the pool has no such
// member.
func (ps *Pools) Of(name string) (p *Pool, w *agent.Want) {
	if w := ps.MemberWant(name); w != nil {
		return ps.byName[w.Pool], w
	}
	for _, p := range ps.order {
		any := pool.Spec{Name: p.Name(), Max: math.MaxInt}
		if name == p.Name() || any.Index(name) > 0 {
			return p, nil
		}
	}
	return ps.Former[name], nil
}
