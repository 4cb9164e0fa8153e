package config

import (
	"fmt"
	"path/filepath"
	"strings"
)

func (c *City) folderOf(o Origin) string {
	if filepath.IsAbs(o.File) {
		return filepath.Dir(o.File)
	}
	return filepath.Join(c.Path, filepath.Dir(o.File))
}

// PathOf returns the absolute path for an agent's key. A relative path is relative to the folder of the file that sets
// the key.
func (c *City) PathOf(a *Agent, key, path string) (string, error) {
	at, written := a.Origins[key]
	if !written {
		at = a.Origin
	}
	out, err := resolve(c.Path, c.folderOf(at), path)
	if err == nil {
		err = c.enclosed(c.folderOf(at), path, out)
	}
	return out, err
}

// enclosed rejects a path that leaves a fetched topology. Fetching rejects symbolic links that leave it.
func (c *City) enclosed(folder, written, path string) error {
	copies := filepath.Join(c.Path, ".gc", "topologies")
	rel, err := filepath.Rel(copies, folder)
	if err != nil || !filepath.IsLocal(rel) || rel == "." {
		return nil
	}
	name, _, _ := strings.Cut(rel, string(filepath.Separator))
	if within(filepath.Join(copies, name), path) {
		return nil
	}
	return fmt.Errorf("%q is outside the repository of the topology %q: a fetched topology may "+
		"use only its own files; set the key in [[patches.agents]] in %s", written, name, FileName)
}

// resolve returns an absolute path. A path that begins with "//" is relative to the city, and any other relative path
// to base. A relative path must stay in the city or in base. Symbolic links are not checked.
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
		return "", fmt.Errorf("%q is outside the city's folder; use the absolute path %q if "+
			"this is intended", filepath.Clean(path), out)
	}
	return out, nil
}

func within(folder, path string) bool {
	rel, err := filepath.Rel(folder, path)
	return err == nil && filepath.IsLocal(rel)
}

func (c *City) displayPath(path string) string {
	if rel, err := filepath.Rel(c.Path, path); err == nil && filepath.IsLocal(rel) {
		return rel
	}
	return path
}
