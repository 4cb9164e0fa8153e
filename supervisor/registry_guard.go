package supervisor

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"gcity/city"
)

func (s *Supervisor) wouldStopCities(all []Entry) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for path, w := range s.workers {
		if !w.dismissed() && !slices.ContainsFunc(all, isAt(path)) {
			return true
		}
	}
	return false
}

// emptyProblem returns the error for an empty registry, or nil if no cities are running. A registry can suddenly be
// empty, because an editor may write in two steps.
func (s *Supervisor) emptyProblem() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for _, w := range s.workers {
		if !w.dismissed() && w.state != city.CityStopped {
			n++
		}
	}
	if n == 0 {
		return nil
	}
	return fmt.Errorf("%s is empty, but its cities (%d) keep running. Run `gcity register "+
		"DIR` to add one again, or `gcity unregister NAME` to stop one", s.o.Home.Registry(), n)
}

// edit changes the registry. If the registry is empty, the same write adds the current cities. Otherwise, the change
// would stop them.
func (s *Supervisor) edit(ctx context.Context, change registryChange) error {
	return edit(ctx, s.o.Home, func(data []byte, all []Entry) (_ []byte, err error) {
		if len(all) == 0 {
			for _, e := range s.kept() {
				if data, err = addEntry(data, all, e); err != nil {
					return nil, err
				}
				all = append(all, e)
			}
		}
		return change(data, all)
	})
}

// kept returns the entries of the current cities.
func (s *Supervisor) kept() (all []Entry) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, w := range s.sorted() {
		if !w.dismissed() {
			all = append(all, Entry{Path: w.path, Name: w.next})
		}
	}
	return all
}

func (s *Supervisor) applyRead(saw readResult) {
	if saw.regErr == nil && len(saw.entries) == 0 {
		saw.regErr = s.emptyProblem()
	}
	s.setProblem(errors.Join(saw.setErr, saw.regErr))
	if saw.setErr == nil {
		s.apply(saw.settings)
	}
	if saw.regErr == nil {
		s.reconcile(saw.entries, saw.names)
	}
}

func (s *Supervisor) setProblem(err error) {
	text := ""
	if err != nil {
		text = err.Error()
	}
	s.mu.Lock()
	news := text != s.problem
	if s.problem = text; news {
		s.change()
	}
	s.mu.Unlock()
	switch {
	case news && err != nil:
		s.o.Logger.Error("a problem with the registry or the settings; running cities are "+
			"not affected", "why", text)
	case news:
		s.o.Logger.Info("the registry and the settings are valid again")
	}
}

func (s *Supervisor) apply(n Settings) {
	s.mu.Lock()
	news := !n.equal(s.settings) || s.o.Apply != nil && !s.applied
	warn := !slices.Equal(n.Warnings, s.settings.Warnings)
	s.settings, s.applied = n, true
	s.mu.Unlock()
	for _, w := range n.Warnings {
		if warn {
			s.o.Logger.Warn("a setting has no effect", "why", w)
		}
	}
	if news && s.o.Apply != nil {
		s.o.Apply(n)
	}
}
