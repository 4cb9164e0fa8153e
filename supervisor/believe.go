package supervisor

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"gcity/city"
)

// ends says whether a city would end that is kept now.
func (s *Supervisor) ends(all []Entry) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for path, w := range s.wards {
		if !w.dismissed() && !slices.ContainsFunc(all, func(e Entry) bool {
			return e.Path == path
		}) {
			return true
		}
	}
	return false
}

// emptied is the error of a registry that names no city while some are kept: an editor that writes in two steps, or
// a slip.
func (s *Supervisor) emptied() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for _, w := range s.wards {
		if !w.dismissed() && w.state != city.CityStopped {
			n++
		}
	}
	if n == 0 {
		return nil
	}
	return fmt.Errorf("%s names no city any more: nobody is ended for that, and the cities that "+
		"were in it (%d) go on; "+
		"`gcity register DIR` of one of them writes it anew, `gcity unregister NAME` ends one",
		s.o.Home.Registry(), n)
}

// restore writes the cities that are kept into a registry that names none, before it is changed: the change is
// about one city.
func (s *Supervisor) restore(ctx context.Context) error {
	if all, err := Read(s.o.Home); err != nil || len(all) > 0 {
		return nil // a change says what is wrong with it
	}
	s.mu.Lock()
	var kept []Entry
	for _, w := range s.sorted() {
		if !w.dismissed() {
			kept = append(kept, Entry{Path: w.path, Name: w.next})
		}
	}
	s.mu.Unlock()
	for _, e := range kept {
		if err := Add(ctx, s.o.Home, e); err != nil {
			return err
		}
	}
	return nil
}

// bring brings into force what was seen. A file with a mistake, or a registry that is suddenly empty, leaves what
// runs as it is.
func (s *Supervisor) bring(saw sight) {
	if saw.regErr == nil && len(saw.entries) == 0 {
		saw.regErr = s.emptied()
	}
	s.complain(errors.Join(saw.setErr, saw.regErr))
	if saw.setErr == nil {
		s.apply(saw.settings)
	}
	if saw.regErr == nil {
		s.reconcile(saw.entries, saw.names)
	}
}

// complain shows what is wrong with the files, and logs it when it is news.
func (s *Supervisor) complain(err error) {
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
		s.o.Logger.Error("a file is refused; what runs stays as it is", "why", text)
	case news:
		s.o.Logger.Info("the registry and the settings are well again")
	}
}

func (s *Supervisor) apply(n Settings) {
	s.mu.Lock()
	news := !n.equal(s.settings) || s.o.Apply != nil && !s.told
	warn := !slices.Equal(n.Warnings, s.settings.Warnings)
	s.settings, s.told = n, true
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
