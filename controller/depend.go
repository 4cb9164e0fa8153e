package controller

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"gcity/city"
	"gcity/restart"
)

// names are those by which others may depend on an agent: its own and its pool's.
func (a *record) names() []string {
	if a.pool != nil && a.pool.name() != a.name {
		return []string{a.name, a.pool.name()}
	}
	return []string{a.name}
}

// dependents gives the records that depend on one of these names. The index is made anew after records came or went.
func (m *machine) dependents(names ...string) []*record {
	if m.after == nil {
		m.after = map[string][]*record{}
		for _, a := range m.order {
			for _, need := range a.needs {
				m.after[need] = append(m.after[need], a)
			}
		}
	}
	out := m.after[names[0]]
	for _, name := range names[1:] {
		out = slices.Concat(out, m.after[name])
	}
	return out
}

// isUp reports that whoever depends on an agent may start: it runs, or has ended as it was meant to.
func (a *record) isUp() bool {
	if a.alive {
		return a.ready && a.op == opNone
	}
	return a.left && a.hold == city.Exited && a.exit != nil && a.exit.Code == 0 && a.exit.Signal == ""
}

// missing says what an agent waits for, "" if for nothing.
func (m *machine) missing(a *record) string {
	var out []string
	for _, need := range a.want.DependsOn {
		if how, up := m.standing(need); !up {
			out = append(out, how)
		}
	}
	if len(out) == 0 {
		return ""
	}
	return "waits for " + strings.Join(out, ", ")
}

// standing tells whether a dependency is up, and if not how it stands.
func (m *machine) standing(name string) (how string, up bool) {
	if p := m.pools[name]; p != nil {
		return m.poolStanding(p)
	}
	a := m.agents[name]
	switch {
	case a == nil || a.want == nil:
		return name + " (not declared)", false
	case a.isUp():
		return "", true
	}
	return fmt.Sprintf("%s (%s)", name, a.state), false
}

func (m *machine) poolStanding(p *poolRecord) (how string, up bool) {
	if p.want.Suspended != "" {
		return fmt.Sprintf("pool %s (suspended %s)", p.name(), p.want.Suspended), false
	}
	if p.desired == 0 {
		return "", true
	}
	for _, w := range p.members[:min(p.desired, len(p.members))] {
		if a := m.agents[w.Name]; a != nil && a.isUp() {
			return "", true
		}
	}
	return fmt.Sprintf("pool %s (no member runs)", p.name()), false
}

// ripple asks those again whose place in the order depends on what has just changed: who needs it may start, and whom it
// needs may end.
func (m *machine) ripple(now time.Time) {
	if !m.ordered {
		return
	}
	for again := true; again; {
		again = false
		for i := 0; i < len(m.order); i++ {
			a := m.order[i]
			up, there := a.isUp(), a.alive || a.op != opNone
			if up == a.wasUp && there == a.wasThere {
				continue
			}
			a.wasUp, a.wasThere, again = up, there, true
			for _, d := range m.dependents(a.names()...) {
				m.decide(now, d)
			}
			for _, need := range a.needs {
				m.decideNamed(now, need)
			}
		}
		for _, p := range m.poolOrder { // a pool that wants nobody is up
			if empty := p.desired == 0; empty != p.wasEmpty {
				p.wasEmpty, again = empty, true
				for _, d := range m.dependents(p.name()) {
					m.decide(now, d)
				}
			}
		}
	}
}

// decideNamed decides about an agent, or a pool's members.
func (m *machine) decideNamed(now time.Time, name string) {
	for _, a := range m.order {
		if a.name == name || a.pool != nil && a.pool.name() == name {
			m.decide(now, a)
		}
	}
}

// leavesLater names those who are about to end too and depend on an agent: they end before it does.
func (m *machine) leavesLater(a *record) string {
	if !m.ordered || m.hurried {
		return ""
	}
	for _, d := range m.dependents(a.names()...) {
		going := m.ending == stopAgents || d.want == nil || d.want.Suspended != ""
		if d != a && going && (d.alive || d.op != opNone) {
			return d.name
		}
	}
	return ""
}

// spread restarts those who share an agent's fate, after it has crashed.
func (m *machine) spread(now time.Time, a *record) {
	if a.want == nil || !m.ordered {
		return
	}
	why := fmt.Sprintf("restarted with %s, which crashed (%s)", a.name, a.want.Strategy)
	for _, other := range m.fellows(a) {
		if other == a || !other.alive || other.op != opNone || other.unwanted() || other.intent.kind != causeNone {
			continue
		}
		other.intent = cause{causeFellow, why}
		m.decide(now, other)
	}
}

// fellows are those whose fate an agent's strategy ties to its own, in name order, itself among them.
func (m *machine) fellows(a *record) []*record {
	if a.want.Strategy != restart.OneForAll && a.want.Strategy != restart.RestForOne {
		return nil
	}
	in := map[*record]bool{a: true}
	for queue := []*record{a}; len(queue) > 0; queue = queue[1:] {
		next := slices.Clone(m.dependents(queue[0].names()...))
		if a.want.Strategy == restart.OneForAll {
			for _, need := range queue[0].needs {
				for _, o := range m.order {
					if slices.Contains(o.names(), need) {
						next = append(next, o)
					}
				}
			}
		}
		for _, o := range next {
			if !in[o] {
				in[o] = true
				queue = append(queue, o)
			}
		}
	}
	var out []*record
	for _, o := range m.order {
		if in[o] {
			out = append(out, o)
		}
	}
	return out
}

// depth is the length of the longest chain of dependencies: so many graces may pass one after the other when all ends.
func depth(c *conf) int {
	needs := map[string][]string{}
	for i := range c.wants {
		w := &c.wants[i]
		needs[w.Declared] = w.DependsOn
	}
	known := map[string]int{}
	var of func(name string) int
	of = func(name string) int {
		if d, ok := known[name]; ok {
			return d
		}
		known[name] = 1 // whatever a cycle would do: the configuration has refused it
		deepest := 0
		for _, need := range needs[name] {
			deepest = max(deepest, of(need))
		}
		known[name] = deepest + 1
		return deepest + 1
	}
	longest := 1
	for name := range needs {
		longest = max(longest, of(name))
	}
	return longest
}
