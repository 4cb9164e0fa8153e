package config

import (
	"fmt"

	"gcity/config/keys"
	"gcity/pool"
)

// derived is what loading finds out about one member of a pool.
type derived struct{ session, scriptHash, scriptProblem string }

// Spec is the size of an agent's pool. An agent without one is like a pool that always has one member.
func (a *Agent) Spec() pool.Spec {
	if a.Pool == nil {
		return pool.Spec{Name: a.Qualified(), Min: 1, Max: 1}
	}
	return pool.Spec{Name: a.Qualified(), Min: a.Pool.Min, Max: a.Pool.Max}
}

// sizes checks the bounds of the pools. It says whether there are few enough members to look at each.
func (d checker) sizes() bool {
	c, total := d.city, 0
	defer func() { d.whose = nil }()
	for i := range c.Agents {
		a := &c.Agents[i]
		d.whose = &a.Rig
		s := a.Spec()
		at, written := a.Origins["pool.max"]
		switch {
		case s.Min <= s.Max && (a.Pool == nil || written):
		case s.Min > s.Max && written:
			d.say(a.Origins["pool.min"], "agents.pool.min",
				fmt.Sprintf("is %d, and max is %d: a pool has at least min and at most max members",
					s.Min, s.Max))
		case d.failed("agents.pool.max"):
		case s.Min > s.Max:
			d.say(a.Origins["pool.min"], "agents.pool.min",
				fmt.Sprintf("is %d, and there is no max; write max = %d or more", s.Min, s.Min))
		default:
			c.Warnings = append(c.Warnings, Problem{Origin: a.Origin, Key: "agents.pool.max",
				Message: "is not written, so the pool is off and nobody of it runs; write max = " +
					"1 or more, or max = 0 if that is meant"})
		}
		if total += max(1, s.Max); total > keys.MaxAgents {
			if at.File == "" {
				at = a.Origin
			}
			d.say(at, "agents", fmt.Sprintf("there are more than %d agents up to here, the "+
				"members of pools included; no city can have so many", keys.MaxAgents))
			return false
		}
	}
	return true
}

// claims gives the names that an agent takes: its own, and those of its pool's members.
func (a *Agent) claims(yield func(name string) bool) {
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

// names compares the qualified names of all agents, pools and members.
func (d checker) names() {
	c := d.city
	d.named = make(map[string]*Agent, len(c.Agents))
	defer func() { d.whose = nil }()
	for i := range c.Agents {
		a := &c.Agents[i]
		d.whose = &a.Rig
		if a.Name == "" {
			continue
		}
		for name := range a.claims {
			if other := d.named[name]; other != nil {
				d.say(a.Origins["name"], "agents.name", clash(name, a, other))
				break
			}
			d.named[name] = a
		}
	}
}

// clash says why two agents cannot both be there.
func clash(name string, a, other *Agent) string {
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
			"rename one of the agents, or take one of the topologies out",
			whose, a.Name, at)
	case name == a.Qualified() && name == other.Qualified():
		of := ""
		if a.Rig != "" {
			of = fmt.Sprintf(" of the rig %q", a.Rig)
		}
		return fmt.Sprintf("another agent%s is called %q already, at %s; each needs a "+
			"name of its own", of, a.Name, at)
	case name == a.Qualified():
		return fmt.Sprintf("%q is what a member of the pool %q is called, which has %s to %s, at "+
			"%s; it needs another name",
			name, other.Qualified(), other.Spec().Member(1), other.Spec().Member(other.Pool.Max),
			at)
	}
	return fmt.Sprintf("its member %q would be called like the %s at %s; one of them needs "+
		"another name", name, kind, at)
}
