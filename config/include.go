package config

import (
	"cmp"
	"errors"
	"fmt"
	"gcity/config/files"
	"gcity/internal/toml"
	"io/fs"
	"os"
	"slices"
)

// maxIncludes is how many files a city may include.
const maxIncludes = 100

// What a file must at least have.
const (
	cityNeeds    = "a city needs at least [workspace] or one [[agents]]"
	includeNeeds = "an included file needs at least one key or table"
)

// open makes a file the one that is decoded, and parses it; nil if it cannot be.
func (d decoder) open(name string, data []byte, needs string) *toml.Node {
	d.file, d.lines = name, toml.LineStarts(data)
	d.files, d.size = append(d.files, name), d.size+len(data)
	root, faults := parseTOML(data, needs)
	before := len(d.problems)
	for _, f := range faults {
		d.problem(f.At, f.Key, "%s", f.Msg)
	}
	d.causes(before)
	if len(faults) > 0 {
		return nil
	}
	return root
}

// include reads the files that city.toml includes, one after the other.
func (d decoder) include(root *toml.Node) {
	n := root.Get("include")
	if n == nil {
		return
	}
	if len(d.city.Include) != len(n.Kids) {
		d.unread.files = true
		return // that is said already
	}
	if len(n.Kids) > maxIncludes {
		d.unread.files = true
		d.problem(n.At, "include", "has %d files; %d are the most", len(n.Kids), maxIncludes)
		return
	}
	own, lines := d.file, d.lines
	for i, kid := range n.Kids {
		before, lost := len(d.problems), d.unread.files
		d.unread.files = false
		path, err := resolve(d.city.Path, d.city.Path, d.city.Include[i])
		if err != nil {
			err, d.unread.files = errors.New("leaves the city's folder; write an absolute path "+
				"if that is meant"), true
		} else {
			err = d.part(path)
		}
		d.file, d.lines = own, lines
		if err != nil {
			d.problem(kid.At, "include", "%q %s", d.city.Include[i], err)
			if d.unread.files {
				d.causes(before)
			}
		}
		d.unread.files = d.unread.files || lost
	}
}

// also reads the files that whoever asks for the configuration adds to it.
func (d decoder) also(files []string) {
	for _, path := range files {
		if err := d.part(path); err != nil {
			d.say(Origin{File: "-f " + path}, "", err.Error())
		}
	}
}

// read reads a file of the configuration, or what is to be taken for it.
func (d decoder) read(path string) ([]byte, error) {
	for other, data := range d.instead {
		if path == other || sameFile(path, other) {
			return data, nil
		}
	}
	return files.ReadSource(path)
}

// sameFile reports whether two paths lead to one file that is there, by whatever links.
func sameFile(a, b string) bool {
	one, err := os.Stat(a)
	other, otherErr := os.Stat(b)
	return err == nil && otherErr == nil && os.SameFile(one, other)
}

// includable reads a file that is to be included.
func (d decoder) includable(path string) ([]byte, error) {
	switch slices.Index(d.city.Sources, path) {
	case -1:
	case 0:
		return nil, errors.New("is this file itself; take it out")
	default:
		return nil, errors.New("is included twice; take one out")
	}
	d.city.Sources = append(d.city.Sources, path)
	data, err := d.read(path)
	d.unread.files = d.unread.files || err != nil || d.size+len(data) > files.MaxSize
	var f *toml.Fault
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("cannot be included: there is no file %s; make it, or take it out",
			path)
	case errors.As(err, &f):
		return nil, fmt.Errorf("cannot be included: %s", f.Msg)
	case err != nil:
		return nil, fmt.Errorf("cannot be included: %w", err)
	}
	d.hashes[path] = files.Sum(data)
	if d.size+len(data) > files.MaxSize {
		return nil, fmt.Errorf("cannot be included: the files together are larger than %d MB",
			files.MaxSize>>20)
	}
	return data, nil
}

// part decodes a file besides the city.toml: lists grow, and of other values the last file's count.
func (d decoder) part(path string) error {
	data, err := d.includable(path)
	if err != nil {
		return err
	}
	root := d.open(d.city.called(path), data, includeNeeds)
	if root == nil {
		d.unread.files = true
		return nil
	}
	if n := root.Get("include"); n != nil {
		d.problem(n.At, "include", "an included file cannot include others; list them in %s",
			FileName)
		kids := slices.DeleteFunc(root.Kids, func(k *toml.Node) bool { return k == n })
		root = &toml.Node{Shape: toml.ShapeTable}
		for _, kid := range kids {
			root.Add(kid)
		}
	}
	first := len(d.city.Agents)
	d.table(root, "", place{city: d.city})
	d.inOrder(first)
	return nil
}

// inOrder puts the agents from the first on into the order of their file: [[agent]] and [[agents]] are two lists to the
// parser.
func (d decoder) inOrder(first int) {
	slices.SortStableFunc(d.city.Agents[first:], func(a, b Agent) int {
		return cmp.Or(cmp.Compare(a.Origin.Line, b.Origin.Line),
			cmp.Compare(a.Origin.Column, b.Origin.Column))
	})
}
