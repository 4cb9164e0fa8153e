package supervisor

import (
	"cmp"
	"context"
	"slices"

	"gcity/city"
)

func (s *Supervisor) reconcile(entries []Entry, names map[string]string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ending != alive {
		return
	}
	entries = slices.DeleteFunc(slices.Clone(entries), func(e Entry) bool {
		return s.dropped[e.Path]
	})
	entries = Named(entries, func(path string) string {
		if w := s.workers[path]; w != nil {
			return w.next
		}
		return names[path]
	})
	wanted := map[string]bool{}
	for _, e := range entries {
		wanted[e.Path] = true
	}
	for path, w := range s.workers {
		if !wanted[path] {
			w.dismiss()
		}
	}
	for _, e := range entries {
		switch w := s.workers[e.Path]; {
		case w == nil:
			s.addWorker(e)
		case w.dismissed():
			w.restartAfterStop(e)
		default:
			w.rename(e.Name)
		}
	}
}

func (s *Supervisor) lifetime() context.Context {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.life
}

// addWorker starts a worker for a city. The caller must hold mu.
func (s *Supervisor) addWorker(e Entry) *worker {
	w := newWorker(s, e)
	s.workers[e.Path] = w
	_ = w.takeName() // an error is reported when the city starts
	s.wg.Go(w.runRecovering)
	s.change()
	return w
}

func (s *Supervisor) removeWorker(w *worker) {
	s.mu.Lock()
	defer s.mu.Unlock()
	again := w.again
	if s.workers[w.path] == w && s.ending == alive {
		delete(s.workers, w.path)
		s.retryNames()
		s.change()
		if again != nil {
			s.addWorker(*again)
		}
	}
}

// change notifies all watchers. The caller must hold mu.
func (s *Supervisor) change() {
	close(s.changed)
	s.changed = make(chan struct{})
}

// sorted returns the workers by name. The caller must hold mu.
func (s *Supervisor) sorted() []*worker {
	all := make([]*worker, 0, len(s.workers))
	for _, w := range s.workers {
		all = append(all, w)
	}
	slices.SortFunc(all, func(x, y *worker) int {
		return cmp.Or(city.CompareNames(x.name, y.name), cmp.Compare(x.path, y.path))
	})
	return all
}
