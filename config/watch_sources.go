package config

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// sources are the files of one configuration, the folders of its topologies, and those of its rigs.
type sources struct {
	from  Source          // its folder free of links
	paths []string        // that were read last, the configuration itself first
	rigs  []string        // the folders of rigs
	trees []string        // the folders of topologies
	open  map[string]bool // folders in which everything matters
	// folders in which whatever comes and goes matters, whether or not they are there
	loose []string
	files map[string]bool // whose events matter: the sources, and the links on the way to them
}

func (s *sources) String() string { return "the configuration" }

func (s *sources) saw(path string) bool { return s.files[path] || s.open[filepath.Dir(path)] }

func (s *sources) follow() {
	data, err := ReadSource(s.paths[0])
	if err != nil {
		return
	}
	d := s.from.decode(data)
	s.paths, s.trees, s.rigs = d.city.Sources, d.city.trees, nil
	s.loose = slices.Sorted(maps.Keys(d.outfits.folders))
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
		beginLook(p)
	}
	for _, p := range s.rigs {
		if _, ok := lookAt(p, began); !ok {
			continue // a watch on it would not come to be either
		}
		p = coming(p)
		s.files[p] = true
		if f := filepath.Dir(p); !parents[f] {
			parents[f] = false // a rig is looked at by every Revision, too
		}
	}
	s.open = map[string]bool{}
	answers := "/\x00" // the last that was looked at: what is below it needs no look of its own
	for _, p := range s.loose {
		if !strings.HasPrefix(p, answers+"/") {
			if _, ok := lookAt(p, began); !ok {
				continue
			}
			answers = p
		}
		next := coming(p)
		s.files[next], parents[filepath.Dir(next)] = true, true
		if next == p {
			s.open[p], parents[p] = true, true
		}
	}
	for _, tree := range s.trees {
		way := hops(tree)
		for _, p := range way {
			p = coming(p)
			s.files[p], parents[filepath.Dir(p)] = true, true
		}
		for _, f := range foldersOf(way[len(way)-1]) {
			s.open[f], parents[f] = true, true
		}
	}
	for f := range parents {
		s.files[f] = true // a folder that goes takes its watch with it
	}
	return parents
}

func (s *sources) state() string {
	state, err := s.from.Revision()
	if err != nil {
		return unreadable
	}
	return state
}

// unreadable is the state of what has no revision.
const unreadable = "unreadable"
