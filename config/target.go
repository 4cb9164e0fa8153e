package config

import (
	"cmp"
	"errors"
	"fmt"
	"gcity/config/keys"
	"slices"

	"gcity/internal/suggest"
	"gcity/internal/toml"
	"gcity/pool"
)

// Reasons why a target's key `suspended` cannot be found.
var (
	ErrNoAgent   = errors.New("no such agent")
	ErrNoRig     = errors.New("no such rig")
	ErrMember    = errors.New("is a member of a pool")
	ErrAmbiguous = errors.New("the name is ambiguous")
)

// Target is the agent, pool, rig or city that a `suspended` key applies to. An unqualified name must be unique. The
// empty Target is the city.
type Target struct{ Agent, Rig string }

// Flag is the position of a `suspended` key.
type Flag struct {
	File string // as in Origin.File
	// "workspace", "rigs", "agents", "patches.agents", "patches.rigs" or "rigs.overrides"
	List      string
	Dir, Name string // as written
	Rig       string // the rig, if List is "rigs.overrides"
	On        bool   // the effective value
	NoTable   bool   // the table does not exist yet
}

// SuspendedFlag returns the position of the key `suspended` for a target.
func (c *City) SuspendedFlag(t Target) (Flag, error) {
	switch {
	case t.Agent != "":
		return c.flagOfAgent(t.Agent)
	case t.Rig != "":
		return c.flagOfRig(t.Rig)
	}
	return Flag{File: cmp.Or(c.Origins["workspace.suspended"].File, FileName), List: "workspace",
		On: c.Workspace.Suspended}, nil
}

func (c *City) flagOfAgent(name string) (Flag, error) {
	a, member, err := c.find(name)
	if err != nil {
		return Flag{}, err
	}
	if member != "" {
		return Flag{}, fmt.Errorf("%q %w; only the whole pool %q can be suspended and resumed",
			member, ErrMember, a.Qualified())
	}
	f := Flag{File: FileName, List: "patches.agents", On: a.Suspended}
	if r := c.Rig(a.Rig); r != nil && a.Topology != "" {
		for i := range r.overrides {
			if at, written := r.overrides[i].Origins["suspended"]; written &&
				r.overrides[i].Name == a.Name {
				return Flag{File: at.File, List: "rigs.overrides", Rig: r.Name, Name: a.Name,
					On: a.Suspended}, nil
			}
		}
	}
	var free *patch // a patch in city.toml that does not set this key yet
	for i := range slices.Backward(c.patches.agents) {
		p := &c.patches.agents[i]
		if !p.matches(a) {
			continue
		}
		if _, written := p.Origins["suspended"]; written {
			f.File, f.Dir, f.Name = p.Origin.File, p.Dir, p.Name
			return f, nil
		}
		if p.Origin.File == FileName && a.Origin.File != FileName {
			free = p
		}
	}
	if free != nil {
		f.Dir, f.Name = free.Dir, free.Name
		return f, nil
	}
	if a.Origin.File == FileName {
		f.List, f.Dir, f.Name = "agents", a.Dir, a.Name
		return f, nil
	}
	f.Dir, f.Name, f.NoTable = a.Rig, a.Name, true
	return f, nil
}

func (c *City) flagOfRig(name string) (Flag, error) {
	r := c.Rig(name)
	if r == nil {
		return Flag{}, suggest.NotFound(suggest.Rig, name, c.rigNames()).As(ErrNoRig)
	}
	for i := range slices.Backward(c.patches.rigs) {
		p := &c.patches.rigs[i]
		if _, written := p.Origins["suspended"]; written && p.Name == name {
			return Flag{File: p.Origin.File, List: "patches.rigs", Name: name, On: r.Suspended}, nil
		}
	}
	return Flag{File: r.Origin.File, List: "rigs", Name: name, On: r.Suspended}, nil
}

// find accepts a unique name without its rig. For a member, it returns the pool and the member's qualified name.
func (c *City) find(name string) (a *Agent, member string, err error) {
	type match struct {
		agent *Agent
		index int // 0 = the agent itself
	}
	var exact, bare []match
	for i := range c.Agents {
		a := &c.Agents[i]
		s := a.Spec()
		if s.Name == name {
			return a, "", nil
		}
		if n := s.Index(name); n > 0 {
			exact = append(exact, match{a, n})
		}
		if n := (pool.Spec{Name: a.Name, Max: s.Max}).Index(name); n > 0 || a.Name == name {
			if a.Name == name {
				n = 0
			}
			bare = append(bare, match{a, n})
		}
	}
	if len(exact) == 0 {
		exact = bare
	}
	called := func(m match) string {
		if m.index == 0 {
			return m.agent.Qualified()
		}
		return m.agent.Spec().Member(m.index)
	}
	switch len(exact) {
	case 0:
		return nil, "", suggest.NotFound(suggest.Agent, name, c.agentNames()).As(ErrNoAgent)
	case 1:
		if m := exact[0]; m.index > 0 {
			member = called(m)
		}
		return exact[0].agent, member, nil
	}
	var all []string
	for _, m := range exact {
		all = append(all, called(m))
	}
	return nil, "", fmt.Errorf("%w; use one of %s instead of %q", ErrAmbiguous,
		toml.List(all), name)
}

func (c *City) missing(name string) error {
	names := append(c.agentNames(), c.rigNames()...)
	return suggest.NotFound(suggest.AnyOf(suggest.Agent, suggest.Pool, suggest.Rig), name, names).
		As(ErrNoAgent)
}

func (c *City) agentNames() []string {
	var names []string
	for i := range c.Agents {
		names = append(names, c.Agents[i].Qualified(), c.Agents[i].Name)
	}
	return names
}

func (c *City) rigNames() []string {
	var names []string
	for i := range c.Rigs {
		names = append(names, c.Rigs[i].Name)
	}
	return names
}

func (c *City) noRig(name, table string) string {
	return fmt.Sprintf("rig %q not found", name) + cmp.Or(keys.DidYouMean(name, c.rigNames()),
		fmt.Sprintf("; remove this %s, or declare the rig", table))
}

func (c *City) suggestWatchdog(p *Watchdog) string {
	var names []string
	for i := range c.Watchdogs {
		w := &c.Watchdogs[i]
		if w.Name == p.Name {
			if w.Rig != "" {
				return fmt.Sprintf("; that watchdog is in the rig %q; set rig = %[1]q", w.Rig)
			}
			return "; the watchdog with that name belongs to the city; remove rig from this patch"
		}
		if w.Rig == p.Rig {
			names = append(names, w.Qualified())
		}
	}
	return cmp.Or(keys.DidYouMean(p.Qualified(), names),
		"; remove this patch, or declare the watchdog")
}
