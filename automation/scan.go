package automation

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"gcity/formula"
	"gcity/internal/tomldoc"
)

// Folder is where a layer has its automations.
const Folder = "automations"

// Options are what a city says about its automations from outside.
type Options struct {
	Skip       []string // names, or scoped names
	SkipAt     tomldoc.Place
	Overrides  []Override // a later one wins over an earlier one, key by key
	MaxTimeout time.Duration
	Local      *time.Location // of schedules that name no zone; nil = UTC
}

// Catalog is what a scan found, in the order of scoped names. It is the caller's.
type Catalog struct {
	Automations []Definition // valid ones, those that are off too
	Broken      []Broken
	Problems    tomldoc.Problems // of the city's own words about automations, and of folders that cannot be read
	Warnings    tomldoc.Problems // besides those of single automations
	Revision    string           // changes when anything above does
}

// Broken is an automation that cannot be used. Nothing of a lower layer takes its place: that would be other work than was
// meant.
type Broken struct {
	Name, Rig string
	Source    string
	Layer     formula.Layer
	Problems  tomldoc.Problems
}

// Scoped is as for a Definition.
func (b Broken) Scoped() string { return Scoped(b.Name, b.Rig) }

// Scanner finds automations in layers of folders. It remembers files, so that a scan that finds nothing new costs a look at
// each. Not for concurrent use. The zero value is ready.
type Scanner struct {
	local   *time.Location
	files   map[string]*known
	folders map[string][]string // names found by the last scan that could read the folder
}

// known is a file as it was read.
type known struct {
	info     fs.FileInfo
	sure     bool // a later change would show in info
	spec     spec
	def      Definition
	problems tomldoc.Problems
}

// found is an automation on its way into the catalog.
type found struct {
	name  string
	path  string
	layer formula.Layer
	*known
}

func (f found) scoped() string { return Scoped(f.name, f.layer.Rig) }

// Scan looks through layers, lowest first. Layers of one rig, and the city's, each make a set of their own, in which the
// highest layer's file wins whole.
func (s *Scanner) Scan(layers []formula.Layer, o Options, now time.Time) Catalog {
	if o.Local == nil {
		o.Local = time.UTC
	}
	if s.local != o.Local {
		*s = Scanner{local: o.Local, files: map[string]*known{}, folders: map[string][]string{}}
	}
	var c Catalog
	all := map[string]found{}
	for _, l := range layers {
		dir := filepath.Join(l.Dir, Folder)
		names, err := s.list(dir)
		if err != nil {
			c.Problems = append(c.Problems, tomldoc.At(tomldoc.Place{File: dir}, "",
				"cannot look for automations (%s): %s; what was found before stays", l.Title, reason(err)))
		}
		for _, name := range names {
			f := found{name: name, path: filepath.Join(dir, name, FileName), layer: l}
			if f.known = s.read(f.path, now); err != nil && s.files[f.path] != nil {
				f.known = s.files[f.path]
			}
			if f.known != nil {
				all[f.scoped()] = f
			}
		}
	}
	s.forget(all)
	c.fill(all, o)
	return c
}

// list gives the folders of a layer that may be automations. A folder that cannot be read is not an empty one.
func (s *Scanner) list(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		delete(s.folders, dir)
		return nil, nil
	case err != nil:
		return s.folders[dir], err
	}
	names := make([]string, 0, len(entries))
	for _, e := range entries {
		if e.IsDir() || e.Type() == fs.ModeSymlink {
			names = append(names, e.Name())
		}
	}
	s.folders[dir] = names
	return names, nil
}

// read gives a file, from memory if it has not changed; nil if there is none.
func (s *Scanner) read(path string, now time.Time) *known {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if k := s.files[path]; err == nil && k != nil && k.still(info) {
		return k
	}
	var doc *tomldoc.Doc
	if err == nil {
		doc, err = tomldoc.Load(path, path, MaxSize)
	}
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return &known{problems: tomldoc.Problems{tomldoc.At(tomldoc.Place{File: path}, "", "it cannot be read: %s", reason(err))}}
	}
	// A file that was written just now may be written once more within the same tick of its clock.
	age := now.Sub(info.ModTime())
	k := &known{info: info, sure: age > 2*time.Second}
	k.spec, k.def, k.problems = read(doc, s.local)
	s.files[path] = k
	return k
}

// still reports whether a file is as it was read.
func (k *known) still(now fs.FileInfo) bool {
	return k.sure && os.SameFile(k.info, now) && k.info.ModTime().Equal(now.ModTime()) && k.info.Size() == now.Size()
}

// reason is a file system's error without the path, which is told already.
func reason(err error) string {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err.Error()
	}
	return err.Error()
}

// forget drops files that no layer has any more.
func (s *Scanner) forget(all map[string]found) {
	if len(s.files) <= 2*len(all)+16 {
		return
	}
	keep := make(map[string]*known, len(all))
	for _, f := range all {
		keep[f.path] = f.known
	}
	s.files = keep
}

// fill makes the catalog of what was found.
func (c *Catalog) fill(all map[string]found, o Options) {
	sorted := slices.SortedFunc(maps.Values(all), func(a, b found) int { return cmp.Compare(a.scoped(), b.scoped()) })
	overrides := c.assign(all, o)
	off := c.skipped(all, o)
	for _, f := range sorted {
		d, problems := f.def, f.problems
		if wrong := formula.NotAName(f.name); wrong != "" {
			problems = append(slices.Clone(problems), tomldoc.At(tomldoc.Place{File: f.path}, "",
				"the folder's name, which is the automation's, %s", wrong))
		}
		if over := overrides[f.scoped()]; len(over) > 0 && len(problems) == 0 {
			d, problems = f.override(over, o.Local)
		}
		if len(problems) > 0 {
			c.Broken = append(c.Broken, Broken{f.name, f.layer.Rig, f.path, f.layer, problems})
			continue
		}
		d.Name, d.Rig, d.Source, d.Layer = f.name, f.layer.Rig, f.path, f.layer
		if o.MaxTimeout > 0 {
			d.Timeout = min(d.Timeout, o.MaxTimeout)
		}
		if off[f.scoped()] {
			d.Off = "disabled: named in automations.skip"
		}
		d.Warnings = slices.Clone(d.Warnings)
		c.Automations = append(c.Automations, d)
	}
	c.follow(all)
	c.seal()
}

// Find gives the automation of this name, which may be scoped, and rig. Without a rig it is the city's, or the only one of
// that name. The error says what was meant, or what is wrong with it.
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
			return Definition{}, fmt.Errorf("the automation %s is broken: %w", b.Scoped(), b.Problems)
		}
	}
	switch near := tomldoc.Meant(name, names); {
	case len(named) == 1:
		return named[0], nil
	case len(named) > 1:
		return Definition{}, fmt.Errorf("several rigs have an automation %s; say which: %s", name, tomldoc.List(scoped))
	case near != "":
		return Definition{}, fmt.Errorf("there is no automation %q; did you mean %q?", Scoped(name, rig), near)
	case len(names) == 0:
		return Definition{}, fmt.Errorf("there is no automation %q, nor any other; make one in a layer's folder as %s",
			Scoped(name, rig), filepath.Join(Folder, name, FileName))
	}
	return Definition{}, fmt.Errorf("there is no automation %q; gcity automation list shows what there is", Scoped(name, rig))
}
