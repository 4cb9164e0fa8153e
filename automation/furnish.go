package automation

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"gcity/formula"
	"gcity/internal/toml"
)

// dish is a formula as it was read.
type dish struct {
	stamp
	formula *formula.Formula
	err     error
}

// order is what a meal is made from. Nobody writes to it any more.
type order struct {
	automations []Definition
	written     map[string]spec // by scoped name
	layers      []formula.Layer
	// rigs of layers of which nothing new is known; "" = the city, whose layers are everybody's
	mute   map[string]bool
	pools  []string
	before map[string]*dish
	now    time.Time
}

// meal is what came of it.
type meal struct {
	wrong    map[string]toml.Problems // automations that cannot be used, by scoped name
	problems toml.Problems
	used     map[string]*dish // formulas that automations cook, by path
}

// furnish breaks automations whose pool, or whose formula with its variables, is not there: they would make nothing, or
// work that nobody ever takes. Formulas are read beside; while that hangs, what was found before stays.
func (s *Scanner) furnish(c *Catalog, o order, patience time.Duration) {
	if s.last != nil {
		o.before = s.last.used
	}
	m, ok := s.meals.Do(context.Background(), "formulas", time.Now(), patience, o.serve)
	if !ok {
		m = cmp.Or(s.last, &meal{})
		c.Problems = append(c.Problems, toml.At(toml.Place{}, "",
			"cannot look at the formulas of automations: %v; what was found before stays", errMute))
	}
	s.last = m
	c.Problems = append(c.Problems, m.problems...)
	c.breakUp(m.wrong)
}

// kitchen has the formulas that one meal needs.
type kitchen struct {
	order
	found map[string][]formula.Source // by rig
	used  map[string]*dish
}

func (o order) serve() *meal {
	k := &kitchen{order: o, found: map[string][]formula.Source{}, used: map[string]*dish{}}
	m := &meal{wrong: map[string]toml.Problems{}, used: k.used}
	for _, d := range o.automations {
		written := o.written[d.Scoped()]
		var problems toml.Problems
		if d.Pool != "" && o.pools != nil && !slices.Contains(o.pools, d.Target()) {
			problems = append(problems, written.said("pool", "%s", d.noPool(o.pools)))
		}
		if d.Formula != "" && !o.mute[""] && !o.mute[d.Rig] {
			more, err := k.taste(d, written)
			if err != nil {
				m.problems = append(m.problems, toml.At(toml.Place{}, "", "%v", err))
			}
			problems = append(problems, more...)
		}
		if len(problems) > 0 {
			m.wrong[d.Scoped()] = toml.Sorted(problems)
		}
	}
	return m
}

// noPool says that there is no such pool, and what may have been meant.
func (d Definition) noPool(pools []string) string {
	target := d.Target()
	if len(pools) == 0 {
		return fmt.Sprintf("there is no pool %q, nor any other: an agent with an [agents.pool] "+
			"table is one", target)
	}
	if target != d.Pool && slices.Contains(pools, d.Pool) {
		return fmt.Sprintf("rig %s has no pool %q; the city has one, which does not work on what "+
			"belongs to a rig: give the rig a pool, "+
			"or make this an automation of the city", d.Rig, d.Pool)
	}
	if near := toml.Meant(target, pools); near != "" {
		return fmt.Sprintf("there is no pool %q; did you mean %q?", target, near)
	}
	for _, p := range pools {
		if strings.HasSuffix(p, "/"+d.Pool) {
			return fmt.Sprintf("there is no pool %q; did you mean %q?", target, p)
		}
	}
	return fmt.Sprintf("there is no pool %q; there are %s", target,
		toml.List(pools[:min(len(pools), 12)]))
}

// taste tries whether a formula can be cooked with what the automation gives it. An error means that nothing is known.
func (k *kitchen) taste(d Definition, written spec) (toml.Problems, error) {
	sources, known := k.found[d.Rig]
	if !known {
		own := slices.DeleteFunc(slices.Clone(k.layers), func(l formula.Layer) bool {
			return l.Rig != "" && l.Rig != d.Rig
		})
		var err error
		if sources, err = formula.Resolve(own); err != nil {
			return nil, err
		}
		k.found[d.Rig] = sources
	}
	f, err := k.load(d.Formula, sources)
	if err != nil {
		return toml.Problems{written.said("formula", "%v", err)}, nil
	}
	if problems := d.wrongVars(f, written); len(problems) > 0 {
		return problems, nil
	}
	if _, err := formula.Cook(f, d.Vars); err != nil {
		return toml.Problems{written.said("formula", "%v", err)}, nil
	}
	return nil, nil
}

// load reads a formula, from memory if it has not changed.
func (k *kitchen) load(name string, among []formula.Source) (*formula.Formula, error) {
	i := slices.IndexFunc(among, func(s formula.Source) bool { return s.Name == name })
	if i < 0 {
		return formula.Find(name, among)
	}
	path := among[i].Path
	if x := k.used[path]; x != nil {
		return x.formula, x.err
	}
	info, err := os.Stat(path)
	if x := k.before[path]; err == nil && x != nil && x.still(info) {
		k.used[path] = x
		return x.formula, x.err
	}
	x := &dish{}
	if x.formula, x.err = formula.Load(path); x.err != nil {
		x.err = fmt.Errorf("the formula %s is broken: %w", name, x.err)
	}
	if err == nil {
		x.stamp = stampOf(info, k.now)
		k.used[path] = x
	}
	return x.formula, x.err
}

// wrongVars compares the values that are given with the variables that there are.
func (d Definition) wrongVars(f *formula.Formula, written spec) (problems toml.Problems) {
	var names []string
	for _, v := range f.Vars {
		names = append(names, v.Name)
	}
	for _, name := range slices.Sorted(maps.Keys(d.Vars)) {
		near := toml.Meant(name, names)
		switch {
		case slices.Contains(names, name):
		case near != "":
			problems = append(problems, written.said("vars."+name,
				"formula %s has no such variable; did you mean %q?", f.Name, near))
		case len(names) == 0:
			problems = append(problems, written.said("vars."+name, "formula %s has no variables",
				f.Name))
		default:
			problems = append(problems, written.said("vars."+name,
				"formula %s has no such variable; it has %s", f.Name, toml.List(names)))
		}
	}
	for _, name := range f.Unmet() {
		if strings.TrimSpace(d.Vars[name]) == "" {
			problems = append(problems, written.said("formula",
				"%s needs the variable %s; write %s = \"…\" below [%s.vars]",
				f.Name, name, name, written.table))
		}
	}
	return problems
}

// stamp tells a file from what it was when it was read.
type stamp struct {
	info fs.FileInfo
	sure bool // a later change would show in info
}

// stampOf is that of a file that is read now. One that was written just now may be written once more within the
// same tick of its clock.
func stampOf(info fs.FileInfo, now time.Time) stamp {
	return stamp{info, now.Sub(info.ModTime()) > 2*time.Second}
}

// still reports whether a file is as it was read.
func (s stamp) still(now fs.FileInfo) bool {
	return s.sure && os.SameFile(s.info, now) && s.info.ModTime().Equal(now.ModTime()) &&
		s.info.Size() == now.Size()
}
