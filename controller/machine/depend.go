package machine

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"gcity/city"
	"gcity/controller/pools"
	"gcity/restart"
)

func (ds *dependencies) dependents(names ...string) []*record {
	ds.index()
	out := ds.after[names[0]]
	for _, name := range names[1:] {
		out = slices.Concat(out, ds.after[name])
	}
	return out
}

func (ds *dependencies) index() {
	if ds.after != nil {
		return
	}
	ds.after, ds.named = map[string][]*record{}, map[string][]*record{}
	for _, a := range ds.m.order {
		for _, need := range a.needs {
			ds.after[need] = append(ds.after[need], a)
		}
		for _, name := range a.names() {
			ds.named[name] = append(ds.named[name], a)
		}
	}
}

func (ds *dependencies) missing(a *record) string {
	var out []string
	for _, need := range a.want.DependsOn {
		if how, up := ds.status(need); !up {
			out = append(out, how)
		}
	}
	if len(out) == 0 {
		return ""
	}
	return "waits for " + strings.Join(out, ", ")
}

type dependencyStatus struct {
	how string
	up  bool
}

// remember makes status compute each status only once, until forget is called. The caller must not change the state of
// an agent in between.
func (ds *dependencies) remember() (forget func()) {
	ds.known = map[string]dependencyStatus{}
	return func() { ds.known = nil }
}

func (ds *dependencies) status(name string) (how string, up bool) {
	if s, found := ds.known[name]; found {
		return s.how, s.up
	}
	how, up = ds.statusNow(name)
	if ds.known != nil {
		ds.known[name] = dependencyStatus{how, up}
	}
	return how, up
}

func (ds *dependencies) statusNow(name string) (how string, up bool) {
	if p := ds.m.pools.Get(name); p != nil {
		return ds.poolStatus(p)
	}
	a := ds.m.agents[name]
	switch {
	case a == nil || a.want == nil:
		return name + " (not declared)", false
	case a.isUp():
		return "", true
	}
	return fmt.Sprintf("%s (%s)", name, a.state), false
}

func (ds *dependencies) poolStatus(p *pools.Pool) (how string, up bool) {
	if p.Want.Suspended.On() {
		return fmt.Sprintf("pool %s (%s)", p.Name(), p.Want.Suspended), false
	}
	if p.Desired == 0 {
		return "", true
	}
	for _, w := range p.Members {
		if a := ds.m.agents[w.Name]; a != nil && p.Has(w.Index) && a.isUp() {
			return "", true
		}
	}
	return fmt.Sprintf("pool %s (no member is running)", p.Name()), false
}

func (ds *dependencies) decideRelated(now time.Time) {
	for again := true; again; {
		again = false
		for i := range ds.m.order {
			a := ds.m.order[i]
			up, there := a.isUp(), !a.phase.Idle()
			if up == a.wasUp && there == a.wasThere {
				continue
			}
			a.wasUp, a.wasThere, again = up, there, true
			for _, d := range ds.dependents(a.names()...) {
				ds.m.decide(now, d)
			}
			if there {
				continue
			}
			for _, need := range a.needs {
				ds.decideNamed(now, need)
			}
		}
		for _, p := range ds.m.pools.All() {
			if p.EmptyChanged() {
				again = true
				for _, d := range ds.dependents(p.Name()) {
					ds.m.decide(now, d)
				}
			}
		}
	}
}

func (ds *dependencies) decideNamed(now time.Time, name string) {
	ds.index()
	for _, a := range ds.named[name] {
		if a.state == city.Stopping && !a.phase.InFlight() {
			ds.m.decide(now, a)
		}
	}
}

func (ds *dependencies) mustStopFirst(a *record) string {
	if !ds.ordered || ds.m.cityStop.hurried {
		return ""
	}
	for _, d := range ds.dependents(a.names()...) {
		going := ds.m.ending == stopAgents || d.want == nil || d.want.Suspended.On()
		if d == a || !going || d.phase.Idle() {
			continue
		}
		// a cycle is possible, because a removed agent keeps its dependencies
		if d.want == nil && ds.needsAny(a, d.names()) {
			continue
		}
		return d.name
	}
	return ""
}

func (ds *dependencies) needsAny(a *record, names []string) bool {
	ds.index()
	seen := map[*record]bool{a: true}
	for queue := []*record{a}; len(queue) > 0; queue = queue[1:] {
		for _, need := range queue[0].needs {
			if slices.Contains(names, need) {
				return true
			}
			for _, o := range ds.named[need] {
				if !seen[o] {
					seen[o] = true
					queue = append(queue, o)
				}
			}
		}
	}
	return false
}

func (ds *dependencies) restartCoupled(now time.Time, a *record) {
	why := fmt.Sprintf("restarted because %s crashed (%s)", a.name, a.want.Strategy)
	for _, other := range ds.coupledAgents(a) {
		if other == a || !other.phase.Alive() || other.phase.InFlight() ||
			other.drain.current != nil || other.unwanted() || other.want.Problem != "" ||
			other.act.intent.kind != causeNone {
			continue
		}
		other.act.intent = cause{kind: causeStrategy, why: why}
		ds.m.decide(now, other)
	}
}

func (ds *dependencies) coupledAgents(a *record) []*record {
	if a.want.Strategy != restart.OneForAll && a.want.Strategy != restart.RestForOne {
		return nil
	}
	in := map[*record]bool{a: true}
	for queue := []*record{a}; len(queue) > 0; queue = queue[1:] {
		next := slices.Clone(ds.dependents(queue[0].names()...))
		if a.want.Strategy == restart.OneForAll {
			for _, need := range queue[0].needs {
				next = append(next, ds.named[need]...)
			}
		}
		for _, o := range next {
			if !in[o] {
				in[o] = true
				queue = append(queue, o)
			}
		}
	}
	return slices.DeleteFunc(slices.Clone(ds.m.order), func(o *record) bool { return !in[o] })
}

type dependencies struct {
	m *Machine

	after   map[string][]*record // by name; nil = must be rebuilt
	ordered bool
	// agents by name and by pool name; nil = must be rebuilt
	named map[string][]*record
	depth int
	// nil unless a snapshot is being created; see remember
	known map[string]dependencyStatus
}
