package config

import (
	"fmt"

	"gcity/config/keys"
	"gcity/pool"
)

type derived struct{ session, scriptHash, scriptProblem string }

// Spec returns the limits of an agent's pool. An agent without a pool is treated as a pool with one permanent member.
func (a *Agent) Spec() pool.Spec {
	if a.Pool == nil {
		return pool.Spec{Name: a.Qualified(), Min: 1, Max: 1}
	}
	return pool.Spec{Name: a.Qualified(), Min: a.Pool.Min, Max: a.Pool.Max}
}

func (d checker) checkPools() bool {
	total := 0
	for a := range d.agents {
		s := a.Spec()
		at, written := a.Origins["pool.max"]
		switch {
		case s.Min <= s.Max && (a.Pool == nil || written):
		case s.Min > s.Max && written:
			d.addError(a.Origins["pool.min"], "agents.pool.min",
				"is %d, but max is %d; min must not be greater than max",
				s.Min, s.Max)
		case d.failed("agents.pool.max"):
		case s.Min > s.Max:
			d.addError(a.Origins["pool.min"], "agents.pool.min",
				"is %d, but max is not set; set max = %d or more", s.Min, s.Min)
		default:
			d.addWarning(a.Origin, "agents.pool.max", "is not set, so the pool is off and no "+
				"member runs; set max = 1 or more, or max = 0 to keep it off")
		}
		if total += max(1, s.Max); total > keys.MaxAgents {
			if at.File == "" {
				at = a.Origin
			}
			d.addError(at, "agents", "this agent exceeds the limit of %d agents in "+
				"a city, including all pool members", keys.MaxAgents)
			return false
		}
	}
	return true
}

func (a *Agent) allNames(yield func(name string) bool) {
	s := a.Spec()
	if !yield(s.Name) || s.Max < 2 {
		return
	}
	for i := range s.Max {
		if !yield(s.Member(i + 1)) {
			return
		}
	}
}

func (d checker) names() {
	d.agentsByName = make(map[string]*Agent, len(d.city.Agents))
	for a := range d.agents {
		if a.Name == "" {
			continue
		}
		for name := range a.allNames {
			if other := d.agentsByName[name]; other != nil {
				d.addError(a.Origins["name"], "agents.name", "%s", nameConflict(name, a, other))
				break
			}
			d.agentsByName[name] = a
		}
	}
}

func nameConflict(name string, a, other *Agent) string {
	at, kind := other.Origins["name"], "agent"
	if other.Pool != nil {
		kind = "pool"
	}
	switch {
	case name == a.Qualified() && name == other.Qualified() && a.Topology != "" &&
		other.Topology != "":
		whose := "the city"
		if a.Rig != "" {
			whose = fmt.Sprintf("the rig %q", a.Rig)
		}
		return fmt.Sprintf("two topologies of %s have an agent %q, this one and the one at %s; "+
			"rename one of the agents, or remove one of the topologies", whose, a.Name, at)
	case name == a.Qualified() && name == other.Qualified():
		of := ""
		if a.Rig != "" {
			of = fmt.Sprintf(" of the rig %q", a.Rig)
		}
		return fmt.Sprintf("another agent%s already has the name %q, at %s; choose a "+
			"different name", of, a.Name, at)
	case name == a.Qualified():
		return fmt.Sprintf("%q is the name of a member of the pool %q (%s to %s), declared at "+
			"%s; choose a different name",
			name, other.Qualified(), other.Spec().Member(1), other.Spec().Member(other.Pool.Max),
			at)
	}
	return fmt.Sprintf("its member %q would have the same name as the %s at %s; rename one of them",
		name, kind, at)
}
