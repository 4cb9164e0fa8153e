package machine

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"gcity/agent"
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
func (m *Machine) dependents(names ...string) []*record {
	m.index()
	out := m.after[names[0]]
	for _, name := range names[1:] {
		out = slices.Concat(out, m.after[name])
	}
	return out
}

// index makes the two ways through the dependencies anew, where records have come or gone since.
func (m *Machine) index() {
	if m.after != nil {
		return
	}
	m.after, m.named = map[string][]*record{}, map[string][]*record{}
	for _, a := range m.order {
		for _, need := range a.needs {
			m.after[need] = append(m.after[need], a)
		}
		for _, name := range a.names() {
			m.named[name] = append(m.named[name], a)
		}
	}
}

// isUp reports that whoever depends on an agent may start: it runs, or has ended as it was meant to.
func (a *record) isUp() bool {
	if a.alive {
		return a.ready && a.op == opNone
	}
	return a.left && a.hold == city.Exited && a.exit != nil && a.exit.Code == 0 &&
		a.exit.Signal == ""
}

// missing says what an agent waits for, "" if for nothing.
func (m *Machine) missing(a *record) string {
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
func (m *Machine) standing(name string) (how string, up bool) {
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

func (m *Machine) poolStanding(p *poolRecord) (how string, up bool) {
	if p.want.Suspended != "" {
		return fmt.Sprintf("pool %s (suspended %s)", p.name(), p.want.Suspended), false
	}
	if p.desired == 0 {
		return "", true
	}
	for _, w := range p.members {
		if a := m.agents[w.Name]; a != nil && p.has(w.Index) && a.isUp() {
			return "", true
		}
	}
	return fmt.Sprintf("pool %s (no member runs)", p.name()), false
}

// ripple asks those again whose place in the order depends on what has just changed: who needs it may start, and
// whom it needs may end.
func (m *Machine) ripple(now time.Time) {
	if !m.ordered {
		return
	}
	for again := true; again; {
		again = false
		for i := range m.order {
			a := m.order[i]
			up, there := a.isUp(), a.alive || a.op != opNone
			if up == a.wasUp && there == a.wasThere {
				continue
			}
			a.wasUp, a.wasThere, again = up, there, true
			for _, d := range m.dependents(a.names()...) {
				m.decide(now, d)
			}
			if there {
				continue
			}
			for _, need := range a.needs { // it may have waited for this one to end
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
func (m *Machine) decideNamed(now time.Time, name string) {
	m.index()
	for _, a := range m.named[name] {
		if a.state == city.Stopping && a.op == opNone {
			m.decide(now, a)
		}
	}
}

// leavesLater names those who are about to end too and depend on an agent: they end before it does.
func (m *Machine) leavesLater(a *record) string {
	if !m.ordered || m.hurried {
		return ""
	}
	for _, d := range m.dependents(a.names()...) {
		going := m.ending == stopAgents || d.want == nil || d.want.Suspended != ""
		if d == a || !going || !d.alive && d.op == opNone {
			continue
		}
		if d.want == nil && m.needsAny(a, d.names()) { // what it needed once needs it now
			continue
		}
		return d.name
	}
	return ""
}

// needsAny reports whether an agent needs one of these names, directly or not.
func (m *Machine) needsAny(a *record, names []string) bool {
	m.index()
	seen := map[*record]bool{a: true}
	for queue := []*record{a}; len(queue) > 0; queue = queue[1:] {
		for _, need := range queue[0].needs {
			if slices.Contains(names, need) {
				return true
			}
			for _, o := range m.named[need] {
				if !seen[o] {
					seen[o] = true
					queue = append(queue, o)
				}
			}
		}
	}
	return false
}

// spread restarts those who share an agent's fate, after it has crashed.
func (m *Machine) spread(now time.Time, a *record) {
	if a.want == nil || !m.ordered {
		return
	}
	why := fmt.Sprintf("restarted with %s, which crashed (%s)", a.name, a.want.Strategy)
	for _, other := range m.fellows(a) {
		if other == a || !other.alive || other.op != opNone || other.drain != nil ||
			other.unwanted() || other.intent.kind != causeNone {
			continue
		}
		other.intent = cause{kind: causeFellow, why: why}
		m.decide(now, other)
	}
}

// fellows are those whose fate an agent's strategy ties to its own, in name order, itself among them.
func (m *Machine) fellows(a *record) []*record {
	if a.want.Strategy != restart.OneForAll && a.want.Strategy != restart.RestForOne {
		return nil
	}
	in := map[*record]bool{a: true}
	for queue := []*record{a}; len(queue) > 0; queue = queue[1:] {
		next := slices.Clone(m.dependents(queue[0].names()...))
		if a.want.Strategy == restart.OneForAll {
			for _, need := range queue[0].needs {
				next = append(next, m.named[need]...)
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

// depth is the length of the longest chain of dependencies: so many graces may pass one after the other when all
// ends.
func depth(wants []agent.Want) int {
	needs := map[string][]string{}
	for i := range wants {
		w := &wants[i]
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
