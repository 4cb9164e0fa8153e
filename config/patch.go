package config

import (
	"cmp"
	"fmt"
	"gcity/config/keys"
	"maps"
	"reflect"
	"slices"
)

// patch is one table that changes an agent, such as [[patches.agents]] in city.toml.
type patch struct {
	table  string
	remove []string // variables to remove
	// Env contains the variables to add; Dir may be omitted if the agent does not belong to a rig
	Agent
}

func (p *patch) matches(a *Agent) bool {
	if p.Dir == "" {
		return p.Name == a.Name && a.Rig == ""
	}
	return p.Name == a.Name && p.Dir == a.Dir
}

const changesNothing = "changes nothing; add the keys that it should change, or remove this table"

type patcher struct{ *loading }

func (d patcher) patchAgents() {
	c := d.city
	done, called := map[*Agent]Origin{}, make(map[string][]*Agent, len(c.Agents))
	for i := range c.Agents {
		called[c.Agents[i].Name] = append(called[c.Agents[i].Name], &c.Agents[i])
	}
	for i := range c.patches.agents {
		p := &c.patches.agents[i]
		if p.Name == "" || d.full() {
			continue // an error was already reported, or the maximum number of errors is reached
		}
		at := slices.IndexFunc(called[p.Name], p.matches)
		if at < 0 && d.failedSources.affects("", nameOf(c.Rig(p.Dir))) {
			continue // an unreadable file might declare the agent
		}
		if at < 0 {
			d.addError(p.Origins["name"], p.table+".name",
				"agent %q%s not found%s", p.Name, p.where(), d.unknownAgent(p))
			continue
		}
		a := called[p.Name][at]
		if first := done[a]; first.File == p.Origin.File && first.File != "" {
			d.addError(p.Origin, p.table, "the agent %q is already patched at %s; "+
				"merge the two patches", a.Qualified(), first)
			continue
		}
		done[a] = p.Origin
		d.change(p, a)
	}
}

func (d patcher) change(p *patch, a *Agent) {
	a.Patches = append(slices.Clip(a.Patches), p.Origin)
	changed := d.copyValues(p, a, "agents")
	if p.Pool != nil {
		changed = d.changePool(p, a) || changed
	}
	for _, name := range p.remove {
		if _, there := a.Env[name]; !there {
			d.addWarning(p.Origins["env_remove"], p.table+".env_remove",
				"removes nothing: the env of %q has no %s", a.Qualified(), name)
		}
		delete(a.Env, name)
		delete(a.Origins, "env."+name)
	}
	if !changed && len(p.remove) == 0 {
		d.addWarning(p.Origin, p.table, changesNothing)
	}
}

func (d patcher) copyValues(p *patch, a *Agent, table string) (changed bool) {
	from, to := place{&p.Agent}, place{a}
	for _, k := range d.schema.Tables[table] {
		_, name := to.origins(k)
		origin, written := p.Origins[name]
		if !written || k.Status != keys.Supported || !k.HasValue() || !k.Changeable() {
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
		for v, value := range p.Env {
			a.Env[v], a.Origins[name+"."+v] = value, p.Origins[name+"."+v]
		}
	}
	return changed
}

// copyKeys copies the keys of a table that from sets, except fixed ones, and reports whether there were any.
func (d patcher) copyKeys(table string, to, from place, fixed ...string) (changed bool) {
	for _, k := range d.schema.Tables[table] {
		origins, name := from.origins(k)
		at, written := origins[name]
		if !written || slices.Contains(fixed, name) {
			continue
		}
		reflect.ValueOf(to.field(k)).Elem().Set(reflect.ValueOf(from.field(k)).Elem())
		own, _ := to.origins(k)
		own[name], changed = at, true
	}
	return changed
}

func (d patcher) changePool(p *patch, a *Agent) bool {
	own := Pool{}
	if a.Pool != nil {
		own = *a.Pool
	}
	fresh := a.Pool == nil
	a.Pool = &own
	if fresh {
		decoder(d).defaults("agents.pool", place{a})
	}
	return d.copyValues(p, a, "agents.pool") || fresh
}

func (p *patch) where() string {
	if p.Dir == "" {
		return ""
	}
	return fmt.Sprintf(" with dir = %q", p.Dir)
}

func (d patcher) unknownAgent(p *patch) string {
	c := d.city
	if p.Dir != "" && c.Rig(p.Dir) == nil && !slices.ContainsFunc(c.Agents,
		func(a Agent) bool { return a.Dir == p.Dir }) {
		return d.unknownDir(p)
	}
	var names []string
	for i := range c.Agents {
		a := &c.Agents[i]
		switch {
		case a.Name == p.Name && a.Rig != "":
			return fmt.Sprintf("; that agent is in the rig %q; set dir = %[1]q", a.Rig)
		case a.Name == p.Name && a.Dir == "":
			return "; the agent with that name has no dir; remove dir from this patch"
		case a.Name == p.Name:
			return fmt.Sprintf("; the agent with that name has dir = %q", a.Dir)
		}
		names = append(names, a.Name)
	}
	name := p.Name
	if c.Rig(p.Dir) != nil {
		name = p.Dir + "/" + name
	}
	for i := range c.Agents {
		if s := c.Agents[i].Spec(); s.Max > 1 && s.Index(name) > 0 {
			return fmt.Sprintf("; it is a member of the pool %q, and only the whole pool can "+
				"be patched", s.Name)
		}
	}
	return cmp.Or(keys.DidYouMean(p.Name, names), "; remove this patch, or declare the agent")
}

func (d patcher) unknownDir(p *patch) string {
	c := d.city
	var rigs []string
	for i := range c.Rigs {
		rigs = append(rigs, c.Rigs[i].Name)
	}
	near := keys.Suggest(p.Dir, rigs)
	switch {
	case near != "":
		return fmt.Sprintf("; did you mean dir = %q?", near)
	case slices.ContainsFunc(c.Agents, func(a Agent) bool {
		return a.Name == p.Name && a.Dir == ""
	}):
		return fmt.Sprintf(", and no rig %q exists; the agent with that name has no dir; remove "+
			"dir from this patch, or remove the patch", p.Dir)
	}
	return fmt.Sprintf(", and no rig %q exists; remove this patch, or declare the rig", p.Dir)
}

func (d patcher) patchProviders() {
	c, done := d.city, map[string]Origin{}
	for i := range c.patches.providers {
		p := &c.patches.providers[i]
		if p.Name == "" || d.full() {
			continue // an error was already reported, or the maximum number of errors is reached
		}
		const key = "patches.providers"
		if first := done[p.Name]; first.File == p.Origin.File && first.File != "" {
			d.addError(p.Origin, key, "the provider %q is already patched at %s; "+
				"merge the two patches", p.Name, first)
			continue
		}
		done[p.Name] = p.Origin
		if msg := c.unknownProvider(p.Name); msg != "" {
			if d.failedSources.any() {
				continue // an unreadable file might declare it
			}
			d.addError(p.Origins["name"], key+".name", "%s", msg)
			continue
		}
		switch table := tableNamed(c.Providers, p.Name); {
		case table == nil:
			c.Providers = append(c.Providers, *p)
		case p.IgnorePreset:
			*table = *p
		default:
			table.merge(p, anyKey)
		}
	}
}
