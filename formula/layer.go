package formula

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"gcity/internal/toml"
)

// Layer is a folder of formulas, and of automations in its folder "automations". Layers are listed lowest first.
type Layer struct {
	Dir   string // absolute; it need not exist
	Title string // for people: "city", "topology base", "rig demo"
	Rig   string // whose layer it is, "" = the city's
	Root  string // of the topology that it is part of, "" = none
}

// Source is the file that counts under one name.
type Source struct {
	Name  string // without Suffix
	Path  string
	Layer Layer
}

// Resolve finds the formulas of layers: for each file name the highest layer wins whole, also with a file that is
// broken. What a lower layer has under that name is then not used in its stead: it would be other work than was
// meant. The result is in name order. With an error nothing is known of the layers: a folder that cannot be read is
// not an empty one.
func Resolve(layers []Layer) ([]Source, error) {
	found := map[string]Source{}
	for _, l := range layers {
		entries, err := os.ReadDir(l.Dir)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("cannot look for formulas (%s): %w", l.Title, err)
		}
		for _, e := range entries {
			name, ok := strings.CutSuffix(e.Name(), Suffix)
			if ok && NotAName(name) == "" && !e.IsDir() {
				found[name] = Source{name, filepath.Join(l.Dir, e.Name()), l}
			}
		}
	}
	return slices.SortedFunc(maps.Values(found), func(a, b Source) int {
		return cmp.Compare(a.Name, b.Name)
	}), nil
}

// Find reads the formula of this name from what Resolve found. An unknown name is an error that says what was meant.
func Find(name string, among []Source) (*Formula, error) {
	i, ok := slices.BinarySearchFunc(among, name, func(s Source, name string) int {
		return cmp.Compare(s.Name, name)
	})
	if ok {
		return Load(among[i].Path)
	}
	names := make([]string, len(among))
	for i, s := range among {
		names[i] = s.Name
	}
	if near := toml.Meant(name, names); near != "" {
		return nil, fmt.Errorf("there is no formula %q; did you mean %q?", name, near)
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("there is no formula %q, nor any other", name)
	}
	return nil, fmt.Errorf("there is no formula %q; there are %s", name,
		strings.Join(some(names), ", "))
}
