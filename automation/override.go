package automation

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"gcity/internal/toml"
)

// Override changes single keys of an automation from the city's configuration. What is nil stays as it is.
type Override struct {
	At     toml.Place            // of the table
	Places map[string]toml.Place // of its keys, as far as known

	Name, Rig string // which; no rig: the city's

	Enabled                         *bool
	Gate, Schedule, Check, On, Pool *string
	Interval, Timeout               *time.Duration
}

func (o Override) place(key string) toml.Place {
	if at, ok := o.Places[key]; ok {
		return at
	}
	return o.At
}

// overridesKey is what they are called in city.toml.
const overridesKey = "automations.overrides"

// assign sorts overrides by what they are for. One for an automation that is not there is a problem.
func (c *Catalog) assign(all map[string]found, o Options) map[string][]Override {
	out := map[string][]Override{}
	for _, over := range o.Overrides {
		target := Scoped(over.Name, over.Rig)
		if _, ok := all[target]; ok {
			out[target] = append(out[target], over)
		} else {
			c.Problems = append(c.Problems, toml.At(over.place("name"), overridesKey+".name", "%s",
				unknown(over.Name, over.Rig, all)))
		}
	}
	return out
}

// unknown says that there is no such automation, and what may have been meant.
func unknown(name, rig string, all map[string]found) string {
	var names []string
	for _, scoped := range slices.Sorted(maps.Keys(all)) {
		f := all[scoped]
		if f.name == name && rig == "" {
			return fmt.Sprintf("the city has no automation %q, but rig %s has: write rig = %q too",
				name, f.layer.Rig, f.layer.Rig)
		}
		if f.name == name && f.layer.Rig == "" {
			return fmt.Sprintf("rig %s has no automation %q of its own, the city has: "+
				"leave rig out", rig, name)
		}
		if f.layer.Rig == rig {
			names = append(names, f.name)
		}
	}
	if near := toml.Meant(name, names); near != "" {
		return fmt.Sprintf("there is no automation %q; did you mean %q?", Scoped(name, rig),
			Scoped(near, rig))
	}
	return fmt.Sprintf("there is no automation %q", Scoped(name, rig))
}

// skipped gives the scoped names that are to be skipped. A plain name means all of that name.
func (c *Catalog) skipped(all map[string]found, o Options) map[string]bool {
	out := map[string]bool{}
	for _, name := range o.Skip {
		some := false
		for scoped, f := range all {
			if f.name == name || scoped == name {
				out[scoped], some = true, true
			}
		}
		if !some {
			plain, rig, _ := strings.Cut(name, ":rig:")
			c.Warnings = append(c.Warnings, toml.At(o.SkipAt, "automations.skip", "%s",
				unknown(plain, rig, all)))
		}
	}
	return out
}

// override is the automation with overrides in it.
func (f found) override(all []Override, local *time.Location) found {
	s := f.spec
	s.place, s.text, s.over = maps.Clone(s.place), maps.Clone(s.text), map[string]bool{}
	off := ""
	write := func(key string, o Override) { s.place[key], s.over[key] = o.place(key), true }
	for _, o := range all {
		for key, text := range map[string]*string{"gate": o.Gate, "schedule": o.Schedule,
			"check": o.Check, "on": o.On, "pool": o.Pool} {
			if text != nil {
				s.text[key] = *text
				write(key, o)
			}
		}
		if o.Interval != nil {
			s.interval = *o.Interval
			write("interval", o)
		}
		if o.Timeout != nil {
			s.timeout = *o.Timeout
			write("timeout", o)
		}
		if o.Enabled != nil {
			s.enabled = *o.Enabled
			write("enabled", o)
			off = fmt.Sprintf("disabled: enabled = false in automations.overrides (%s)",
				s.place["enabled"])
		}
	}
	changed := *f.known
	changed.spec = s
	changed.def, changed.problems = s.settle(local)
	if changed.def.Off != "" && off != "" {
		changed.def.Off = off
	}
	f.known = &changed
	return f
}

// follow resolves on_failure: the same rig's automation, else the city's. What leads nowhere or in a circle breaks the
// automation that says so, for it would not do what it says.
func (c *Catalog) follow(all map[string]found) {
	at := map[string]int{}
	for i, d := range c.Automations {
		at[d.Scoped()] = i
	}
	wrong := map[string]toml.Problems{}
	for i := range c.Automations {
		d := &c.Automations[i]
		if d.OnFailure == "" {
			continue
		}
		name, rig, scoped := strings.Cut(d.OnFailure, ":rig:")
		target := Scoped(name, rig)
		if _, own := all[Scoped(name, d.Rig)]; own && !scoped {
			target = Scoped(name, d.Rig)
		}
		j, usable := at[target]
		if _, there := all[target]; !there {
			wrong[d.Scoped()] = toml.Problems{all[d.Scoped()].spec.said("on_failure", "%s",
				unknown(name, rig, all))}
			continue
		}
		d.OnFailure = target
		warn := func(format string, args ...any) {
			d.Warnings = append(d.Warnings, all[d.Scoped()].spec.said("on_failure", format,
				args...))
		}
		switch {
		case !usable:
			warn("%s is broken, so nothing will follow a failure", target)
		case c.Automations[j].Off != "":
			warn("%s is %s, so nothing will follow a failure", target, c.Automations[j].Off)
		}
	}
	for _, d := range c.Automations {
		if ring := c.ring(d, at); wrong[d.Scoped()] == nil && len(ring) > 0 {
			wrong[d.Scoped()] = toml.Problems{all[d.Scoped()].spec.said("on_failure",
				"leads back to itself: %s", strings.Join(ring, " → "))}
		}
	}
	c.breakUp(wrong)
}

// ring follows failures from one automation, and gives the way if it comes back to it.
func (c *Catalog) ring(d Definition, at map[string]int) []string {
	way := []string{d.Scoped()}
	for next := d; next.OnFailure != "" && len(way) <= len(c.Automations); {
		way = append(way, next.OnFailure)
		i, ok := at[next.OnFailure]
		if !ok {
			return nil
		}
		if next = c.Automations[i]; next.Scoped() == d.Scoped() {
			return way
		}
	}
	return nil
}

// breakUp moves automations from the usable to the broken.
func (c *Catalog) breakUp(wrong map[string]toml.Problems) {
	c.Automations = slices.DeleteFunc(c.Automations, func(d Definition) bool {
		problems, is := wrong[d.Scoped()]
		if is {
			c.Broken = append(c.Broken, Broken{d.Name, d.Rig, d.Source, d.Layer, problems})
		}
		return is
	})
	slices.SortFunc(c.Broken, func(a, b Broken) int {
		return strings.Compare(a.Scoped(), b.Scoped())
	})
}

// seal computes the sums.
func (c *Catalog) seal() {
	whole := sha256.New()
	for i := range c.Automations {
		d := &c.Automations[i]
		d.Sum = digest(d.Sum, d.Scoped(), d.Source, d.Layer.Root, d.Timeout, d.Limit, d.OnFailure,
			d.Off)
		fmt.Fprintln(whole, d.Sum, d.Warnings.Error())
	}
	for _, b := range c.Broken {
		fmt.Fprintln(whole, b.Scoped(), b.Source, b.Problems.Error())
	}
	fmt.Fprintln(whole, c.Problems.Error(), c.Warnings.Error())
	c.Revision = hex.EncodeToString(whole.Sum(nil)[:8])
}

func digest(parts ...any) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%q", parts))
	return hex.EncodeToString(sum[:8])
}
