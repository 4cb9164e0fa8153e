package config

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
)

// maxIncludes is how many files a city may include.
const maxIncludes = 100

// What a file must at least have.
const (
	cityNeeds    = "a city needs at least [workspace] or one [[agents]]"
	includeNeeds = "an included file needs at least one [[agents]] or [[rigs]]"
)

// open makes a file the one that is decoded, and parses it; nil if it cannot be.
func (d *decoder) open(name string, data []byte, needs string) *node {
	d.file, d.lines = name, lineStarts(data)
	d.files, d.size = append(d.files, name), d.size+len(data)
	root, faults := parseTOML(data, needs)
	for _, f := range faults {
		d.problem(f.at, f.key, "%s", f.msg)
	}
	if len(faults) > 0 {
		return nil
	}
	return root
}

// include reads the files that city.toml includes, one after the other.
func (d *decoder) include(root *node) {
	n := root.get("include")
	if n == nil || len(d.city.include) != len(n.kids) {
		return // that is said already
	}
	if len(n.kids) > maxIncludes {
		d.problem(n.at, "include", "has %d files; %d are the most", len(n.kids), maxIncludes)
		return
	}
	own, lines := d.file, d.lines
	for i, kid := range n.kids {
		name, data, err := d.includable(d.city.include[i])
		if err != nil {
			d.problem(kid.at, "include", "%q %s", d.city.include[i], err)
			continue
		}
		if t := d.open(name, data, includeNeeds); t != nil {
			first := len(d.city.Agents)
			d.part(t)
			d.inOrder(first)
		}
		d.file, d.lines = own, lines
	}
}

// includable reads a file that is to be included. Its name is the one that origins give it.
func (d *decoder) includable(path string) (name string, data []byte, err error) {
	path, err = resolve(d.city.Path, d.city.Path, path)
	if err != nil {
		return "", nil, errors.New("leaves the city's folder; write an absolute path if that is meant")
	}
	switch slices.Index(d.city.Sources, path) {
	case -1:
	case 0:
		return "", nil, errors.New("is this file itself; take it out")
	default:
		return "", nil, errors.New("is included twice; take one out")
	}
	name = path
	if rel, err := filepath.Rel(d.city.Path, path); err == nil && filepath.IsLocal(rel) {
		name = rel
	}
	d.city.Sources = append(d.city.Sources, path)
	data, err = read(path)
	var f *fault
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", nil, fmt.Errorf("cannot be included: there is no file %s; make it, or take it out", path)
	case errors.As(err, &f):
		return "", nil, fmt.Errorf("cannot be included: %s", f.msg)
	case err != nil:
		return "", nil, fmt.Errorf("cannot be included: %w", err)
	}
	d.hashes[path] = sum(data)
	if d.size+len(data) > MaxSize {
		return "", nil, fmt.Errorf("cannot be included: the files together are larger than %d MB", MaxSize>>20)
	}
	return name, data, nil
}

// part decodes a file that is included: lists of agents and rigs, and nothing else.
func (d *decoder) part(root *node) {
	for _, n := range root.kids {
		k := d.schema.child("", n.key)
		switch {
		case k != nil && (k.path == "agents" || k.path == "rigs"):
			d.list(n, k)
		case k != nil && k.path == "include":
			d.problem(n.at, n.key, "an included file cannot include others; list them in %s", FileName)
		case k != nil:
			d.problem(n.at, n.key, "an included file has [[agents]] and [[rigs]] and nothing else; write this into %s", FileName)
		default:
			if near := suggest(n.key, []string{"agents", "agent", "rigs"}); near != "" {
				d.problem(n.at, n.key, "unknown table; did you mean %q?", near)
				continue
			}
			d.problem(n.at, n.key, "is unknown; an included file has [[agents]] and [[rigs]] and nothing else")
		}
	}
}

// inOrder puts the agents from the first on into the order of their file: [[agent]] and [[agents]] are two lists to the
// parser.
func (d *decoder) inOrder(first int) {
	slices.SortStableFunc(d.city.Agents[first:], func(a, b Agent) int {
		return cmp.Or(cmp.Compare(a.Origin.Line, b.Origin.Line), cmp.Compare(a.Origin.Column, b.Origin.Column))
	})
}
