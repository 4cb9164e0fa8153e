package config

import (
	"gcity/config/files"
	"gcity/config/keys"
	"path/filepath"
	"slices"
	"strings"
)

// LoadPartial returns the readable part of an invalid configuration, or nil if an error might affect the store or the
// agents' names.
func (s Source) LoadPartial() *City {
	dir, err := Canonical(s.Dir)
	if err != nil {
		return nil
	}
	s.Dir = dir
	data, err := files.ReadSource(filepath.Join(dir, FileName))
	if err != nil {
		return nil
	}
	d := s.decode(data)
	if d.truncated || d.failedSources.any() || d.city.Workspace.Name == "" ||
		slices.ContainsFunc(d.problems, d.concernsNames) {
		return nil
	}
	return d.city
}

// concernsNames reports whether an error might affect the store or the agents' names. An unknown key might be a
// misspelled "name".
func (d *loading) concernsNames(p Problem) bool {
	elsewhere := []string{"agents", "automations", "console", "daemon", "events", "formulas",
		"providers", "session", "watchdogs"}
	known := []string{"agents.name", "agents.dir", "agents.scope", "agents.pool", "agents.pool.max"}
	table, _, within := strings.Cut(p.Key, ".")
	if !within || !slices.Contains(elsewhere, table) {
		return true
	}
	at := strings.LastIndexByte(p.Key, '.')
	in, name := p.Key[:at], p.Key[at+1:]
	if table == "agents" && d.schema.Child(in, name) == nil {
		if name = keys.Suggest(name, d.schema.Names(in)); name == "" {
			return true
		}
	}
	return slices.Contains(known, keys.Join(in, name))
}
