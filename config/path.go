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

// PathOf makes a path that a key of an agent says absolute: relative to the file that says it, be that the one that
// declares the agent, a topology's, or one with a patch.
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

// enclosed returns an error for a path that a fetched topology writes in a file in folder, and that leads out of
// its copy. Links that would lead out are refused when it is fetched.
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
	return fmt.Errorf("%q is outside the repository of the topology %q: what is fetched may use "+
		"only its own files; set the key in [[patches.agents]] of %s", written, name, FileName)
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
		return "", fmt.Errorf("%q leaves the city's folder; write the absolute path %q if "+
			"that is meant", filepath.Clean(path), out)
	}
	return out, nil
}

// within says whether a clean path is a folder or below it.
func within(folder, path string) bool {
	rel, err := filepath.Rel(folder, path)
	return err == nil && filepath.IsLocal(rel)
}

// called is the name that origins give a file.
func (c *City) called(path string) string {
	if rel, err := filepath.Rel(c.Path, path); err == nil && filepath.IsLocal(rel) {
		return rel
	}
	return path
}
