package config

import (
	"gcity/config/keys"
	"slices"
	"time"

	"gcity/automation"
	"gcity/formula"
	"gcity/internal/span"
	"gcity/internal/toml"
)

// Layers returns the folders with formulas and automations: the city's, lowest precedence first, and then the rigs'.
func (c *City) Layers() []formula.Layer {
	dir, _ := resolve(c.Path, c.Path, c.Formulas.Dir) // Load has rejected invalid paths
	out := append(layersOf(c.packs, ""), formula.Layer{Dir: dir, Title: "city"})
	for i := range c.Rigs {
		r := &c.Rigs[i]
		out = append(out, layersOf(r.packs, r.Name)...)
		if r.FormulasDir != "" {
			out = append(out, formula.Layer{Dir: r.FormulasDir, Title: "rig " + r.Name,
				Rig: r.Name})
		}
	}
	return out
}

func layersOf(packs []*pack, rig string) (out []formula.Layer) {
	for _, p := range packs {
		if p.Formulas.Dir != "" {
			out = append(out, formula.Layer{Dir: p.Formulas.Dir, Rig: rig, Root: p.dir,
				Title: "topology " + p.Topology.Name})
		}
	}
	return out
}

// AutomationOptions returns the settings for automations. The caller owns the result.
func (c *City) AutomationOptions() automation.Options {
	a, pools := &c.Automations, []string{}
	for i := range c.Agents {
		if c.Agents[i].Pool != nil {
			pools = append(pools, c.Agents[i].Qualified())
		}
	}
	return automation.Options{Skip: slices.Clone(a.Skip),
		SkipAt: c.Origins["automations.skip"], Overrides: slices.Clone(a.Overrides),
		MaxTimeout: a.MaxTimeout, MaxAt: c.Origins["automations.max_timeout"], Pools: pools,
		Local: time.Local}
}

type override struct {
	automation.Override
	origin  Origin
	origins map[string]Origin
}

// checkWork checks and completes the settings for formulas, wisps and automations. It must be called after all files
// are read.
func (d checker) checkWork() {
	c := d.city
	at := c.Origins["formulas.dir"]
	if dir, err := resolve(c.Path, c.folderOf(at), c.Formulas.Dir); err != nil {
		d.addError(at, "formulas.dir", "%v", err)
	} else if c.folderOf(at) != c.Path {
		c.Formulas.Dir = dir
	}
	d.wispDefault("wisp_ttl", "wisp_gc_interval", &c.Daemon.WispGCInterval,
		defaultWispGCInterval)
	d.wispDefault("wisp_gc_interval", "wisp_ttl", &c.Daemon.WispTTL, defaultWispTTL)
	for i := range c.overrides {
		d.override(&c.overrides[i])
	}
}

// Defaults of wisp_ttl and wisp_gc_interval, used if only one of the two is set.
const (
	defaultWispGCInterval = 5 * time.Minute
	defaultWispTTL        = 24 * time.Hour
)

func (d checker) wispDefault(one, other string, value *time.Duration, def time.Duration) {
	at, written := d.city.Origins["daemon."+one]
	_, both := d.city.Origins["daemon."+other]
	if !written || both || d.failed("daemon."+other) || d.failed("daemon."+one) {
		return
	}
	*value = def
	d.warnOnce(toml.At(at, "daemon."+one,
		"is set, but daemon.%s is not set and defaults to %q; set both keys", other,
		span.Text(def)))
}

func (d checker) override(o *override) {
	const key = "automations.overrides"
	c := d.city
	if o.Rig != "" && c.Rig(o.Rig) == nil && !d.failedSources.files {
		d.addError(o.origins["rig"], key+".rig", "%s", c.noRig(o.Rig, "override"))
	}
	o.At, o.Places = o.origin, make(map[string]toml.Place, len(o.origins))
	changes := 0
	for name, at := range o.origins {
		o.Places[name] = at
		if name != "name" && name != "rig" {
			changes++
		}
	}
	if changes == 0 && o.Name != "" && !d.failedIn(key) {
		d.addWarning(o.origin, key, changesNothing)
	}
	if o.Pool != nil {
		d.poolOf(o)
	}
	c.Automations.Overrides = append(c.Automations.Overrides, o.Override)
}

func (d checker) poolOf(o *override) {
	target := automation.Definition{Rig: o.Rig, Pool: *o.Pool}.Target()
	var names []string
	for i := range d.city.Agents {
		a := &d.city.Agents[i]
		switch {
		case a.Pool == nil:
		case a.Qualified() == target:
			return
		default:
			names = append(names, a.Qualified())
		}
	}
	d.addWarning(o.origins["pool"], "automations.overrides.pool",
		"pool %q not found%s", target, keys.DidYouMean(target, names))
}
