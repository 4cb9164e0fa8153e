package automation

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"time"

	"gcity/formula"
	"gcity/internal/deadline"
	"gcity/internal/toml"
)

// Folder is the folder of automations in a layer.
const Folder = "automations"

// Options are the city's settings about its automations.
type Options struct {
	Skip       []string // names, or scoped names
	SkipAt     toml.Place
	Overrides  []Override // a later one overrides an earlier one, key by key
	MaxTimeout time.Duration
	MaxAt      toml.Place
	// qualified names of all pools; nil = unknown, and not checked
	Pools    []string
	Local    *time.Location // zone of schedules without a zone; nil = UTC
	Patience time.Duration  // timeout of a layer; 0 = 5 s
}

// Catalog is the result of a scan, sorted by scoped name. The caller owns it.
type Catalog struct {
	Automations []Definition // valid ones, including disabled ones
	Broken      []Broken
	// in the city's settings about automations, and folders that cannot be read
	Problems toml.Problems
	Warnings toml.Problems // apart from those of single automations
	Revision string        // a hash of all fields above
}

// Broken is an automation that cannot be used. It still hides an automation of the same name in a lower layer,
// because that one does other work.
type Broken struct {
	Name, Rig string
	Source    string
	Layer     formula.Layer
	Problems  toml.Problems
}

// Scoped returns the name that is unique in the city, as for a Definition.
func (b Broken) Scoped() string { return Scoped(b.Name, b.Rig) }

// Scanner finds automations in layers of folders. It caches files, so a scan without changes costs one stat for
// each. Layers are read in the background. A layer that does not answer occupies one thread until it does, and is
// not read twice at the same time. Not for concurrent use. The zero value is ready.
type Scanner struct {
	local   *time.Location
	looks   *deadline.Calls[*layerCache]
	shelves map[string]*layerCache // by folder, from the last scan
	meals   *deadline.Calls[*meal]
	last    *meal // from the last scan
}

// found is a candidate for the catalog.
type found struct {
	name  string
	path  string
	layer formula.Layer
	*known
}

func (f found) scoped() string { return Scoped(f.name, f.layer.Rig) }

// Scan reads layers, lowest first. The layers of each rig, and those of the city, form a set of their own, in which
// the file of the highest layer replaces the others. It takes at most o.Patience. A layer that once did not answer
// in time is not waited for again.
func (s *Scanner) Scan(layers []formula.Layer, o Options, now time.Time) Catalog {
	if o.Local == nil {
		o.Local = time.UTC
	}
	if s.looks == nil {
		s.looks, s.meals = deadline.New[*layerCache](maxLooks), deadline.New[*meal](1)
	}
	if s.local != o.Local {
		s.local, s.shelves, s.last = o.Local, nil, nil
	}
	var c Catalog
	all, mute := map[string]found{}, map[string]bool{}
	for i, saw := range s.read(layers, cmp.Or(o.Patience, patience), now) {
		l := layers[i]
		dir := filepath.Join(l.Dir, Folder)
		if saw.err != nil {
			mute[l.Rig] = true
			c.Problems = append(c.Problems, toml.At(toml.Place{File: dir}, "",
				"cannot look for automations (%s): %s; the previous result stays", l.Title,
				reason(saw.err)))
		}
		for name, k := range saw.found {
			f := found{name: name, path: filepath.Join(dir, name, FileName), layer: l, known: k}
			all[f.scoped()] = f
		}
		c.Warnings = append(c.Warnings, saw.odd...)
	}
	c.fill(all, o)
	written := make(map[string]spec, len(all))
	for scoped, f := range all {
		written[scoped] = f.spec
	}
	s.resolve(&c, order{automations: slices.Clone(c.Automations), written: written, layers: layers,
		mute: mute, pools: o.Pools, now: now},
		cmp.Or(o.Patience, patience))
	c.follow(all)
	c.seal()
	return c
}

var errMute = errors.New("it does not answer")

