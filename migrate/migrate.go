// Package migrate converts a city in Gas City's pack format of April 2026 to a city that gcity reads. The original does
// not change.
//
// # Concurrency
//
// Convert runs in the goroutine of its caller. It keeps no state between calls.
package migrate

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"gcity/config"
	"gcity/config/files"
	"gcity/config/keys"
	"gcity/internal/toml"
)

// Report is the result of a conversion.
type Report struct {
	City        string   `json:"city"` // folder of the original city
	Out         string   `json:"out"`  // folder of the converted city
	Agents      []string `json:"agents"`
	Topologies  []string `json:"topologies"`
	Automations []string `json:"automations"`
	Formulas    []string `json:"formulas"`
	Notes       []Note   `json:"notes"`
}

// Kind is the effect of a note.
type Kind string

// Kinds of notes, the most important first.
const (
	Broken     Kind = "broken"  // a part of the city does not work until the user changes something
	Changed    Kind = "changed" // a part works differently
	UnknownKey Kind = "unknown-key"
)

// Note describes a setting without an exact equivalent.
type Note struct {
	Kind  Kind   `json:"kind"`
	Key   string `json:"key,omitempty"` // KEY in TABLE if the kind is UnknownKey
	Place string `json:"place"`         // FILE:LINE:COLUMN in the original, or a file or folder
	Text  string `json:"text"`
}

func (n Note) String() string { return n.Place + ": " + n.Text }

// ErrNotPackModel means that a city need not be converted.
var ErrNotPackModel = errors.New("not in the pack format")

// FolderError means that a folder cannot be read or written. The conversion has had no effect yet.
type FolderError struct{ error }

func (e FolderError) Unwrap() error { return e.error }

// Convert converts the city in dir and writes the result to out, which must be empty or missing. If out is "", it
// writes to the folder DIR-gcity next to dir. A failed conversion leaves no files behind.
func Convert(dir, out string) (*Report, error) {
	dir, out, err := folders(dir, out)
	if err != nil {
		return nil, FolderError{err}
	}
	c := &conversion{dir: dir, out: out, packs: map[string]*pack{},
		hidden: map[string]string{}, schema: keys.City(), Report: &Report{City: dir, Out: out}}
	if err := c.read(); err != nil {
		return nil, err
	}
	return c.Report, c.write()
}

func folders(dir, out string) (string, string, error) {
	real, err := config.Canonical(dir)
	if err != nil {
		return "", "", fmt.Errorf("cannot read the city in %s: %w", dir, err)
	}
	if info, err := os.Stat(real); err != nil || !info.IsDir() {
		return "", "", fmt.Errorf("%s is not a folder; specify a city's folder", dir)
	}
	if out == "" {
		out = real + "-gcity"
	}
	if out, err = filepath.Abs(out); err != nil {
		return "", "", fmt.Errorf("cannot write to %s: %w", out, err)
	}
	if parent, err := filepath.EvalSymlinks(filepath.Dir(out)); err == nil {
		out = filepath.Join(parent, filepath.Base(out))
	}
	if within(real, out) {
		return "", "", fmt.Errorf("%s is inside the city %s, which must not be changed; specify a "+
			"folder outside the city with --out", out, real)
	}
	entries, err := os.ReadDir(out)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return "", "", fmt.Errorf("cannot write to %s: %w", out, err)
	case len(entries) > 0:
		return "", "", fmt.Errorf("%s is not empty; specify a new folder with --out", out)
	}
	return real, out, nil
}

