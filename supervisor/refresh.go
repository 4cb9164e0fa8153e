package supervisor

import (
	"context"
	"fmt"
	"slices"
	"time"

	"gcity/internal/recovery"
)

const (
	// after this time without changes, a file is probably complete
	quietPeriod = 200 * time.Millisecond
	maxRereads  = 10
	readLimit   = 5 * time.Second // if a read takes longer, the file system counts as hung
)

type readResult struct {
	settings Settings
	setErr   error
	entries  []Entry
	// configured names of the cities that have no name in the registry
	names  map[string]string
	regErr error
	fault  error // a panic; the other fields are then invalid
}

// readFiles reads the settings, the registry and the cities' names. It might never return.
func (s *Supervisor) readFiles() (saw readResult) {
	saw.settings, saw.setErr = ReadSettings(s.o.Home)
	saw.entries, saw.regErr = Read(s.o.Home)
	saw.names = s.namesOf(saw.entries)
	return saw
}

// refresher decides when to read the files and when to apply the results. The loop owns it.
type refresher struct {
	s    *Supervisor
	seen chan readResult // receives the result of the read in progress; nil = no read
	// the read in progress has exceeded its time limit
	late  bool
	more  bool // the files might have changed since the read began
	timer *time.Timer
	// The first read was applied or is late. Before that, a stop would leave agents from an earlier run.
	settled bool

	doubts int     // consecutive reads that were not applied
	last   []Entry // read but not applied

	waiting []chan<- struct{} // for the next read
	// callers that are waiting for the read in progress
	served []chan<- struct{}
}

func newRefresher(s *Supervisor) *refresher {
	e := &refresher{s: s, timer: time.NewTimer(0)}
	e.timer.Stop()
	return e
}

func (e *refresher) close() { e.timer.Stop() }

func (e *refresher) poke() {
	switch {
	case e.seen != nil:
		e.more = true
	case e.doubts == 0: // otherwise, the timer starts the next read
		e.startRead()
	}
}

func (e *refresher) request(done chan<- struct{}) {
	if e.late {
		close(done)
		return
	}
	e.waiting = append(e.waiting, done)
	e.poke()
}

func (e *refresher) startRead() {
	e.served, e.waiting = append(e.served, e.waiting...), nil
	e.late, e.more = false, false
	e.seen = make(chan readResult, 1)
	e.s.mu.Lock()
	clear(e.s.dropped)
	e.s.mu.Unlock()
	e.timer.Reset(readLimit)
	// not in a WaitGroup, because it might never return
	go func(to chan<- readResult, look func() readResult) {
		var saw readResult
		if fault := recovery.Catch(func() { saw = look() }); fault != nil {
			saw = readResult{fault: fault}
		}
		to <- saw
	}(e.seen, e.s.read)
}

func (e *refresher) timerExpired() {
	if e.seen == nil {
		e.startRead()
		return
	}
	e.late, e.settled = true, true
	e.served = append(e.served, e.waiting...)
	e.waiting = nil
	e.s.setProblem(fmt.Errorf("%s does not respond; running cities are not affected, but "+
		"changes to the registry are ignored: check the file system that is mounted there",
		e.s.o.Home.Dir))
	e.notifyCallers()
}

// finishRead applies the result of a read. If the result is late, or a second read must confirm it, finishRead returns
// false without applying it.
func (e *refresher) finishRead(saw readResult) bool {
	e.timer.Stop()
	late := e.late
	e.seen, e.late = nil, false
	if late {
		e.doubts = 0
		e.startRead()
		return false
	}
	same := e.doubts > 0 && slices.Equal(saw.entries, e.last)
	if saw.fault == nil && saw.regErr == nil && !same && e.s.wouldStopCities(saw.entries) {
		e.doubts++
		e.last = saw.entries
		if e.doubts <= maxRereads {
			e.timer.Reset(quietPeriod)
			return false
		}
		saw.regErr = fmt.Errorf("%s keeps changing; applying its current content would stop "+
			"cities, so gcity does not apply it", e.s.o.Home.Registry())
	}
	e.doubts, e.last = 0, nil
	if saw.fault == nil {
		saw.fault = recovery.Catch(func() { e.s.applyRead(saw) })
	}
	if saw.fault != nil {
		e.s.setProblem(saw.fault)
	}
	e.settled = true
	e.notifyCallers()
	if e.more {
		e.startRead()
	}
	return true
}

func (e *refresher) notifyCallers() {
	for _, done := range e.served {
		close(done)
	}
	e.served = nil
}

func (s *Supervisor) readNow(ctx context.Context) {
	done := make(chan struct{})
	select {
	case s.readRequests <- done:
	case <-s.readsOver:
		return
	case <-ctx.Done():
		return
	}
	select {
	case <-done:
	case <-s.readsOver:
	case <-ctx.Done():
	}
}
