package supervisor

import (
	"context"
	"fmt"
	"slices"
	"time"

	"gcity/internal/recovery"
)

const (
	// a file that stays as it is for so long is not just being written
	quiet     = 200 * time.Millisecond
	most      = 10              // looks at one that changes again and again
	lookLimit = 5 * time.Second // after which a disk counts as one that does not answer
)

// sight is what a look at the files of a home saw.
type sight struct {
	settings Settings
	setErr   error
	entries  []Entry
	// by their configurations, of the cities that have none in the registry
	names  map[string]string
	regErr error
	fault  error // it broke, and saw nothing
}

// readFiles looks at the files, and at the cities that are registered without a name. It may never answer.
func (s *Supervisor) readFiles() (saw sight) {
	saw.settings, saw.setErr = ReadSettings(s.o.Home)
	saw.entries, saw.regErr = Read(s.o.Home)
	saw.names = s.namesOf(saw.entries)
	return saw
}

// eye decides when the files are looked at, and when what was seen is believed. It is the loop's own.
type eye struct {
	s     *Supervisor
	seen  chan sight  // of the look that is under way, nil = none
	late  bool        // it has had its time: what it will have seen is of the past
	more  bool        // something may have changed since it began
	timer *time.Timer // until the look is late; or else until the next one, while there are doubts

	// how often something was seen that would end cities, and that is not believed yet
	doubts int
	last   []Entry // what that was

	waiting []chan<- struct{} // for a look that begins from now on
	served  []chan<- struct{} // by the look that is under way, or by that which settles the doubts
}

func newEye(s *Supervisor) *eye {
	e := &eye{s: s, timer: time.NewTimer(0)}
	e.timer.Stop()
	return e
}

func (e *eye) close() { e.timer.Stop() }

// poke has the files looked at, if not now then after the look that is under way.
func (e *eye) poke() {
	switch {
	case e.seen != nil:
		e.more = true
	case e.doubts == 0: // else a look is to come
		e.look()
	}
}

// ask has a channel closed when a look that has yet to begin is over.
func (e *eye) ask(done chan<- struct{}) {
	if e.late {
		close(done)
		return
	}
	e.waiting = append(e.waiting, done)
	e.poke()
}

// look begins a look, beside the loop.
func (e *eye) look() {
	e.served, e.waiting = append(e.served, e.waiting...), nil
	e.late, e.more = false, false
	e.seen = make(chan sight, 1)
	e.s.mu.Lock()
	clear(e.s.dropped)
	e.s.mu.Unlock()
	e.timer.Reset(lookLimit)
	// as long as it takes, and nobody can wait for that
	go func(to chan<- sight, look func() sight) {
		var saw sight
		if fault := recovery.Catch(func() { saw = look() }); fault != nil {
			saw = sight{fault: fault}
		}
		to <- saw
	}(e.seen, e.s.look)
}

// due is called when the timer ends.
func (e *eye) due() {
	if e.seen == nil {
		e.look()
		return
	}
	e.late = true
	e.served = append(e.served, e.waiting...)
	e.waiting = nil
	e.s.complain(fmt.Errorf("%s does not answer: what runs stays as it is, and nobody knows what "+
		"is registered now; look at what is mounted there", e.s.o.Home.Dir))
	e.answer()
}

// take decides about what a look saw, and reports whether that is over: what would end a city is believed once it
// stays so.
func (e *eye) take(saw sight) bool {
	e.timer.Stop()
	late := e.late
	e.seen, e.late = nil, false
	if late {
		e.doubts = 0
		e.look()
		return false
	}
	same := e.doubts > 0 && slices.Equal(saw.entries, e.last)
	if saw.fault == nil && saw.regErr == nil && !same && e.s.ends(saw.entries) {
		e.doubts++
		e.last = saw.entries
		if e.doubts <= most {
			e.timer.Reset(quiet)
			return false
		}
		saw.regErr = fmt.Errorf("%s changes again and again, and would end cities",
			e.s.o.Home.Registry())
	}
	e.doubts, e.last = 0, nil
	if saw.fault == nil {
		saw.fault = recovery.Catch(func() { e.s.bring(saw) })
	}
	if saw.fault != nil {
		e.s.complain(saw.fault)
	}
	e.answer()
	if e.more {
		e.look()
	}
	return true
}

func (e *eye) answer() {
	for _, done := range e.served {
		close(done)
	}
	e.served = nil
}

// readNow has the files read, and waits until what is in them is in force, or is known not to be.
func (s *Supervisor) readNow(ctx context.Context) {
	done := make(chan struct{})
	select {
	case s.asks <- done:
	case <-s.deaf:
		return
	case <-ctx.Done():
		return
	}
	select {
	case <-done:
	case <-s.deaf:
	case <-ctx.Done():
	}
}
