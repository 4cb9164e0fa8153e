package watch

import (
	"context"
	"fmt"
	"gcity/config/files"
	"path/filepath"
	"strings"
	"time"

	"gcity/config"
)

// City returns a channel that receives a value when a city's configuration has changed and has then been stable for
// o.Quiet.
//
// Call City before config.Load, or set o.First, so that no change is missed. The channel holds at most one value. It is
// closed when ctx has ended and the watch has stopped.
func City(ctx context.Context, s config.Source, o Options) (<-chan struct{}, error) {
	dir, err := config.Canonical(s.Dir)
	if err != nil {
		return nil, fmt.Errorf("cannot watch the city's configuration: %w", err)
	}
	s.Dir = dir
	inputs := config.Inputs{Files: []string{filepath.Join(dir, config.FileName)}}
	return start(ctx, &cityFiles{from: s, inputs: inputs}, o, nil), nil
}

type cityFiles struct {
	from   config.Source // the path of the city's folder has no symbolic links
	inputs config.Inputs // the inputs at the latest successful read
	// events so far; distinguishes two writes within one tick of the file system's clock
	writes int

	open map[string]bool // folders in which every event matters
	// paths with relevant events: the sources, and the symbolic links in their paths
	files map[string]bool
}

func (s *cityFiles) String() string { return "the configuration" }

// Only a change of a source is urgent: a program may write to a topology's folder all the time, and each report then
// leads to a new revision.
func (s *cityFiles) isChange(path string) (is, urgent bool) {
	if s.files[path] || s.open[filepath.Dir(path)] {
		s.writes++
		return true, s.files[path] && !s.open[path]
	}
	return false, false
}

func (s *cityFiles) refresh() {
	if in, err := s.from.Inputs(); err == nil {
		s.inputs = in
	}
}

func (s *cityFiles) folders() map[string]bool {
	s.files = map[string]bool{}
	for _, path := range s.inputs.Files {
		for _, p := range linkChain(path) {
			s.files[p] = true
		}
	}
	parents := map[string]bool{}
	for p := range s.files {
		parents[filepath.Dir(p)] = true
	}
	s.open = map[string]bool{}
	s.rigs(parents)
	s.optional(parents)
	for _, tree := range s.inputs.Trees {
		chain := linkChain(tree)
		for _, p := range chain {
			p = missingAncestor(p)
			s.files[p], parents[filepath.Dir(p)] = true, true
		}
		for _, f := range files.TreeFolders(chain[len(chain)-1]) {
			s.open[f], parents[f] = true, true
		}
	}
	for f := range parents {
		s.files[f] = true // removing a folder ends its watch
	}
	return parents
}

func (s *cityFiles) rigs(parents map[string]bool) {
	began := time.Now()
	for _, p := range s.inputs.Rigs {
		files.StartCheck(p)
	}
	for _, p := range s.inputs.Rigs {
		if !files.Responds(p, began) {
			continue // the kernel cannot watch a folder that does not respond
		}
		p = missingAncestor(p)
		s.files[p] = true
		if f := filepath.Dir(p); !parents[f] {
			parents[f] = false // no polling, because patrols also detect a new rig folder
		}
	}
}

func (s *cityFiles) optional(parents map[string]bool) {
	began := time.Now()
	// the last folder that responded; folders below it need no further check
	responsive := "/\x00"
	for _, p := range s.inputs.Folders {
		if !strings.HasPrefix(p, responsive+"/") {
			if !files.Responds(p, began) {
				continue
			}
			responsive = p
		}
		next := missingAncestor(p)
		s.files[next], parents[filepath.Dir(next)] = true, true
		if next == p {
			s.open[p], parents[p] = true, true
		}
	}
}

func (s *cityFiles) state() string {
	state := stats(s.inputs.Files) + fmt.Sprintln(s.writes)
	revision, err := s.from.Revision()
	if err != nil {
		return state + "unreadable"
	}
	return state + revision
}