func within(dir, path string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

type conversion struct {
	dir, out string
	stage    string // temporary folder that is renamed to out

	root  *pack
	files []*source        // city.toml and the files that it includes, in order
	site  *source          // .gc/site.toml; nil = the file does not exist
	packs map[string]*pack // by folder
	order []*pack
	rigs  []*rig

	sessions     bool
	overlays     []layerCopy
	hidden       map[string]string // files below .gc that agents name, by path in the result
	formulaPacks []*pack
	schema       keys.Schema
	*Report
}

func (r *Report) note(place, format string, args ...any) {
	r.add(Note{Kind: Changed, Place: place, Text: fmt.Sprintf(format, args...)})
}

func (r *Report) broken(place, format string, args ...any) {
	r.add(Note{Kind: Broken, Place: place, Text: fmt.Sprintf(format, args...)})
}

// unknownKey adds a note about a key. owner is the table or agent that has the key, and kind the kind of the owner.
func (r *Report) unknownKey(v value, owner, kind, hint string) {
	r.add(Note{Kind: UnknownKey, Key: v.Key + " in " + kind, Place: v.place(),
		Text: fmt.Sprintf("%s in %s has no equivalent%s", v.Key, owner, hint)})
}

func (r *Report) add(n Note) {
	if !slices.Contains(r.Notes, n) {
		r.Notes = append(r.Notes, n)
	}
}

// sort sorts the notes by kind and then by file.
func (r *Report) sort() {
	kinds := []Kind{Broken, Changed, UnknownKey}
	slices.SortStableFunc(r.Notes, func(a, b Note) int {
		return cmp.Or(slices.Index(kinds, a.Kind)-slices.Index(kinds, b.Kind),
			strings.Compare(fileOf(a.Place), fileOf(b.Place)))
	})
}

type source struct {
	path, name string
	root       value
	starts     []int
}

// open reads and parses a TOML file. If the file does not exist, open returns nil without an error.
func (c *conversion) open(path string) (*source, error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	s := &source{path: path, name: c.displayPath(path)}
	if err != nil {
		return nil, fmt.Errorf("cannot read %s: %w", s.name, err)
	}
	if len(data) > files.MaxSize {
		return nil, fmt.Errorf("%s is larger than %d MB", s.name, files.MaxSize>>20)
	}
	data = toml.BlankBOM(data)
	s.starts = toml.LineStarts(data)
	root, faults := toml.Parse(data)
	if len(faults) > 0 {
		return nil, fmt.Errorf("%s: %s", s.at(faults[0].At), faults[0].Msg)
	}
	if root == nil {
		root = &toml.Node{Shape: toml.ShapeTable}
	}
	s.root = value{root, s}
	return s, nil
}

func (c *conversion) displayPath(path string) string {
	if rel, err := filepath.Rel(c.dir, path); err == nil && within(c.dir, path) {
		return rel
	}
	return path
}

func (s *source) at(offset int) string {
	if offset < 0 {
		return s.name
	}
	line, exact := slices.BinarySearch(s.starts, offset)
	if !exact {
		line--
	}
	return fmt.Sprintf("%s:%d:%d", s.name, line+1, offset-s.starts[line]+1)
}

// settings returns the values of a key in a table of city.toml and of the files that it includes.
func (c *conversion) settings(table, key string) (out []value) {
	for _, s := range c.files {
		if v := s.root.get(table).get(key); v.Node != nil {
			out = append(out, v)
		}
	}
	return out
}

// value is a node of a file. Its Node is nil if the key does not exist.
type value struct {
	*toml.Node
	src *source
}

func (v value) get(key string) value { return value{v.Get(key), v.src} }

// tables returns the tables under each of the keys.
func (v value) tables(keys ...string) (out []value) {
	for _, key := range keys {
		for _, n := range toml.TablesOf(v.Get(key)) {
			out = append(out, value{n, v.src})
		}
	}
	return out
}

func (v value) kids() (out []value) {
	if v.Node == nil {
		return nil
	}
	for _, kid := range v.Kids {
		out = append(out, value{kid, v.src})
	}
	return out
}

func (v value) isTable() bool { return v.Node != nil && v.Shape == toml.ShapeTable }

func (v value) place() string { return v.src.at(v.At) }

func (v value) text() string {
	if v.Node == nil || v.Shape != toml.ShapeString {
		return ""
	}
	return v.Text
}

func (v value) texts() []string {
	var out []string
	for _, kid := range v.kids() {
		if v.Shape == toml.ShapeArray && kid.Shape == toml.ShapeString {
			out = append(out, kid.Text)
		}
	}
	return out
}

// oneOrMore is like texts, but also accepts a single string.
func (v value) oneOrMore() []string {
	if one := v.text(); one != "" {
		return []string{one}
	}
	return v.texts()
}
