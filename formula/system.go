package formula

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"gcity/internal/disk"
)

// The formulas that come with the program. They are of no particular city: a layer above may have others by their
// names.
//
//go:embed system/*.formula.toml
var system embed.FS

// System writes the formulas that come with the program below the city's runtime folder, into system/formulas, and
// gives them as the lowest layer. That folder is the program's own: what does not come with it is removed from
// there. Files that are as they should be are not written again.
func System(runtime string) (Layer, error) {
	dir := filepath.Join(runtime, "system", "formulas")
	if err := unpack(dir); err != nil {
		return Layer{}, fmt.Errorf("cannot write the formulas that come with gcity: %w", err)
	}
	return Layer{Dir: dir, Title: "gcity"}, nil
}

// Shipped are the names of the formulas that come with the program, in order.
func Shipped() []string {
	entries, _ := system.ReadDir("system") // it is part of the program
	out := make([]string, len(entries))
	for i, e := range entries {
		out[i] = strings.TrimSuffix(e.Name(), Suffix)
	}
	return out
}

func unpack(dir string) error {
	if err := disk.MkdirAll(dir, 0o755); err != nil { //nolint:gosec // read by agents of any user
		return err
	}
	ours, err := fs.ReadDir(system, "system")
	if err != nil {
		return err
	}
	for _, e := range ours {
		data, err := system.ReadFile("system/" + e.Name())
		if err != nil {
			return err
		}
		path := filepath.Join(dir, e.Name())
		if now, err := disk.ReadFile(path); err == nil && bytes.Equal(now, data) {
			continue
		}
		if err := disk.Replace(path, data, 0o644); err != nil {
			return err
		}
	}
	there, err := disk.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range there {
		if _, err := fs.Stat(system, "system/"+e.Name()); errors.Is(err, fs.ErrNotExist) &&
			!e.IsDir() {
			if err := disk.Remove(filepath.Join(dir, e.Name())); err != nil &&
				!errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
	}
	return nil
}
