package workstore

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"gcity/beads"
	"gcity/city"
	"gcity/cli/exit"
	"gcity/cli/folder"
	"gcity/config"
	"gcity/internal/deadline"
)

// Gone reports whether p is a rig with a missing folder.
func (p Place) Gone() bool {
	lost, _ := deadline.Within(context.Background(), folder.ReadTimeout, func() bool {
		_, err := os.Stat(p.Dir)
		return errors.Is(err, fs.ErrNotExist)
	})
	return p.Rig != "" && lost
}

// ImportHint returns advice for importing a bead into this place.
func (p Place) ImportHint() string {
	if p.Rig == "" {
		return "import into the city's store"
	}
	return "import with --rig " + p.Rig
}

// TypeRun is the type of beads that record automation runs.
const TypeRun = "run"

// Store is the open work store of a city or a rig. The caller that opened it must close it.
type Store interface {
	beads.Store
	beads.Batcher
	Close() error
}

// Place is a city or a rig with its own store.
type Place struct {
	Rig    string // "" for the city
	Dir    string
	Prefix string // of the beads' IDs
	City   string
	By     city.WorkStore
}

// Places returns the places in a configuration: the city and all rigs.
func Places(c *config.City) []Place {
	by := folder.WorkStore(c)
	out := []Place{{"", c.Path, c.Prefix(), c.Path, by}}
	for _, r := range c.Rigs {
		out = append(out, Place{r.Name, r.Path, r.Prefix, c.Path, by})
	}
	return out
}

// PlacesOf returns the places in a snapshot: the city in dir and its rigs.
func PlacesOf(dir string, s *city.Snapshot) []Place {
	named := config.City{Path: dir, Workspace: config.Workspace{Name: s.Name},
		Beads: config.Beads{Provider: s.Store.Provider},
		Dolt:  config.Dolt{Host: s.Store.Host, Port: s.Store.Port}}
	for _, r := range s.Rigs {
		named.Rigs = append(named.Rigs, config.Rig{Name: r.Name, Path: r.Path, Prefix: r.Prefix})
	}
	return Places(&named)
}

// PlaceOf returns the place with the work folder that BEADS_DIR names.
func PlaceOf(env string, all []Place) (Place, error) {
	is, err := filepath.Abs(env)
	if err != nil {
		return Place{}, exit.Usage("BEADS_DIR is not a folder: %v", err)
	}
	if filepath.Base(is) == folder.WorkFolder {
		for _, p := range all {
			if sameFolder(filepath.Dir(is), p.Dir) {
				return p, nil
			}
		}
	}
	return Place{}, exit.Usage("BEADS_DIR is %s, which is not a work store of this city or its "+
		"rigs; unset it, or select a rig with --rig", env)
}

// CheckOutput returns an error if file is in a work folder, also through a symbolic link. A write there could replace a
// store.
func (p Place) CheckOutput(file string) error {
	at, err := filepath.Abs(file)
	if err != nil {
		return err
	}
	in := filepath.Dir(at)
	if real, err := filepath.EvalSymlinks(in); err == nil {
		in = real
	}
	own := filepath.Join(p.Dir, folder.WorkFolder)
	for dir := in; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if filepath.Base(dir) == folder.WorkFolder || sameFolder(dir, own) {
			return exit.Usage("%s is in the work folder %s, where it could replace a store; "+
				"choose a file in another folder", file, dir)
		}
	}
	return nil
}

func sameFolder(x, y string) bool {
	if filepath.Clean(x) == filepath.Clean(y) {
		return true
	}
	xi, errX := os.Stat(x)
	yi, errY := os.Stat(y)
	return errX == nil && errY == nil && os.SameFile(xi, yi)
}

// Title returns the name of a place for messages.
func (p Place) Title() string {
	if p.Rig == "" {
		return "the city"
	}
	return "rig " + p.Rig
}
