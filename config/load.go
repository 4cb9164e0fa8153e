package config

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"gcity/config/files"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

const (
	maxProblems = 50
)

// Find returns the city that contains a folder: the folder itself, or its nearest parent with a city.toml. The result
// is absolute and without symbolic links.
func Find(start string) (string, error) {
	abs, err := filepath.Abs(start)
	if err != nil {
		return "", fmt.Errorf("cannot search for a city: %w", err)
	}
	abs, err = filepath.EvalSymlinks(abs)
	if err != nil {
		return "", fmt.Errorf("cannot search for a city in %s: %w", start, err)
	}
	for dir := abs; ; dir = filepath.Dir(dir) {
		_, err := os.Stat(filepath.Join(dir, FileName))
		if err == nil || WasCity(dir) {
			return dir, nil
		}
		if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrPermission) {
			return "", fmt.Errorf("cannot search for a city: %w", err)
		}
		if dir == filepath.Dir(dir) {
			return "", fmt.Errorf(
				`no city here: neither %s nor a folder above it has a %s; create a city with `+
					`"gcity init", or select one with --city DIR`, abs, FileName)
		}
	}
}

// WasCity reports whether a folder without a configuration was a city.
func WasCity(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, ".gc", "controller.lock"))
	return err == nil
}

// Canonical returns dir as an absolute path without symbolic links.
func Canonical(dir string) (string, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return dir, err
	}
	links, err := filepath.EvalSymlinks(abs)
	if err != nil {
		return dir, err
	}
	return links, nil
}

func cityError(dir, msg string) *Error {
	return &Error{Path: dir, Problems: []Problem{{Place: Origin{File: FileName}, Message: msg}}}
}

// Overriding returns the environment entries that take precedence over the files.
func Overriding(environ []string) []string {
	var out []string
	for _, kv := range environ {
		if path, value := overridden(kv); path != "" && value != "" {
			out = append(out, kv)
		}
	}
	return out
}

func overridden(kv string) (path, value string) {
	name, value, _ := strings.Cut(kv, "=")
	return map[string]string{"GC_SESSION": "session.provider", "GC_BEADS": "beads.provider",
		"GC_EVENTS": "events.provider"}[name], value
}

func (d decoder) environment(environ []string) {
	for _, kv := range Overriding(environ) {
		path, value := overridden(kv)
		name, _, _ := strings.Cut(kv, "=")
		k, origin := d.schema.ByPath[path], Origin{File: "environment " + name}
		if msg := k.Invalid(value); msg != "" {
			d.addError(origin, "", "%s", msg)
			continue
		}
		set(place{d.city}.field(k), value)
		d.city.Origins[path] = origin
	}
	if d.city.Session.Provider == "" {
		d.city.Session.Provider = defaultProvider
	}
}

// revision returns a hash of the inputs on disk. It covers missing rig folders, because creating them changes the
// effect of the configuration.
func (d *loading) revision() string {
	h := sha256.New()
	for _, path := range d.city.Sources {
		fmt.Fprintf(h, "%s\x00%s\n", path, d.hashes[path])
	}
	for _, r := range d.city.Rigs {
		if r.Problem != "" {
			fmt.Fprintf(h, "%s\x00\x00%s\n", r.Path, r.Problem)
		}
	}
	for _, folder := range slices.Sorted(maps.Keys(d.agentFiles.folderHashes)) {
		fmt.Fprintf(h, "%s\x00%s\n", folder, d.agentFiles.folderHashes[folder])
	}
	for _, dir := range d.city.topologyDirs {
		contents, more := files.HashFolder(dir)
		fmt.Fprintf(h, "%s\x00tree %s\n", dir, contents)
		if more {
			d.addWarning(Origin{File: d.city.displayPath(dir)}, "", "the topology's "+
				"folder has more than %d files or %d MB; changes to the remaining files are not "+
				"detected", files.MaxTreeFiles, files.MaxTreeSize>>20)
		}
	}
	return hex.EncodeToString(h.Sum(nil))
}
