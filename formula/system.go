package formula

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"gcity/internal/disk"
)

// system contains gcity's built-in formulas. Every layer can override them.
//
//go:embed system/*.formula.toml
var system embed.FS

// System writes the built-in formulas to system/formulas in the runtime folder, and returns that folder as the lowest
// layer. It removes other files, except recent temporary files.
func System(runtime string) (Layer, error) {
	dir := filepath.Join(runtime, "system", "formulas")
	if err := unpack(dir); err != nil {
		return Layer{}, fmt.Errorf("cannot write the built-in formulas: %w", err)
	}
	return Layer{Dir: dir, Title: "gcity"}, nil
}

// BuiltIn returns the names of the built-in formulas, sorted.
func BuiltIn() []string {
	entries, _ := system.ReadDir("system") // cannot fail, because the file system is embedded
	out := make([]string, len(entries))
	for i, e := range entries {
		out[i] = strings.TrimSuffix(e.Name(), Suffix)
	}
	return out
}

// WithBuiltIn adds the built-in formulas that are missing in sources, the result of Resolve. They need not be on disk.
func WithBuiltIn(sources []Source) []Source {
	for _, name := range BuiltIn() {
		at, found := slices.BinarySearchFunc(sources, name, Source.compareName)
		if !found {
			sources = slices.Insert(sources, at, Source{Name: name})
		}
	}
	return sources
}

func loadBuiltIn(name string) (*Formula, error) {
	data, err := system.ReadFile("system/" + name + Suffix)
	if err != nil {
		return nil, err
	}
	return Parse(name+Suffix, data)
}

func unpack(dir string) error {
	if err := disk.MkdirAll(dir, 0o755); err != nil { //nolint:gosec // agents of any user read it
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
			!e.IsDir() && !disk.IsRecentTemp(e) {
			if err := disk.RemoveAny(filepath.Join(dir, e.Name())); err != nil {
				return err
			}
		}
	}
	return nil
}
