package supervisor

import (
	"cmp"
	"context"
	"slices"

	"gcity/city"
)

// reconcile has the wards be those of the registry. One that has no name there keeps the one that it has, or is
// called as its configuration says.
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
		if w := s.wards[path]; w != nil {
			return w.next
		}
		return names[path]
	})
	wanted := map[string]bool{}
	for _, e := range entries {
		wanted[e.Path] = true
	}
	for path, w := range s.wards {
		if !wanted[path] {
			w.dismiss()
		}
	}
	for _, e := range entries {
		switch w := s.wards[e.Path]; {
		case w == nil:
			s.admit(e)
		case w.dismissed():
			w.comeBack(e) // once it has ended
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

// admit begins to run a city. The caller holds mu.
func (s *Supervisor) admit(e Entry) *ward {
	w := newWard(s, e)
	s.wards[e.Path] = w
	_ = w.take() // who may not have it yet is told when it begins
	s.wg.Go(w.live)
	s.change()
	return w
}

// forget is told by a ward whose goroutine ends. One that was registered again meanwhile begins anew.
func (s *Supervisor) forget(w *ward) {
	s.mu.Lock()
	defer s.mu.Unlock()
	again := w.again
	if s.wards[w.path] == w && s.ending == alive {
		delete(s.wards, w.path)
		s.freed()
		s.change()
		if again != nil {
			s.admit(*again)
		}
	}
}

// change wakes whoever watches. The caller holds mu.
func (s *Supervisor) change() {
	close(s.changed)
	s.changed = make(chan struct{})
}

// sorted are the wards in the order of their names. The caller holds mu.
func (s *Supervisor) sorted() []*ward {
	all := make([]*ward, 0, len(s.wards))
	for _, w := range s.wards {
		all = append(all, w)
	}
	slices.SortFunc(all, func(x, y *ward) int {
		return cmp.Or(city.CompareNames(x.name, y.name), cmp.Compare(x.path, y.path))
	})
	return all
}
