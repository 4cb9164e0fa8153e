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
	"unicode/utf8"
)

// Source says which files a configuration consists of and how to read them.
type Source struct {
	Dir    string
	Files  []string // absolute paths, read after the included files
	Strict bool     // two files must not set the same key
	// "K=V" entries that take precedence over the files
	Environ []string

	// contents that replace included files and topologies, by absolute path
	Contents map[string][]byte
}

// Load reads the configuration of the city in dir, without additional files.
func Load(dir string, environ ...string) (*City, error) {
	return Source{Dir: dir, Environ: environ}.Load()
}

// Parse is like Load, but takes the content of city.toml. It does not resolve symbolic links in dir.
func Parse(dir string, data []byte, environ ...string) (*City, error) {
	return Source{Dir: dir, Environ: environ}.Parse(data)
}

// Load reads the configuration. If the content is invalid, the error is an *Error with all problems.
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
		return nil, cityError(dir, f.Msg)
	case errors.Is(err, fs.ErrNotExist):
		return nil, cityError(dir, packmodel.Missing(dir))
	case err != nil:
		return nil, fmt.Errorf("cannot read the city's configuration: %w", err)
	}
	return s.Parse(data)
}

// Parse is like Load, but takes the content of city.toml. Other files are read from disk.
func (s Source) Parse(data []byte) (*City, error) {
	if !utf8.ValidString(s.Dir) { // JSON and TOML cannot represent such a path
		return nil, cityError(s.Dir, fmt.Sprintf(
			"the path of the city's folder, %q, is not valid UTF-8; rename the folder", s.Dir))
	}
	if marks := packmodel.OfFile(s.Dir, data); len(marks) > 0 {
		return nil, cityError(s.Dir, packmodel.Problem(s.Dir, marks))
	}
	d := s.decode(data)
	if len(d.problems) > 0 {
		if root, faults := toml.Parse(toml.BlankBOM(data)); len(faults) == 0 && root != nil {
			if marks := packmodel.OfInvalid(s.Dir, root); len(marks) > 0 {
				return nil, cityError(s.Dir, packmodel.Problem(s.Dir, marks))
			}
		}
		return nil, d.failure()
	}
	d.city.Revision = d.revision()
	return d.city, nil
}

// Revision returns the revision of the configuration on disk, even if it is invalid.
func (s Source) Revision() (string, error) {
	dir, err := Canonical(s.Dir)
	if err != nil {
		return "", fmt.Errorf("cannot read the city's configuration: %w", err)
	}
	s.Dir = dir
	path := filepath.Join(dir, FileName)
	data, err := files.ReadSource(path)
	if err != nil {
		return "", fmt.Errorf("cannot read the city's configuration: %w", err)
	}
	if s.isDataOnly(data) {
		return (&loading{city: &City{Sources: []string{path}},
			hashes: map[string]string{path: files.Sum(data)}}).revision(), nil
	}
	return s.decode(data).revision(), nil
}

func (s Source) isDataOnly(data []byte) bool {
	keys := []string{"session_setup_script", "rigs", "include", "topolog", "pack",
		"prompt_template", "overlay_dir"}
	has := func(key string) bool { return bytes.Contains(data, []byte(key)) }
	return len(s.Files) == 0 && !slices.ContainsFunc(keys, has)
}

func (s Source) decode(data []byte) *loading {
	d, root := s.parseCity(data)
	if root == nil {
		return d
	}
	decoder{d}.decodeAll(root, s.Files)
	decoder{d}.environment(s.Environ)
	composer{d}.compose()
	checker{d}.checkCity()
	return d
}

func (s Source) parseCity(data []byte) (*loading, *toml.Node) {
	path := filepath.Join(s.Dir, FileName)
	d := &loading{schema: keys.City(), hashes: map[string]string{path: files.Sum(data)},
		strict:   s.Strict,
		contents: s.Contents}
	d.city = &City{Path: s.Dir, Sources: []string{path}, Origins: map[string]Origin{}}
	return d, decoder{d}.parseFile(FileName, data, cityNeeds)
}

func (d decoder) decodeAll(root *toml.Node, additional []string) {
	for _, table := range []string{"workspace", "daemon", "session", "session.k8s", "events", "api",
		"beads", "formulas", "automations"} {
		d.defaults(table, place{d.city})
	}
	d.table(root, "", place{d.city})
	d.sortByPosition(0)
	d.include(root)
	d.readAdditional(additional)
}

// Inputs contains the files and folders from which a configuration is read.
type Inputs struct {
	Files   []string // city.toml is first
	Trees   []string // folders of topologies
	Rigs    []string // folders of rigs
	Folders []string // folders of fragments and overlays, sorted
}

// Inputs returns the inputs on disk.
func (s Source) Inputs() (Inputs, error) {
	data, err := files.ReadSource(filepath.Join(s.Dir, FileName))
	if err != nil {
		return Inputs{}, err
	}
	d := s.decode(data)
	in := Inputs{
		Files: d.city.Sources, Trees: d.city.topologyDirs,
		Folders: slices.Sorted(maps.Keys(d.agentFiles.folderHashes)),
	}
	for _, r := range d.city.Rigs {
		if filepath.IsAbs(r.Path) {
			in.Rigs = append(in.Rigs, r.Path)
		}
	}
	return in, nil
}

// Part is one file or folder in a configuration.
type Part struct {
	Kind string `json:"kind"` // "file" or "topology"
	Path string `json:"path"` // relative to the city, or absolute if it is outside
}
