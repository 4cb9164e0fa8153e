package config

import (
	"path/filepath"
	"slices"
	"strings"
)

// Legible is what a refused configuration says as far as it can be read, for whoever only asks who keeps the work and who the
// agents are: its mistakes are where neither is said. It is nil if there may be one there, and must not be run.
func (s Source) Legible() *City {
	dir, err := canonical(s.Dir)
	if err != nil {
		return nil
	}
	s.Dir = dir
	data, err := read(filepath.Join(dir, FileName))
	if err != nil {
		return nil
	}
	d := s.decode(data)
	elsewhere := []string{"agents", "automations", "console", "daemon", "events", "formulas", "providers", "session"}
	who := []string{"agents.name", "agents.dir", "agents.pool", "agents.pool.max"}
	for _, p := range d.problems {
		table, _, within := strings.Cut(p.Key, ".")
		if !within || !slices.Contains(elsewhere, table) || slices.Contains(who, p.Key) {
			return nil
		}
	}
	if d.more || d.city.Workspace.Name == "" {
		return nil
	}
	return d.city
}
