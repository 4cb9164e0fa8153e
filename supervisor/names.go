package supervisor

import (
	"fmt"
	"time"

	"gcity/city"
	"gcity/internal/suggest"
)

type takenError struct {
	name, path string
	next       string // the other city's next name; "" = that city is stopping
}

func (e *takenError) Error() string {
	if e.next == "" {
		return fmt.Sprintf("the name %q is still used by %s, which is being stopped", e.name,
			e.path)
	}
	return fmt.Sprintf("the name %q is still used by %s, which will be called %q after its "+
		"next start", e.name, e.path, e.next)
}

// takeName gives a city its next name, or returns an error if another city uses it. The caller must hold mu.
func (w *worker) takeName() error {
	taken := map[string]bool{}
	var by, idle *worker
	for _, o := range w.s.workers {
		switch {
		case o == w:
			continue
		case o.name == w.next && (o.inUse() || o.dismissed()):
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
			w.s.retryNames()
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

// inUse reports whether the city must keep its name. The caller must hold mu.
func (w *worker) inUse() bool { return w.running != nil || w.opens }

// retryNames retries the cities that are waiting for a name. The caller must hold mu.
func (s *Supervisor) retryNames() {
	for _, w := range s.workers {
		if w.name != w.next {
			w.poke(false)
		}
	}
}

// rename sets the name for a city's next start. The caller must hold mu.
func (w *worker) rename(name string) {
	if w.next == name {
		return
	}
	if w.next = name; !w.inUse() {
		_ = w.takeName() // an error is reported when the city starts
		w.s.change()
		w.poke(false)
	}
}

// byName returns the worker of the city with this name, or nil. It prefers a running city to a waiting one. The caller
// must hold mu.
func (s *Supervisor) byName(name string) (found *worker) {
	for _, w := range s.workers {
		if w.name == name && (found == nil || w.running != nil) {
			found = w
		}
	}
	return found
}

func (s *Supervisor) unknown(name string) error {
	return city.Missing(suggest.NoSuch(suggest.City, name))
}

func (s *Supervisor) namesOf(all []Entry) map[string]string {
	names := map[string]string{}
	began := time.Now()
	var unknown []string
	s.mu.Lock()
	for _, e := range all {
		switch w := s.workers[e.Path]; {
		case e.Name != "" || s.o.Name == nil:
		case w != nil:
			names[e.Path] = w.next
		default:
			unknown = append(unknown, e.Path)
		}
	}
	s.mu.Unlock()
	see := func(path string) func() string { return func() string { return s.o.Name(path) } }
	for _, path := range unknown { // start all calls first, so that they run concurrently
		_ = s.names.Start(path, see(path)) // if this fails, the call to Do below fails too
	}
	for _, path := range unknown {
		names[path], _ = s.names.Do(s.lifetime(), path, began, nameTimeout, see(path))
	}
	return names
}
