package supervisor

import (
	"context"
	"fmt"
	"slices"
	"time"

	"gcity/city"
)

const (
	quiet = 200 * time.Millisecond // a file that stays as it is for so long is not just being written
	most  = 10                     // looks at one that changes again and again
)

// registry reads who is registered. What would end a city is believed once it stays so.
func (s *Supervisor) registry() ([]Entry, error) {
	all, err := Read(s.o.Home)
	for range most {
		if err != nil || !s.ends(all) {
			return all, err
		}
		time.Sleep(quiet)
		var next []Entry
		if next, err = Read(s.o.Home); slices.Equal(next, all) {
			return all, err
		}
		all = next
	}
	return nil, fmt.Errorf("%s changes again and again, and would end cities", s.o.Home.Registry())
}

// ends says whether a city would end that is kept now.
func (s *Supervisor) ends(all []Entry) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for path, w := range s.wards {
		if !w.dismissed() && !slices.ContainsFunc(all, func(e Entry) bool { return e.Path == path }) {
			return true
		}
	}
	return false
}

// emptied is the error of a registry that names no city while some are kept: an editor that writes in two steps, or a slip.
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
	return fmt.Errorf("%s names no city any more: nobody is ended for that, and the cities that were in it (%d) go on; "+
		"`gcity register DIR` of one of them writes it anew, `gcity unregister NAME` ends one", s.o.Home.Registry(), n)
}

// restore writes the cities that are kept into a registry that names none, before it is changed: the change is about one city.
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
