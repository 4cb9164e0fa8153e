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

// Override changes individual keys of an automation. It comes from city.toml. A nil field changes nothing.
type Override struct {
	At     toml.Place
	Places map[string]toml.Place // known positions of the override's keys

	Name, Rig string // the automation; Rig "" = a city automation

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

const overridesKey = "automations.overrides"

func (c *Catalog) assign(all map[string]foundFile, o Options) map[string][]Override {
	out := map[string][]Override{}
	for _, over := range o.Overrides {
		target := Scoped(over.Name, over.Rig)
		if _, ok := all[target]; ok {
			out[target] = append(out[target], over)
		} else {
			c.Problems = append(c.Problems, toml.At(over.place("name"), overridesKey+".name", "%s",
				unknown(over.Name, over.Rig, all, rigKey)))
		}
	}
	return out
}

func rigKey(_, rig string) string {
	if rig == "" {
		return "remove rig from this override"
	}
	return fmt.Sprintf("add rig = %q", rig)
}

func scopedName(name, rig string) string { return fmt.Sprintf("use %q", Scoped(name, rig)) }

func unknown(name, rig string, all map[string]foundFile,
	advise func(name, rig string) string) string {
	var names []string
	for _, scoped := range slices.Sorted(maps.Keys(all)) {
		f := all[scoped]
		if f.name == name && rig == "" {
			return fmt.Sprintf("the city has no automation %q, but rig %s has one; %s",
				name, f.layer.Rig, advise(name, f.layer.Rig))
		}
		if f.name == name && f.layer.Rig == "" {
			return fmt.Sprintf("rig %s has no automation %q, but the city has one; %s", rig,
				name, advise(name, ""))
		}
		if f.layer.Rig == rig {
			names = append(names, f.name)
		}
	}
	if near := toml.Meant(name, names); near != "" {
		return fmt.Sprintf("automation %q not found; did you mean %q?", Scoped(name, rig),
			Scoped(near, rig))
	}
	return fmt.Sprintf("automation %q not found", Scoped(name, rig))
}

// skipped returns the automations to skip. A name without a rig selects all with that name.
func (c *Catalog) skipped(all map[string]foundFile, o Options) map[string]bool {
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
				unknown(plain, rig, all, scopedName)))
		}
	}
	return out
}

func (f foundFile) override(all []Override, local *time.Location) foundFile {
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
			off = fmt.Sprintf("disabled in automations.overrides (%s)",
				s.place["enabled"])
		}
	}
	changed := *f.cachedFile
	changed.spec = s
	changed.def, changed.problems = s.convert(local)
	if changed.def.Off != "" && off != "" {
		changed.def.Off = off
	}
	f.cachedFile = &changed
	return f
}

// resolveOnFailure resolves on_failure in the same rig, or else in the city.
func (c *Catalog) resolveOnFailure(all map[string]foundFile) {
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
			wrong[d.Scoped()] = toml.Problems{all[d.Scoped()].spec.problem("on_failure", "%s",
				unknown(name, rig, all, scopedName))}
			continue
		}
		d.OnFailure = target
		warn := func(format string, args ...any) {
			d.Warnings = append(d.Warnings, all[d.Scoped()].spec.problem("on_failure", format,
				args...))
		}
		switch {
		case !usable:
			warn("%s is broken, so it cannot run after a failure", target)
		case c.Automations[j].Off != "":
			warn("%s is %s, so it cannot run after a failure", target, c.Automations[j].Off)
		}
	}
	for _, d := range c.Automations {
		if ring := c.failureCycle(d, at); wrong[d.Scoped()] == nil && len(ring) > 0 {
			wrong[d.Scoped()] = toml.Problems{all[d.Scoped()].spec.problem("on_failure",
				"leads back to itself: %s", strings.Join(ring, " → "))}
		}
	}
	c.markBroken(wrong)
}

func (c *Catalog) failureCycle(d Definition, at map[string]int) []string {
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

func (c *Catalog) markBroken(wrong map[string]toml.Problems) {
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

func (c *Catalog) computeHashes() {
	whole := sha256.New()
	for i := range c.Automations {
		d := &c.Automations[i]
		d.Hash = digest(d.Hash, d.Scoped(), d.Source, d.Layer.Root, d.Timeout, d.Limit, d.OnFailure,
			d.Off)
		fmt.Fprintln(whole, d.Hash, d.Warnings.Error())
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
