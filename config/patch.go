package config

import (
	"fmt"
	"gcity/config/keys"
	"maps"
	"reflect"
	"slices"
)

// patch is what one table changes about an agent that is declared elsewhere: [[patches.agents]] of city.toml.
type patch struct {
	table string // it is one of: "patches.agents"
	// of the agent, as its declaration has them; dir may be left out unless it is a rig
	dir, name string
	says      Agent // the values that count instead of the agent's; of env those that are added
	remove    []string
	origin    Origin
	origins   map[string]Origin // of each key that was written, by its name in an agent's table
}

// of says whether the patch is about an agent.
func (p *patch) of(a *Agent) bool {
	if p.dir == "" {
		return p.name == a.Name && a.Rig == ""
	}
	return p.name == a.Name && p.dir == a.Dir
}

// patcher changes agents, rigs, providers and watchdogs as [[patches]] and [[rigs.overrides]] say.
type patcher struct{ *loading }

// patches changes agents as city.toml says.
func (d patcher) patches() {
	c := d.city
	done, called := map[*Agent]Origin{}, make(map[string][]*Agent, len(c.Agents))
	for i := range c.Agents {
		called[c.Agents[i].Name] = append(called[c.Agents[i].Name], &c.Agents[i])
	}
	for i := range c.patches.agents {
		p := &c.patches.agents[i]
		if p.name == "" || d.full() {
			continue // said already, or enough is
		}
		at := slices.IndexFunc(called[p.name], p.of)
		if at < 0 && d.unread.misses("", nameOf(c.Rig(p.dir))) {
			continue // it may be there
		}
		if at < 0 {
			d.say(p.origins["name"], p.table+".name",
				fmt.Sprintf("there is no agent %q%s%s", p.name, p.where(), d.unpatched(p)))
			continue
		}
		a := called[p.name][at]
		if first := done[a]; first.File == p.origin.File && first.File != "" {
			d.say(p.origin, p.table, fmt.Sprintf("the agent %q is patched already, at %s; make "+
				"one of the two", a.Qualified(), first))
			continue
		}
		done[a] = p.origin
		d.change(p, a)
	}
}

// change puts what a patch says in place of what the agent says: variables are added, then some taken away.
func (d patcher) change(p *patch, a *Agent) {
	a.Patches = append(slices.Clip(a.Patches), p.origin)
	changed := d.takeOver(p, a, "agents")
	if p.says.Pool != nil {
		changed = d.changePool(p, a) || changed
	}
	for _, name := range p.remove {
		if _, there := a.Env[name]; !there {
			d.city.Warnings = append(d.city.Warnings,
				Problem{Origin: p.origins["env_remove"], Key: p.table + ".env_remove",
					Message: fmt.Sprintf("takes nothing away: the env of %q has no %s",
						a.Qualified(), visible(name))})
		}
		delete(a.Env, name)
		delete(a.Origins, "env."+name)
	}
	if !changed && len(p.remove) == 0 {
		d.city.Warnings = append(d.city.Warnings, Problem{Origin: p.origin, Key: p.table,
			Message: "changes nothing; write what is to be changed, or take it out"})
	}
}

// takeOver copies the written values of one table, and reports whether there were any.
func (d patcher) takeOver(p *patch, a *Agent, table string) (changed bool) {
	from, to := place{city: d.city, agent: &p.says}, place{city: d.city, agent: a}
	for _, k := range d.schema.Tables[table] {
		_, name := to.origins(k)
		origin, written := p.origins[name]
		if !written || k.Status != keys.Supported || !k.Valued() || !k.Changeable() {
			continue
		}
		changed, a.Origins[name] = true, origin
		if k.Kind != keys.Env {
			reflect.ValueOf(to.field(k)).Elem().Set(reflect.ValueOf(from.field(k)).Elem())
			continue
		}
		a.Env = maps.Clone(a.Env)
		if a.Env == nil {
			a.Env = map[string]string{}
		}
		for v, value := range p.says.Env {
			a.Env[v], a.Origins[name+"."+v] = value, p.origins[name+"."+v]
		}
	}
	return changed
}

// changePool changes the pool of an agent, or makes it one.
func (d patcher) changePool(p *patch, a *Agent) bool {
	own := Pool{}
	if a.Pool != nil {
		own = *a.Pool
	}
	fresh := a.Pool == nil
	a.Pool = &own
	if fresh {
		decoder(d).defaults("agents.pool", place{city: d.city, agent: a})
	}
	return d.takeOver(p, a, "agents.pool") || fresh
}

// where says in which folder a patch looks for its agent.
func (p *patch) where() string {
	if p.dir == "" {
		return ""
	}
	return fmt.Sprintf(" with dir = %q", p.dir)
}

// unpatched says what a patch may have meant.
func (d patcher) unpatched(p *patch) string {
	c := d.city
	if p.dir != "" && c.Rig(p.dir) == nil && !slices.ContainsFunc(c.Agents,
		func(a Agent) bool { return a.Dir == p.dir }) {
		return d.unplacedPatch(p)
	}
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
	for i := range c.Agents {
		if s := c.Agents[i].Spec(); s.Max > 1 && s.Index(name) > 0 {
			return fmt.Sprintf("; it is a member of the pool %q, and only the pool can be patched",
				s.Name)
		}
	}
	if near := keys.Suggest(p.name, names); near != "" {
		return fmt.Sprintf("; did you mean %q?", near)
	}
	return "; take this patch out, or declare the agent"
}

// unplacedPatch says what a patch may have meant whose dir is neither a rig nor any agent's: a rig that is gone,
// perhaps.
func (d patcher) unplacedPatch(p *patch) string {
	c := d.city
	var rigs []string
	for i := range c.Rigs {
		rigs = append(rigs, c.Rigs[i].Name)
	}
	near := keys.Suggest(p.dir, rigs)
	switch {
	case near != "":
		return fmt.Sprintf("; did you mean dir = %q?", near)
	case slices.ContainsFunc(c.Agents, func(a Agent) bool {
		return a.Name == p.name && a.Dir == ""
	}):
		return fmt.Sprintf(", nor a rig %q; there is one without dir: take dir out, or the patch",
			p.dir)
	}
	return fmt.Sprintf(", nor a rig %q; take this patch out, or declare the rig", p.dir)
}

// amend changes providers as city.toml says.
func (d patcher) amend() {
	c, done := d.city, map[string]Origin{}
	for i := range c.patches.providers {
		p := &c.patches.providers[i]
		if p.Name == "" || d.full() {
			continue // said already, or enough is
		}
		const key = "patches.providers"
		if first := done[p.Name]; first.File == p.Origin.File && first.File != "" {
			d.say(p.Origin, key, fmt.Sprintf("the provider %q is patched already, at %s; make "+
				"one of the two", p.Name, first))
			continue
		}
		done[p.Name] = p.Origin
		if msg := c.stranger(p.Name); msg != "" {
			if d.unread.any() {
				continue // it may be there
			}
			d.say(p.Origins["name"], key+".name", msg)
			continue
		}
		at := slices.IndexFunc(c.Providers, func(q Provider) bool { return q.Name == p.Name })
		switch {
		case at < 0:
			c.Providers = append(c.Providers, *p)
		case p.Whole:
			c.Providers[at] = *p
		default:
			c.Providers[at].over(p, func(string) bool { return true })
		}
		if at >= 0 && presetNamed(presets(), p.Name) == nil {
			c.Providers[at].Whole = false // there is nothing else that it could stand on
		}
	}
}
