package config

import (
	"bytes"
	"errors"
	"fmt"
	"gcity/config/files"
	"gcity/config/keys"
	"gcity/config/packmodel"
	"gcity/internal/toml"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
)

// Source says where a configuration is read from, and how.
type Source struct {
	Dir    string   // the city's folder
	Files  []string // absolute paths of files that are read after all that city.toml includes
	Strict bool     // two files that set the same key are an error, not a warning
	// "K=V", beats the files: GC_SESSION names the session provider, GC_BEADS that of the work, GC_EVENTS that of
	// the events
	Environ []string

	// Instead has contents that are taken for those of included files and of topologies', by absolute path.
	Instead map[string][]byte
}

// Load reads the configuration of the city in dir, as a Source without more files.
func Load(dir string, environ ...string) (*City, error) {
	return Source{Dir: dir, Environ: environ}.Load()
}

// Parse is Load for a city.toml that has been read already. What it includes, and the scripts that it names, are
// read from below dir, which is taken as it stands.
func Parse(dir string, data []byte, environ ...string) (*City, error) {
	return Source{Dir: dir, Environ: environ}.Parse(data)
}

// Revision is the Revision of the configuration as it is on disk now, whether or not it is valid.
func Revision(dir string) (string, error) { return Source{Dir: dir}.Revision() }

// Load reads the configuration. What is wrong with its content, all of it, is an *Error.
func (s Source) Load() (*City, error) {
	dir, err := Canonical(s.Dir)
	if err != nil {
		return nil, fmt.Errorf("cannot read the city in %s: %w", dir, err)
	}
	s.Dir = dir
	data, err := files.ReadSource(filepath.Join(dir, FileName))
	var f *toml.Fault
	switch {
	case errors.As(err, &f):
		return nil, whole(dir, f.Msg)
	case errors.Is(err, fs.ErrNotExist):
		return nil, whole(dir, packmodel.Missing(dir))
	case err != nil:
		return nil, fmt.Errorf("cannot read the city's configuration: %w", err)
	}
	return s.Parse(data)
}

// Parse is Load for a city.toml that has been read already. Everything else is read from disk; the folder is taken
// as it stands.
func (s Source) Parse(data []byte) (*City, error) {
	if marks := packmodel.OfFile(s.Dir, data); len(marks) > 0 {
		return nil, whole(s.Dir, packmodel.Problem(s.Dir, marks))
	}
	d := s.decode(data)
	if len(d.problems) > 0 {
		return nil, d.failure()
	}
	d.city.Revision = d.revision()
	return d.city, nil
}

// Revision is the Revision of the configuration as it is on disk now, whether or not it is valid.
func (s Source) Revision() (string, error) {
	dir, err := Canonical(s.Dir)
	if err != nil {
		return "", fmt.Errorf("cannot look at the city's configuration: %w", err)
	}
	s.Dir = dir
	path := filepath.Join(dir, FileName)
	data, err := files.ReadSource(path)
	if err != nil {
		return "", fmt.Errorf("cannot look at the city's configuration: %w", err)
	}
	if s.alone(data) {
		return (&loading{city: &City{Sources: []string{path}},
			hashes: map[string]string{path: files.Sum(data)}}).revision(), nil
	}
	return s.decode(data).revision(), nil
}

// alone says whether a city.toml is surely the only file of its configuration.
func (s Source) alone(data []byte) bool {
	keys := []string{"session_setup_script", "rigs", "include", "topolog", "pack",
		"prompt_template", "overlay_dir"}
	has := func(key string) bool { return bytes.Contains(data, []byte(key)) }
	return len(s.Files) == 0 && !slices.ContainsFunc(keys, has)
}

// decode reads a configuration as far as that goes.
func (s Source) decode(data []byte) *loading {
	d, root := s.begin(data)
	if root == nil {
		return d
	}
	decoder{d}.gather(root, s.Files)
	decoder{d}.environment(s.Environ)
	composer{d}.compose()
	checker{d}.whole()
	return d
}

// begin opens the city.toml; the root is nil if that cannot be read.
func (s Source) begin(data []byte) (*loading, *toml.Node) {
	path := filepath.Join(s.Dir, FileName)
	d := &loading{schema: keys.City(), hashes: map[string]string{path: files.Sum(data)},
		strict:  s.Strict,
		instead: s.Instead}
	d.city = &City{Path: s.Dir, Sources: []string{path}, Origins: map[string]Origin{}}
	return d, decoder{d}.open(FileName, data, cityNeeds)
}

// gather decodes the files of a configuration, one after the other.
func (d decoder) gather(root *toml.Node, more []string) {
	for _, table := range []string{"workspace", "daemon", "session", "session.k8s", "events", "api",
		"beads", "formulas", "automations"} {
		d.defaults(table, place{city: d.city})
	}
	d.table(root, "", place{city: d.city})
	d.inOrder(0)
	d.include(root)
	d.also(more)
}

// Inputs lists what a configuration is read from.
type Inputs struct {
	Files   []string // the city.toml first, whether or not they can be read
	Trees   []string // folders of topologies, in which every file counts
	Rigs    []string // folders of rigs, which count by their existence
	Folders []string // folders of fragments and overlays, sorted, whether or not they exist
}

// Inputs returns what the configuration on disk is read from, as far as it can be read.
func (s Source) Inputs() (Inputs, error) {
	data, err := files.ReadSource(filepath.Join(s.Dir, FileName))
	if err != nil {
		return Inputs{}, err
	}
	d := s.decode(data)
	in := Inputs{
		Files: d.city.Sources, Trees: d.city.trees,
		Folders: slices.Sorted(maps.Keys(d.outfits.folders)),
	}
	for _, r := range d.city.Rigs {
		if filepath.IsAbs(r.Path) {
			in.Rigs = append(in.Rigs, r.Path)
		}
	}
	return in, nil
}

// Part is one file or folder that a configuration is made of.
type Part struct {
	Kind string `json:"kind"` // "file" or "topology"
	Path string `json:"path"` // relative to the city, absolute if it is outside of it
}
