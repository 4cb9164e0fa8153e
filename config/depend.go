package config

import (
	"fmt"
	"gcity/config/keys"
	"gcity/internal/toml"
	"maps"
	"slices"
	"strings"
)

type dependencies struct{ *loading }

func (d dependencies) depend() {
	for a := range d.agents {
		for n, name := range a.DependsOn {
			if d.full() {
				d.truncated = true
				return
			}
			other, msg := d.needed(a, name)
			if other == nil && msg == "" {
				continue
			}
			if msg != "" {
				d.addError(a.Origins["depends_on"], "agents.depends_on",
					"item %d, %q, %s", n+1, name, msg)
				continue
			}
			a.Needs = append(a.Needs, other.Qualified())
		}
		slices.Sort(a.Needs)
		a.Needs = slices.Compact(a.Needs)
	}
	d.checkCycles()
}

// needed returns the agent or pool that a name refers to, or nil and the reason. An empty reason means that an
// unreadable file might declare the name.
func (d dependencies) needed(a *Agent, name string) (*Agent, string) {
	var at []string
	if a.Rig != "" && !strings.Contains(name, "/") {
		at = append(at, a.Rig+"/"+name)
	}
	at = append(at, name)
	self := false
	for _, q := range at {
		other := d.agentsByName[q]
		switch {
		case other == nil:
		case other == a:
			self = true
		case other.Qualified() != q:
			return nil, fmt.Sprintf("is a member of the pool %q; depend on the pool, which is "+
				"ready when one of its members is running", other.Qualified())
		default:
			return other, ""
		}
	}
	rig, _ := cutRig(name)
	if !self && d.failedSources.affects("", a.Rig, rig) {
		return nil, ""
	}
	if self {
		return nil, "is this agent itself; remove it"
	}
	return nil, "is neither an agent nor a pool" + d.suggestion(name, a)
}

func (d dependencies) suggestion(name string, asker *Agent) string {
	_, bare := cutRig(name)
	var same, spelled []string
	for _, q := range slices.Sorted(maps.Keys(d.agentsByName)) {
		a := d.agentsByName[q]
		if a.Qualified() != q || a == asker {
			continue
		}
		if a.Name == bare {
			same = append(same, q)
		}
		spelled = append(spelled, q, a.Name)
	}
	if len(same) > 0 {
		return fmt.Sprintf("; known names are %s", toml.List(same))
	}
	return keys.DidYouMean(name, spelled)
}

func cutRig(name string) (rig, bare string) {
	if rig, bare, ok := strings.Cut(name, "/"); ok {
		return rig, bare
	}
	return "", name
}

// checkCycles reports dependency cycles. If cycles overlap, it can miss some of them.
func (d dependencies) checkCycles() {
	const (
		open = 1 + iota
		done
	)
	state, reported := map[*Agent]int{}, map[*Agent]bool{}
	var path []*Agent
	var visit func(a *Agent)
	visit = func(a *Agent) {
		state[a] = open
		path = append(path, a)
		for _, name := range a.Needs {
			switch other := d.agentsByName[name]; state[other] {
			case 0:
				visit(other)
			case open:
				if reported[a] && reported[other] || d.full() {
					continue
				}
				d.addCycle(path[slices.Index(path, other):], reported)
			}
		}
		path = path[:len(path)-1]
		state[a] = done
	}
	for a := range d.agents {
		if state[a] == 0 {
			visit(a)
		}
	}
}

func (d dependencies) addCycle(agents []*Agent, reported map[*Agent]bool) {
	const most = 20
	var steps []string
	for i, a := range agents {
		reported[a] = true
		if i < most {
			steps = append(steps, fmt.Sprintf("%s (%s)", a.Qualified(), a.Origins["depends_on"]))
		}
	}
	if more := len(agents) - most; more > 0 {
		steps = append(steps, fmt.Sprintf("%d more", more))
	}
	steps = append(steps, agents[0].Qualified())
	d.addError(agents[0].Origins["depends_on"], "agents.depends_on",
		"contains a cycle, so none of these agents can be started first: %s; remove one of the "+
			"dependencies", strings.Join(steps, " → "))
}
