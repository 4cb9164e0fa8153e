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
	Dir   string // absolute; it may be missing
	Title string // for display: "city", "topology base", "rig demo"
	Rig   string // the rig that it belongs to, "" = the city
	Root  string // folder of its topology, "" = none
}

// Source is the file that is used for one name.
type Source struct {
	Name  string // without Suffix
	Path  string
	Layer Layer
}

// Resolve finds the formulas of layers. For each file name the highest layer wins completely, even if its file is
// broken: the file of a lower layer would be other work than was meant. The result is sorted by name. With an error
// the result is unknown: a folder that cannot be read is not treated as empty.
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

// Find reads the formula of a name from the result of Resolve. The error for an unknown name suggests another one.
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
		return nil, fmt.Errorf("formula %q not found; did you mean %q?", name, near)
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("formula %q not found: there are no formulas", name)
	}
	return nil, fmt.Errorf("formula %q not found; the formulas are %s", name,
		strings.Join(some(names), ", "))
}
