package config

import (
	"fmt"
	"gcity/config/keys"
	"slices"
	"strings"
)

func (d patcher) patchRigs() {
	c, done := d.city, map[*Rig]Origin{}
	for i := range c.patches.rigs {
		p := &c.patches.rigs[i]
		r := c.Rig(p.Name)
		switch {
		case p.Name == "": // already reported
			continue
		case r == nil && d.failedSources.files:
			continue // an unreadable file might declare it
		case r == nil:
			d.addError(p.Origins["name"], "patches.rigs.name", "%s", c.noRig(p.Name, "patch"))
			continue
		}
		if first := done[r]; first.File == p.Origin.File && first.File != "" {
			d.addError(p.Origin, "patches.rigs", "the rig %q is already patched "+
				"at %s; merge the two patches", r.Name, first)
			continue
		}
		done[r] = p.Origin
		if !d.copyKeys("rigs", place{r}, place{p}, "name") {
			d.addWarning(p.Origin, "patches.rigs", changesNothing)
		}
	}
}

func (d patcher) rigOverrides() {
	c, theirs := d.city, map[string]map[string]*Agent{}
	for i := range c.Agents {
		if a := &c.Agents[i]; a.Topology != "" && a.Rig != "" {
			if theirs[a.Rig] == nil {
				theirs[a.Rig] = map[string]*Agent{}
			}
			theirs[a.Rig][a.Name] = a
		}
	}
	for i := range c.Rigs {
		done := map[*Agent]Origin{}
		for n := range c.Rigs[i].overrides {
			o := &c.Rigs[i].overrides[n]
			if o.Name == "" || d.full() {
				continue
			}
			a := theirs[c.Rigs[i].Name][o.Name]
			if a == nil && d.failedSources.affects(c.Rigs[i].Name) {
				continue // an unreadable file might declare it
			}
			if a == nil {
				d.addError(o.Origins["name"], "rigs.overrides.name", "%s",
					d.unknownOverride(&c.Rigs[i], o.Name, theirs[c.Rigs[i].Name]))
				continue
			}
			if first, twice := done[a]; twice {
				d.addError(o.Origin, "rigs.overrides",
					"the agent %q is already overridden at %s; merge the two overrides",
					a.Qualified(), first)
				continue
			}
			done[a] = o.Origin
			d.change(o, a)
		}
	}
}

func (d patcher) unknownOverride(r *Rig, name string, theirs map[string]*Agent) string {
	msg := fmt.Sprintf("no topology of the rig %q has an agent %q", r.Name, name)
	var names []string
	for n := range theirs {
		names = append(names, n)
	}
	slices.Sort(names)
	if hint := keys.DidYouMean(name, names); hint != "" {
		return msg + hint
	}
	for i := range d.city.Agents {
		if a := &d.city.Agents[i]; a.Name == name {
			return msg + fmt.Sprintf("; [[patches.agents]] can change the agent with that name "+
				"at %s", a.Origin)
		}
	}
	if len(names) > 0 {
		return msg + "; use one of " + strings.Join(names, ", ")
	}
	return msg + "; remove this override, or add the topology to the rig"
}
