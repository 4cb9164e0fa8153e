package config

import (
	"fmt"
	"path/filepath"
	"strings"
)

// folderOf is the folder of the file that says something, absolute: what the paths in it are relative to.
func (c *City) folderOf(o Origin) string {
	if filepath.IsAbs(o.File) {
		return filepath.Dir(o.File)
	}
	return filepath.Join(c.Path, filepath.Dir(o.File))
}

// PathOf makes a path that a key of an agent says absolute: relative to the file that says it, be that the one that declares
// the agent, a topology's, or one with a patch.
func (c *City) PathOf(a *Agent, key, path string) (string, error) {
	at, written := a.Origins[key]
	if !written {
		at = a.Origin
	}
	return resolve(c.Path, c.folderOf(at), path)
}

// resolve makes a path of the configuration absolute: relative to base, or with "//" before it to the city. A relative
// one that leads out of the city by ".." is an error, unless it stays in base; symbolic links are followed wherever
// they lead.
func resolve(city, base, path string) (string, error) {
	inner, ok := strings.CutPrefix(path, "//")
	switch {
	case ok:
		path, base = inner, city
	case filepath.IsAbs(path):
		return filepath.Clean(path), nil
	}
	out := filepath.Join(base, path)
	if !within(city, out) && !within(base, out) {
		return "", fmt.Errorf("%q leaves the city's folder; write the absolute path %q if that is meant", filepath.Clean(path), out)
	}
	return out, nil
}

// within says whether a clean path is a folder or below it.
func within(folder, path string) bool {
	rel, err := filepath.Rel(folder, path)
	return err == nil && filepath.IsLocal(rel)
}
