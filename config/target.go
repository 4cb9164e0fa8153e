package config

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"gcity/internal/toml"
	"gcity/pool"
)

// spot is where a suspended flag stands, or belongs: a table in one file.
type spot struct {
	file      string // as origins name it
	list      string // "workspace", "rigs", "agents", "patches.agents", "patches.rigs" or "rigs.overrides"
	dir, name string // what the table is known by, as it is written
	rig       string // whose overrides the table is among, "" = none
	is        bool   // what holds now
	fresh     bool   // the table is still to be made: only in "patches.agents"
}

// spot finds out where the flag of a target is.
func (c *City) spot(t Target) (spot, error) {
	switch {
	case t.Agent != "":
		return c.spotOfAgent(t.Agent)
	case t.Rig != "":
		return c.spotOfRig(t.Rig)
	}
	return spot{file: cmp.Or(c.Origins["workspace.suspended"].File, FileName), list: "workspace", is: c.Workspace.Suspended}, nil
}

func (c *City) spotOfAgent(name string) (spot, error) {
	a, member, err := c.find(name)
	if err != nil {
		return spot{}, err
	}
	if member != "" {
		return spot{}, fmt.Errorf("%q %w; only the pool %q as a whole can be suspended and resumed", member, ErrMember, a.Qualified())
	}
	s := spot{file: FileName, list: "patches.agents", is: a.Suspended}
	if r := c.Rig(a.Rig); r != nil && a.Topology != "" {
		for i := range r.overrides {
			if at, written := r.overrides[i].origins["suspended"]; written && r.overrides[i].name == a.Name {
				return spot{file: at.File, list: "rigs.overrides", rig: r.Name, name: a.Name, is: a.Suspended}, nil
			}
		}
	}
	var free *patch // that could have the flag, and does not
	for i := range slices.Backward(c.patches) {
		p := &c.patches[i]
		if !p.of(a) {
			continue
		}
		if _, written := p.origins["suspended"]; written {
			s.file, s.dir, s.name = p.origin.File, p.dir, p.name
			return s, nil
		}
		if p.origin.File == FileName && a.Origin.File != FileName {
			free = p
		}
	}
	if free != nil {
		s.dir, s.name = free.dir, free.name
		return s, nil
	}
	if a.Origin.File == FileName {
		s.list, s.dir, s.name = "agents", a.Dir, a.Name
		return s, nil
	}
	s.dir, s.name, s.fresh = a.Rig, a.Name, true
	return s, nil
}

func (c *City) spotOfRig(name string) (spot, error) {
	r := c.Rig(name)
	if r == nil {
		var names []string
		for i := range c.Rigs {
			names = append(names, c.Rigs[i].Name)
		}
		return spot{}, c.nobody(ErrNoRig, name, names)
	}
	for i := range slices.Backward(c.rigPatch) {
		p := &c.rigPatch[i].rig
		if _, written := p.Origins["suspended"]; written && p.Name == name {
			return spot{file: p.Origin.File, list: "patches.rigs", name: name, is: r.Suspended}, nil
		}
	}
	return spot{file: r.Origin.File, list: "rigs", name: name, is: r.Suspended}, nil
}

// nobody says that nothing is called so.
func (c *City) nobody(err error, name string, names []string) error {
	where := FileName
	if len(c.include) > 0 {
		where += " and what it includes"
	}
	if near := suggest(name, names); near != "" {
		return fmt.Errorf("%w as %q in %s; did you mean %q?", err, name, where, near)
	}
	return fmt.Errorf("%w as %q in %s", err, name, where)
}

// find gives the agent or pool that a name means: by its qualified name, else by its name alone if only one has that.
// A name of a member gives the pool and the member's qualified name.
func (c *City) find(name string) (a *Agent, member string, err error) {
	type match struct {
		agent *Agent
		index int // of the member, 0 = the agent itself
	}
	var exact, bare []match
	var names []string
	for i := range c.Agents {
		a := &c.Agents[i]
		s := a.Spec()
		names = append(names, s.Name, a.Name)
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
		return nil, "", c.nobody(ErrNoAgent, name, names)
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
	return nil, "", fmt.Errorf("%w: there are %s; write one of these instead of %q", ErrAmbiguous, list(all), name)
}

// table finds the spot's table in a file; nil if there is none.
func (s spot) table(root *toml.Node) *toml.Node {
	var tables []*toml.Node
	switch s.list {
	case "workspace":
		return root.Get("workspace")
	case "patches.agents", "patches.rigs":
		_, of, _ := strings.Cut(s.list, ".")
		tables = toml.TablesOf(root.Get("patches").Get(of))
	case "rigs.overrides":
		return s.override(root)
	case "agents":
		tables = slices.Concat(toml.TablesOf(root.Get("agents")), toml.TablesOf(root.Get("agent")))
	default:
		tables = toml.TablesOf(root.Get(s.list))
	}
	for _, t := range tables {
		if t.TextOf("name") == s.name && t.TextOf("dir") == s.dir {
			return t
		}
	}
	return nil
}

// override finds the spot's table among the overrides of its rig.
func (s spot) override(root *toml.Node) *toml.Node {
	for _, r := range toml.TablesOf(root.Get("rigs")) {
		for _, t := range toml.TablesOf(r.Get("overrides")) {
			if r.TextOf("name") == s.rig && (t.TextOf("name") == s.name || t.TextOf("agent") == s.name) {
				return t
			}
		}
	}
	return nil
}