// read reads all layers in parallel and caches the result.
func (s *Scanner) read(layers []formula.Layer, patience time.Duration,
	now time.Time) []*layerCache {
	began := time.Now()
	see := make([]func() *layerCache, len(layers))
	for i, l := range layers {
		dir, local := filepath.Join(l.Dir, Folder), s.local
		before := cmp.Or(s.shelves[dir], &layerCache{})
		see[i] = func() *layerCache { return look(dir, before, local, now) }
		s.looks.Start(dir, see[i])
	}
	out, shelves := make([]*layerCache, len(layers)), make(map[string]*layerCache, len(layers))
	for i, l := range layers {
		dir := filepath.Join(l.Dir, Folder)
		saw, ok := s.looks.Do(context.Background(), dir, began, patience, see[i])
		if !ok {
			saw = cmp.Or(s.shelves[dir], &layerCache{}).kept(errMute)
		}
		out[i], shelves[dir] = saw, saw
	}
	s.shelves = shelves
	return out
}

// fill builds the catalog.
func (c *Catalog) fill(all map[string]found, o Options) {
	sorted := slices.SortedFunc(maps.Values(all), func(a, b found) int {
		return cmp.Compare(a.scoped(), b.scoped())
	})
	overrides := c.assign(all, o)
	off := c.skipped(all, o)
	for _, f := range sorted {
		d, problems := f.def, f.problems
		if wrong := formula.NotAName(f.name); wrong != "" {
			problems = append(slices.Clone(problems), toml.At(toml.Place{File: f.path}, "",
				"the folder's name, which is the automation's, %s", wrong))
		}
		if over := overrides[f.scoped()]; len(over) > 0 && len(problems) == 0 {
			f = f.override(over, o.Local)
			all[f.scoped()], d, problems = f, f.def, f.problems
		}
		if len(problems) > 0 {
			c.Broken = append(c.Broken, Broken{f.name, f.layer.Rig, f.path, f.layer, problems})
			continue
		}
		d.Name, d.Rig, d.Source, d.Layer = f.name, f.layer.Rig, f.path, f.layer
		if o.MaxTimeout > 0 && d.Timeout > o.MaxTimeout {
			d.Timeout, d.Limit = o.MaxTimeout, "max_timeout in "+o.MaxAt.String()
		}
		if off[f.scoped()] {
			d.Off = "disabled: named in automations.skip"
		}
		d.Warnings = slices.Clone(d.Warnings)
		c.Automations = append(c.Automations, d)
	}
}

// Find returns the automation of a name, which may be scoped, in a rig. Without a rig it returns the city's, or the
// only one of that name. The error suggests a name, or says what is wrong with the automation.
func (c *Catalog) Find(name, rig string) (Definition, error) {
	var named []Definition
	var names, scoped []string
	for _, d := range c.Automations {
		if d.Scoped() == Scoped(name, rig) {
			return d, nil
		}
		names = append(names, d.Name)
		if d.Name == name && rig == "" {
			named, scoped = append(named, d), append(scoped, d.Scoped())
		}
	}
	for _, b := range c.Broken {
		if b.Scoped() == Scoped(name, rig) {
			return Definition{}, fmt.Errorf("automation %s is broken: %w", b.Scoped(),
				b.Problems)
		}
	}
	switch near := toml.Meant(name, names); {
	case len(named) == 1:
		return named[0], nil
	case len(named) > 1:
		return Definition{}, fmt.Errorf("several rigs have an automation %s; name the rig: %s",
			name,
			toml.List(scoped))
	case near != "":
		return Definition{}, fmt.Errorf("automation %q not found; did you mean %q?",
			Scoped(name, rig), near)
	case len(names) == 0:
		return Definition{}, fmt.Errorf("automation %q not found: there are no automations. "+
			"Create one in a layer's folder as %s",
			Scoped(name, rig), filepath.Join(Folder, name, FileName))
	}
	return Definition{}, fmt.Errorf("automation %q not found; gcity automation list shows them",
		Scoped(name, rig))
}
