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

	"gcity/internal/suggest"
)

// Layer is a folder with formulas, and with automations in its subfolder "automations". Lists of layers begin with the
// lowest precedence.
type Layer struct {
	Dir   string // absolute path; the folder might be missing
	Title string // for display: "city", "topology base", "rig demo"
	Rig   string // "" = the city
	Root  string // folder of the layer's topology; "" = none
}

// Source is the file that defines a formula.
type Source struct {
	Name  string // file name without Suffix
	Path  string // "" = built in, and not on disk
	Layer Layer
}

// Resolve finds the formulas in layers, sorted by name. A file in a higher layer replaces files with the same name in
// lower layers, even if it is broken. An unreadable folder is an error.
func Resolve(layers []Layer) ([]Source, error) {
	found := map[string]Source{}
	for _, l := range layers {
		entries, err := os.ReadDir(l.Dir)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("cannot search for formulas (%s): %w", l.Title, err)
		}
		for _, e := range entries {
			name, ok := strings.CutSuffix(e.Name(), Suffix)
			if ok && NameProblem(name) == "" && !e.IsDir() {
				found[name] = Source{name, filepath.Join(l.Dir, e.Name()), l}
			}
		}
	}
	return slices.SortedFunc(maps.Values(found), func(a, b Source) int {
		return cmp.Compare(a.Name, b.Name)
	}), nil
}

func (s Source) compareName(name string) int { return cmp.Compare(s.Name, name) }

// Find reads the formula with this name. candidates is the result of Resolve.
func Find(name string, candidates []Source) (*Formula, error) {
	i, ok := slices.BinarySearchFunc(candidates, name, Source.compareName)
	switch {
	case ok && candidates[i].Path == "":
		return loadBuiltIn(name)
	case ok:
		return Load(candidates[i].Path)
	}
	names := make([]string, len(candidates))
	for i, s := range candidates {
		names[i] = s.Name
	}
	return nil, suggest.NotFound(suggest.Formula, name, names)
}
