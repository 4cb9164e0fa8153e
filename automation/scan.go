package automation

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"gcity/formula"
	"gcity/internal/deadline"
	"gcity/internal/toml"
)

// Folder is the name of a layer's subfolder for automations.
const Folder = "automations"

// Options contains the city's settings for automations.
type Options struct {
	Skip       []string // names or scoped names of automations to skip
	SkipAt     toml.Place
	Overrides  []Override // applied in order, each key separately
	MaxTimeout time.Duration
	MaxAt      toml.Place
	// qualified names of all pools; nil = unknown, so pools are not checked
	Pools    []string
	Local    *time.Location // time zone of schedules without timezone; nil = UTC
	Patience time.Duration  // time limit for a scan; 0 = 10 s
	BuiltIn  bool           // also resolve built-in formulas that are not in a layer
}

// Catalog is the result of a scan, sorted by scoped name. It belongs to the caller.
type Catalog struct {
	Automations []Definition // valid automations, including disabled ones
	Broken      []Broken
	// rigs with layers that have never been read; "" = the city
	Unread []string
	// problems with the city's settings, and with folders that cannot be read
	Problems toml.Problems
	Warnings toml.Problems // warnings, except those about a single automation
	Revision string
}

// Broken is an automation that cannot be used. It still replaces automations with the same name in lower layers.
type Broken struct {
	Name, Rig string
	Source    string
	Layer     formula.Layer
	Problems  toml.Problems
}

// Scoped returns the scoped name of the broken automation.
func (b Broken) Scoped() string { return Scoped(b.Name, b.Rig) }

// mayContain reports whether the catalog lacks an automation only because its file or folder cannot be read or used.
func (c *Catalog) mayContain(scoped string) bool {
	_, rig, _ := strings.Cut(scoped, ":rig:")
	return slices.Contains(c.Unread, rig) || slices.ContainsFunc(c.Broken, func(b Broken) bool {
		return b.Scoped() == scoped
	})
}

// Scanner finds automations in the folders of layers. A layer that does not respond blocks one thread until it
// responds. A Scanner is not safe for concurrent use. The zero Scanner is ready to use.
type Scanner struct {
	local     *time.Location
	reading   *deadline.Calls[*layerCache]
	layers    map[string]*layerCache
	resolving *deadline.Calls[*resolution]
	last      *resolution
}

type foundFile struct {
	name  string
	path  string
	layer formula.Layer
	*cachedFile
}

func (f foundFile) scoped() string { return Scoped(f.name, f.layer.Rig) }

// Scan reads layers, lowest first. Within the city or a rig, an automation in a higher layer replaces one with the same
// name in a lower layer.
func (s *Scanner) Scan(layers []formula.Layer, o Options, now time.Time) Catalog {
	began, limit := time.Now(), cmp.Or(o.Patience, patience)
	if o.Local == nil {
		o.Local = time.UTC
	}
	if s.reading == nil {
		s.reading, s.resolving = deadline.New[*layerCache](maxReading), deadline.New[*resolution](1)
	}
	if s.local != o.Local {
		s.local, s.layers, s.last = o.Local, nil, nil
	}
	var c Catalog
	all, unresponsive := map[string]foundFile{}, map[string]bool{}
	for i, saw := range s.read(layers, limit/2, now) {
		l := layers[i]
		dir := filepath.Join(l.Dir, Folder)
		if saw.err != nil {
			unresponsive[l.Rig] = true
			if saw.files == nil {
				c.Unread = append(c.Unread, l.Rig)
			}
			c.Problems = append(c.Problems, toml.At(toml.Place{File: dir}, "",
				"cannot read automations (%s): %s; the automations that were read earlier stay "+
					"in use", l.Title,
				reason(saw.err)))
		}
		for name, k := range saw.found {
			f := foundFile{name: name, path: filepath.Join(dir, name, FileName), layer: l,
				cachedFile: k}
			all[f.scoped()] = f
		}
		sameDir := func(o formula.Layer) bool { return o.Dir == l.Dir }
		if !slices.ContainsFunc(layers[:i], sameDir) { // the city and rigs can use one topology
			c.Warnings = append(c.Warnings, saw.warnings...)
		}
	}
	c.fill(all, o)
	written := make(map[string]spec, len(all))
	for scoped, f := range all {
		written[scoped] = f.spec
	}
	s.resolve(&c, resolveInput{automations: slices.Clone(c.Automations), written: written,
		layers: layers, builtIn: o.BuiltIn,
		unresponsive: unresponsive, pools: o.Pools, now: now},
		max(limit-time.Since(began), time.Millisecond)) // at least 1 ms, because 0 means no limit
	c.resolveOnFailure(all)
	c.computeHashes()
	return c
}

var errUnresponsive = errors.New("the folder does not respond")

func (s *Scanner) read(layers []formula.Layer, patience time.Duration,
	now time.Time) []*layerCache {
	began := time.Now()
	see := make([]func() *layerCache, len(layers))
	for i, l := range layers {
		dir, local := filepath.Join(l.Dir, Folder), s.local
		before := cmp.Or(s.layers[dir], &layerCache{})
		see[i] = func() *layerCache { return readLayer(dir, before, local, now) }
		_ = s.reading.Start(dir, see[i]) // if this fails, the call to Do below fails too
	}
	out, layerCaches := make([]*layerCache, len(layers)), make(map[string]*layerCache, len(layers))
	for i, l := range layers {
		dir := filepath.Join(l.Dir, Folder)
		saw, ok := s.reading.Do(context.Background(), dir, began, patience, see[i])
		if !ok {
			saw = cmp.Or(s.layers[dir], &layerCache{}).withError(errUnresponsive)
		}
		out[i], layerCaches[dir] = saw, saw
	}
	s.layers = layerCaches
	return out
}

func (c *Catalog) fill(all map[string]foundFile, o Options) {
	sorted := slices.SortedFunc(maps.Values(all), func(a, b foundFile) int {
		return cmp.Compare(a.scoped(), b.scoped())
	})
	overrides := c.assign(all, o)
	off := c.skipped(all, o)
	for _, f := range sorted {
		d, problems := f.def, f.problems
		if wrong := formula.NameProblem(f.name); wrong != "" {
			problems = append(slices.Clone(problems), toml.At(toml.Place{File: f.path}, "",
				"folder name: %s; rename the folder, because its name is the automation's name",
				wrong))
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
			d.Off = "disabled in automations.skip"
		}
		d.Warnings = slices.Clone(d.Warnings)
		c.Automations = append(c.Automations, d)
	}
}
