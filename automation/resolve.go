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

type formulaFile struct {
	stamp
	formula *formula.Formula
	err     error
}

// resolveInput is the input to resolve, which reads it in the background. It must not be modified.
type resolveInput struct {
	automations []Definition
	written     map[string]spec // by scoped name
	layers      []formula.Layer
	builtIn     bool // see Options
	// rigs with layers that do not respond; "" = the city's layers, which all rigs use
	unresponsive map[string]bool
	pools        []string
	before       map[string]*formulaFile
	now          time.Time
}

type resolution struct {
	wrong    map[string]toml.Problems // by scoped name
	problems toml.Problems
	used     map[string]*formulaFile // by path
}

// resolve marks automations with invalid pools, formulas or variables as broken. If the formulas cannot be read in
// time, it uses the previous result.
func (s *Scanner) resolve(c *Catalog, o resolveInput, patience time.Duration) {
	if s.last != nil {
		o.before = s.last.used
	}
	m, ok := s.resolving.Do(context.Background(), "formulas", time.Now(), patience, o.resolve)
	if !ok {
		m = cmp.Or(s.last, &resolution{})
		c.Problems = append(c.Problems, toml.At(toml.Place{}, "",
			"cannot read the automations' formulas: %v; the formulas that were read earlier "+
				"stay in use",
			errUnresponsive))
	}
	s.last = m
	c.Problems = append(c.Problems, m.problems...)
	c.markBroken(m.wrong)
}

type formulaChecker struct {
	resolveInput
	found map[string][]formula.Source // by rig
	used  map[string]*formulaFile
}

func (o resolveInput) resolve() *resolution {
	k := &formulaChecker{resolveInput: o, found: map[string][]formula.Source{},
		used: map[string]*formulaFile{}}
	m := &resolution{wrong: map[string]toml.Problems{}, used: k.used}
	for _, d := range o.automations {
		written := o.written[d.Scoped()]
		var problems toml.Problems
		if d.Pool != "" && o.pools != nil && !slices.Contains(o.pools, d.Target()) {
			problems = append(problems, written.problem("pool", "%s", d.unknownPool(o.pools)))
		}
		if d.Formula != "" && !o.unresponsive[""] && !o.unresponsive[d.Rig] {
			more, err := k.check(d, written)
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

func (d Definition) unknownPool(pools []string) string {
	target := d.Target()
	if len(pools) == 0 {
		return fmt.Sprintf("pool %q not found: this city has no pools; an agent with an "+
			"[agents.pool] table is a pool", target)
	}
	if target != d.Pool && slices.Contains(pools, d.Pool) {
		return fmt.Sprintf("rig %s has no pool %q, and an automation in a rig cannot use the "+
			"city's pool of that name; add a pool to the rig, or make this an automation for the "+
			"city", d.Rig, d.Pool)
	}
	if near := toml.Meant(target, pools); near != "" {
		return fmt.Sprintf("pool %q not found; did you mean %q?", target, near)
	}
	for _, p := range pools {
		if strings.HasSuffix(p, "/"+d.Pool) {
			return fmt.Sprintf("pool %q not found; did you mean %q?", target, p)
		}
	}
	return fmt.Sprintf("pool %q not found; the pools are %s", target,
		toml.List(pools[:min(len(pools), 12)]))
}

func (k *formulaChecker) check(d Definition, written spec) (toml.Problems, error) {
	sources, known := k.found[d.Rig]
	if !known {
		own := slices.DeleteFunc(slices.Clone(k.layers), func(l formula.Layer) bool {
			return l.Rig != "" && l.Rig != d.Rig
		})
		var err error
		if sources, err = formula.Resolve(own); err != nil {
			return nil, err
		}
		if k.builtIn {
			sources = formula.WithBuiltIn(sources)
		}
		k.found[d.Rig] = sources
	}
	f, err := k.load(d.Formula, sources)
	if err != nil {
		return toml.Problems{written.problem("formula", "%v", err)}, nil
	}
	if problems := d.wrongVars(f, written); len(problems) > 0 {
		return problems, nil
	}
	if _, err := formula.Cook(f, d.Vars); err != nil {
		return toml.Problems{written.problem("formula", "%v", err)}, nil
	}
	return nil, nil
}

func (k *formulaChecker) load(name string, among []formula.Source) (*formula.Formula, error) {
	i := slices.IndexFunc(among, func(s formula.Source) bool { return s.Name == name })
	if i < 0 || among[i].Path == "" {
		return formula.Find(name, among)
	}
	path := among[i].Path
	if x := k.used[path]; x != nil {
		return x.formula, x.err
	}
	info, err := os.Stat(path)
	if x := k.before[path]; err == nil && x != nil && x.unchanged(info) {
		k.used[path] = x
		return x.formula, x.err
	}
	x := &formulaFile{}
	if x.formula, x.err = formula.Load(path); x.err != nil {
		x.err = fmt.Errorf("formula %s is broken: %w", name, x.err)
	}
	if err == nil {
		x.stamp = stampOf(info, k.now)
		k.used[path] = x
	}
	return x.formula, x.err
}

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
			problems = append(problems, written.problem("vars."+name,
				"formula %s has no such variable; did you mean %q?", f.Name, near))
		case len(names) == 0:
			problems = append(problems, written.problem("vars."+name, "formula %s has no variables",
				f.Name))
		default:
			problems = append(problems, written.problem("vars."+name,
				"formula %s has no such variable; its variables are %s", f.Name, toml.List(names)))
		}
	}
	for _, name := range f.RequiredVars() {
		if strings.TrimSpace(d.Vars[name]) == "" {
			problems = append(problems, written.problem("formula",
				"%s needs the variable %s; set %s = \"…\" in [%s.vars]",
				f.Name, name, name, written.table))
		}
	}
	return problems
}

type stamp struct {
	info fs.FileInfo
	sure bool // a later change to the file always changes its FileInfo
}

// stampOf sets sure to false if the file has just changed, because another write might leave the modification time
// unchanged.
func stampOf(info fs.FileInfo, now time.Time) stamp {
	return stamp{info, now.Sub(info.ModTime()) > 2*time.Second}
}

func (s stamp) unchanged(now fs.FileInfo) bool {
	return s.sure && os.SameFile(s.info, now) && s.info.ModTime().Equal(now.ModTime()) &&
		s.info.Size() == now.Size()
}
