package config

import (
	"cmp"
	"errors"
	"fmt"
	"gcity/config/files"
	"gcity/internal/toml"
	"io/fs"
	"slices"
)

const maxIncludes = 100

const (
	cityNeeds    = "a city needs at least [workspace] or one [[agents]]"
	includeNeeds = "an included file needs at least one key or table"
)

// parseFile parses a file, which becomes the decoder's current file. It returns nil if the file is invalid.
func (d decoder) parseFile(name string, data []byte, needs string) *toml.Node {
	d.file, d.lines = name, toml.LineStarts(data)
	d.files, d.size = append(d.files, name), d.size+len(data)
	root, faults := parseTOML(data, needs)
	before := len(d.problems)
	for _, f := range faults {
		d.problem(f.At, f.Key, "%s", f.Msg)
	}
	d.markCauses(before)
	if len(faults) > 0 {
		return nil
	}
	return root
}

func (d decoder) include(root *toml.Node) {
	n := root.Get("include")
	if n == nil {
		return
	}
	if len(d.city.Include) != len(n.Kids) {
		d.failedSources.files = true
		return
	}
	if len(n.Kids) > maxIncludes {
		d.failedSources.files = true
		d.problem(n.At, "include", "has %d files; at most %d are allowed", len(n.Kids), maxIncludes)
		return
	}
	own, lines := d.file, d.lines
	for i, kid := range n.Kids {
		before, lost := len(d.problems), d.failedSources.files
		d.failedSources.files = false
		path, err := resolve(d.city.Path, d.city.Path, d.city.Include[i])
		if err != nil {
			d.failedSources.files = true
			err = errors.New("is outside the city's folder; use an absolute path if this is " +
				"intended")
		} else {
			err = d.decodePart(path)
		}
		d.file, d.lines = own, lines
		if err != nil {
			d.problem(kid.At, "include", "%q %s", d.city.Include[i], err)
			if d.failedSources.files {
				d.markCauses(before)
			}
		}
		d.failedSources.files = d.failedSources.files || lost
	}
}

func (d decoder) readAdditional(files []string) {
	d.city.Additional = files
	for _, path := range files {
		if err := d.decodePart(path); err != nil {
			d.addError(Origin{File: "-f " + path}, "", "%v", err)
		}
	}
}

func (d decoder) read(path string) ([]byte, error) {
	for other, data := range d.contents {
		if path == other || files.Same(path, other) {
			return data, nil
		}
	}
	return files.ReadSource(path)
}

func (d decoder) readIncluded(path string) ([]byte, error) {
	switch slices.Index(d.city.Sources, path) {
	case -1:
	case 0:
		return nil, errors.New("is this file itself; remove it")
	default:
		return nil, errors.New("is included twice; remove one of them")
	}
	d.city.Sources = append(d.city.Sources, path)
	data, err := d.read(path)
	d.failedSources.files = d.failedSources.files || err != nil || d.size+len(data) > files.MaxSize
	var f *toml.Fault
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("cannot be included, because the file %s was not found; create it "+
			"or remove this entry", path)
	case errors.As(err, &f):
		return nil, fmt.Errorf("cannot be included: %s", f.Msg)
	case err != nil:
		return nil, fmt.Errorf("cannot be included: %w", err)
	}
	d.hashes[path] = files.Sum(data)
	if d.size+len(data) > files.MaxSize {
		return nil, fmt.Errorf("cannot be included: the files are larger than %d MB in total",
			files.MaxSize>>20)
	}
	return data, nil
}

func (d decoder) decodePart(path string) error {
	data, err := d.readIncluded(path)
	if err != nil {
		return err
	}
	root := d.parseFile(d.city.displayPath(path), data, includeNeeds)
	if root == nil {
		d.failedSources.files = true
		return nil
	}
	if n := root.Get("include"); n != nil {
		d.problem(n.At, "include", "an included file cannot include other files; list them in %s",
			FileName)
		kids := slices.DeleteFunc(root.Kids, func(k *toml.Node) bool { return k == n })
		root = &toml.Node{Shape: toml.ShapeTable}
		for _, kid := range kids {
			root.Add(kid)
		}
	}
	first := len(d.city.Agents)
	d.table(root, "", place{d.city})
	d.sortByPosition(first)
	return nil
}

// sortByPosition is needed because the parser returns [[agent]] and [[agents]] as separate lists.
func (d decoder) sortByPosition(index int) {
	slices.SortStableFunc(d.city.Agents[index:], func(a, b Agent) int {
		return cmp.Or(cmp.Compare(a.Origin.Line, b.Origin.Line),
			cmp.Compare(a.Origin.Column, b.Origin.Column))
	})
}
