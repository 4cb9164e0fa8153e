package supervisor

import (
	"fmt"
	"time"

	"gcity/city"
)

// What a city is called is what others reach it by, so no two wards have one name at any time, whatever the
// registry says of those that it has just renamed, or no longer has.

// takenError is why a city cannot begin: another one still goes by its name.
type takenError struct {
	name, path string // of the other
	next       string // what that is to be called, "" if it is ending
}

func (e *takenError) Error() string {
	if e.next == "" {
		return fmt.Sprintf("the name %q is still that of %s, which is being stopped", e.name,
			e.path)
	}
	return fmt.Sprintf("the name %q is still that of %s, which is %q from its next start on",
		e.name, e.path, e.next)
}

// take gives a city that does not run the name that it is to have. While one that runs, or is ending, goes by that,
// it keeps another, and the error says so. The caller holds mu.
func (w *ward) take() error {
	taken := map[string]bool{}
	var by, idle *ward
	for _, o := range w.s.wards {
		switch {
		case o == w:
			continue
		case o.name == w.next && (o.running != nil || o.dismissed()):
			by = o
		case o.name == w.next:
			idle = o
		}
		taken[o.name], taken[o.next] = true, true
	}
	if by == nil {
		if idle != nil {
			idle.name = unnamed(idle.path, taken)
		}
		if w.name != w.next {
			w.name = w.next
			w.s.freed()
		}
		return nil
	}
	if w.name == "" || w.name == by.name {
		w.name = unnamed(w.path, taken)
	}
	e := &takenError{name: by.name, path: by.path}
	if !by.dismissed() {
		e.next = by.next
	}
	return e
}

// freed has those tried again that wait for a name. The caller holds mu.
func (s *Supervisor) freed() {
	for _, w := range s.wards {
		if w.name != w.next {
			w.poke(false)
		}
	}
}

// rename is for a city that is called otherwise from its next beginning on. The caller holds mu.
func (w *ward) rename(name string) {
	if w.next == name {
		return
	}
	if w.next = name; w.running == nil {
		_ = w.take() // as when it is admitted
		w.s.change()
		w.poke(false)
	}
}

// named is the ward of a name, nil if there is none; of a running city and one that waits for its name the first.
// The caller holds mu.
func (s *Supervisor) named(name string) (found *ward) {
	for _, w := range s.wards {
		if w.name == name && (found == nil || w.running != nil) {
			found = w
		}
	}
	return found
}

func (s *Supervisor) unknown(name string) error {
	return &city.Error{Code: city.NotFound, Message: fmt.Sprintf("no city is registered as %q; "+
		"`gcity cities` lists them", name)}
}

// namesOf is what the cities that have no name in the registry are called: as they are to be called that are known,
// the others by their configurations, as far as their folders answer.
func (s *Supervisor) namesOf(all []Entry) map[string]string {
	names := map[string]string{}
	began := time.Now()
	var unknown []string
	s.mu.Lock()
	for _, e := range all {
		switch w := s.wards[e.Path]; {
		case e.Name != "" || s.o.Name == nil:
		case w != nil:
			names[e.Path] = w.next
		default:
			unknown = append(unknown, e.Path)
		}
	}
	s.mu.Unlock()
	see := func(path string) func() string { return func() string { return s.o.Name(path) } }
	for _, path := range unknown { // beside each other
		s.names.Start(path, see(path))
	}
	for _, path := range unknown {
		names[path], _ = s.names.Do(s.lifetime(), path, began, nameAnswers, see(path))
	}
	return names
}
