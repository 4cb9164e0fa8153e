package config

import (
	"path/filepath"
	"time"
)

// sources are the files of one configuration, and the folders of its rigs.
type sources struct {
	dir   string
	paths []string        // that were read last, the configuration itself first
	rigs  []string        // the folders of rigs
	files map[string]bool // whose events matter: the sources, and the links on the way to them
}

func (s *sources) String() string { return "the configuration" }

func (s *sources) saw(path string) bool { return s.files[path] }

func (s *sources) follow() {
	data, err := read(s.paths[0])
	if err != nil {
		return
	}
	d := decode(s.dir, data, nil)
	s.paths, s.rigs = d.city.Sources, nil
	for _, r := range d.city.Rigs {
		if filepath.IsAbs(r.Path) {
			s.rigs = append(s.rigs, r.Path)
		}
	}
}

// folders are those of everything that the configuration is read through.
func (s *sources) folders() map[string]bool {
	s.files = map[string]bool{}
	for _, path := range s.paths {
		for _, p := range hops(path) {
			s.files[p] = true
		}
	}
	parents := map[string]bool{}
	for p := range s.files {
		parents[filepath.Dir(p)] = true
	}
	began := time.Now()
	for _, p := range s.rigs {
		folders.begin(p)
	}
	for _, p := range s.rigs {
		if _, ok := folders.at(p, began); !ok {
			continue // a watch on it would not come to be either
		}
		p = coming(p)
		s.files[p] = true
		if f := filepath.Dir(p); !parents[f] {
			parents[f] = false // a rig is looked at by every Revision, too
		}
	}
	for f := range parents {
		s.files[f] = true // a folder that goes takes its watch with it
	}
	return parents
}

func (s *sources) state() string {
	state, err := Revision(s.dir)
	if err != nil {
		return "unreadable"
	}
	return state
}
