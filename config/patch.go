package config

import (
	"fmt"
	"slices"
)

// patch is one [[patches.agents]] table: what city.toml changes about an agent that is declared elsewhere.
type patch struct {
	dir, name string // of the agent, as its declaration has them; dir may be left out unless it is a rig
	suspended bool
	origin    Origin
	origins   map[string]Origin
}

// of says whether the patch is about an agent.
func (p *patch) of(a *Agent) bool {
	if p.dir == "" {
		return p.name == a.Name && a.Rig == ""
	}
	return p.name == a.Name && p.dir == a.Dir
}

// patches changes agents as city.toml says.
func (d *decoder) patches() {
	c := d.city
	done, called := map[*Agent]Origin{}, make(map[string][]*Agent, len(c.Agents))
	for i := range c.Agents {
		called[c.Agents[i].Name] = append(called[c.Agents[i].Name], &c.Agents[i])
	}
	for i := range c.patches {
		p := &c.patches[i]
		if p.name == "" || d.full() {
			continue // said already, or enough is
		}
		at := slices.IndexFunc(called[p.name], p.of)
		if at < 0 {
			d.say(p.origins["name"], "patches.agents.name", fmt.Sprintf("there is no agent %q%s%s", p.name, p.where(), d.unpatched(p)))
			continue
		}
		a := called[p.name][at]
		if first, twice := done[a]; twice {
			d.say(p.origin, "patches.agents", fmt.Sprintf("the agent %q is patched already, at %s; make one of the two", a.Qualified(), first))
			continue
		}
		done[a] = p.origin
		origin, written := p.origins["suspended"]
		if !written {
			c.Warnings = append(c.Warnings, Problem{Origin: p.origin, Key: "patches.agents",
				Message: "changes nothing; write what is to be changed, or take it out"})
			continue
		}
		a.Suspended, a.Origins["suspended"] = p.suspended, origin
	}
}

// where says in which folder a patch looks for its agent.
func (p *patch) where() string {
	if p.dir == "" {
		return ""
	}
	return fmt.Sprintf(" with dir = %q", p.dir)
}

// unpatched says what a patch may have meant.
func (d *decoder) unpatched(p *patch) string {
	c := d.city
	var names []string
	for i := range c.Agents {
		a := &c.Agents[i]
		switch {
		case a.Name == p.name && a.Rig != "":
			return fmt.Sprintf("; there is one in the rig %q: write dir = %q", a.Rig, a.Rig)
		case a.Name == p.name && a.Dir == "":
			return "; there is one without dir: take dir out"
		case a.Name == p.name:
			return fmt.Sprintf("; there is one with dir = %q", a.Dir)
		}
		names = append(names, a.Name)
	}
	name := p.name
	if c.Rig(p.dir) != nil {
		name = p.dir + "/" + name
	}
	if a := d.named[name]; a != nil {
		return fmt.Sprintf("; it is a member of the pool %q, and only the pool can be patched", a.Qualified())
	}
	if near := suggest(p.name, names); near != "" {
		return fmt.Sprintf("; did you mean %q?", near)
	}
	return ""
}
