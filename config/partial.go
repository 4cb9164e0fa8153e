package config

import (
	"gcity/config/files"
	"gcity/config/keys"
	"path/filepath"
	"slices"
	"strings"
)

// Legible is what a refused configuration says as far as it can be read, for whoever only asks who keeps the work
// and who the agents are: its mistakes are where neither is said. It is nil if there may be one there, and must not
// be run.
func (s Source) Legible() *City {
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
	if d.more || d.unread.any() || d.city.Workspace.Name == "" ||
		slices.ContainsFunc(d.problems, d.aboutWho) {
		return nil
	}
	return d.city
}

// aboutWho says whether a mistake may be about who keeps the work, or who there is. So may a key that nobody knows.
func (d *loading) aboutWho(p Problem) bool {
	elsewhere := []string{"agents", "automations", "console", "daemon", "events", "formulas",
		"providers", "session", "watchdogs"}
	who := []string{"agents.name", "agents.dir", "agents.scope", "agents.pool", "agents.pool.max"}
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
	return slices.Contains(who, keys.Join(in, name))
}
