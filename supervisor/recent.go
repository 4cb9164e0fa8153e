package supervisor

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"gcity/internal/disk"
)

const maxRecent = 20

// recentCity is stored in one file per city, so that processes can write at the same time.
type recentCity struct {
	Path   string    `json:"path"`
	Name   string    `json:"name"`
	Opened time.Time `json:"opened"`
}

func (h Home) recentFolder() string { return filepath.Join(h.Dir, "recent") }

func (h Home) recentFile(path string) string {
	sum := sha256.Sum256([]byte(path))
	return filepath.Join(h.recentFolder(), hex.EncodeToString(sum[:12])+".json")
}

// Remember records that a city was opened.
func Remember(h Home, e Entry, now time.Time) error {
	data, err := json.Marshal(recentCity{e.Path, e.Name, now.UTC()})
	if err == nil {
		err = h.Make()
	}
	if err == nil {
		err = disk.MkdirAll(h.recentFolder(), 0o700)
	}
	if err == nil {
		err = disk.Replace(h.recentFile(e.Path), append(data, '\n'), 0o600)
	}
	if err != nil {
		return fmt.Errorf("cannot write the list of recently opened cities: %w", err)
	}
	all, err := readRecent(h)
	if err != nil {
		return err
	}
	if len(all) > maxRecent {
		for _, old := range all[maxRecent:] {
			Forget(h, old.Path)
		}
	}
	return nil
}

// Forget removes a city from the recently opened cities.
func Forget(h Home, path string) {
	_ = os.Remove(h.recentFile(path)) // at worst, the city is still listed
}

// Recent returns the recently opened cities, sorted by path. It skips records that are invalid.
func Recent(h Home) ([]Entry, error) {
	all, err := readRecent(h)
	if err != nil {
		return nil, err
	}
	var out []Entry
	for _, c := range all {
		out = append(out, Entry{Path: c.Path, Name: c.Name})
	}
	slices.SortFunc(out, func(a, b Entry) int { return cmp.Compare(a.Path, b.Path) })
	return out, nil
}

func readRecent(h Home) (all []recentCity, err error) {
	files, err := os.ReadDir(h.recentFolder())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("cannot read the list of recently opened cities: %w", err)
	}
	for _, f := range files {
		file := filepath.Join(h.recentFolder(), f.Name())
		var c recentCity
		data, err := os.ReadFile(file)
		if err != nil || json.Unmarshal(data, &c) != nil || h.recentFile(c.Path) != file {
			continue
		}
		all = append(all, c)
	}
	slices.SortFunc(all, func(a, b recentCity) int {
		return cmp.Or(b.Opened.Compare(a.Opened), cmp.Compare(a.Path, b.Path))
	})
	return all, nil
}
