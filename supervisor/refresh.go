package supervisor

import (
	"context"
	"fmt"
	"slices"
	"time"

	"gcity/internal/recovery"
)

const (
	// a file that has not changed for this time is probably complete
	quietPeriod = 200 * time.Millisecond
	maxRereads  = 10              // maximum number of retries for a file that keeps changing
	readLimit   = 5 * time.Second // a read that takes longer is treated as hung
)

// readResult is the result of reading the supervisor's files.
type readResult struct {
	settings Settings
	setErr   error
	entries  []Entry
	// names from the configurations of cities without a name in the registry
	names  map[string]string
	regErr error
	fault  error // the panic during the read; the other fields are then invalid
}

// readFiles reads the registry and the settings, and the configurations of cities that are registered without a
// name. It may never return.
func (s *Supervisor) readFiles() (saw readResult) {
	saw.settings, saw.setErr = ReadSettings(s.o.Home)
	saw.entries, saw.regErr = Read(s.o.Home)
	saw.names = s.namesOf(saw.entries)
	return saw
}

// refresher decides when the files are read and when a result is applied. The loop owns it.
type refresher struct {
	s    *Supervisor
	seen chan readResult // receives the result of the read in progress; nil = no read
	// the read in progress has exceeded its time limit, so its result will be outdated
	late  bool
	more  bool        // the files may have changed since the read started
	timer *time.Timer // fires when the read is late, or when a doubtful result should be checked

	// number of reads in a row that would stop cities and have not been applied yet
	doubts int
	last   []Entry // entries found by the last of the reads that doubts counts

	waiting []chan<- struct{} // callers that wait for a read that starts later
	// callers that wait for the read in progress, or for the read that resolves the doubts
	served []chan<- struct{}
}

func newRefresher(s *Supervisor) *refresher {
	e := &refresher{s: s, timer: time.NewTimer(0)}
	e.timer.Stop()
	return e
}

func (e *refresher) close() { e.timer.Stop() }

// poke starts a read, or requests another one after the read in progress.
func (e *refresher) poke() {
	switch {
	case e.seen != nil:
		e.more = true
	case e.doubts == 0: // if there are doubts, the timer starts the next read
		e.startRead()
	}
}

// request registers a channel, which is closed after a read that starts after this call. If the read in progress is
// late, request closes the channel immediately.
func (e *refresher) request(done chan<- struct{}) {
	if e.late {
		close(done)
		return
	}
	e.waiting = append(e.waiting, done)
	e.poke()
}

// startRead starts a read in the background.
func (e *refresher) startRead() {
	e.served, e.waiting = append(e.served, e.waiting...), nil
	e.late, e.more = false, false
	e.seen = make(chan readResult, 1)
	e.s.mu.Lock()
	clear(e.s.dropped)
	e.s.mu.Unlock()
	e.timer.Reset(readLimit)
	// no other goroutine waits for this one, because it may never return
	go func(to chan<- readResult, look func() readResult) {
		var saw readResult
		if fault := recovery.Catch(func() { saw = look() }); fault != nil {
			saw = readResult{fault: fault}
		}
		to <- saw
	}(e.seen, e.s.read)
}

// timerExpired handles an expired timer: it starts a read, or marks the read in progress as late.
func (e *refresher) timerExpired() {
	if e.seen == nil {
		e.startRead()
		return
	}
	e.late = true
	e.served = append(e.served, e.waiting...)
	e.waiting = nil
	e.s.setProblem(fmt.Errorf("%s does not respond: running cities are not affected, but "+
		"changes to the registry are not detected; check the file system that is mounted there",
		e.s.o.Home.Dir))
	e.notifyCallers()
}

// finishRead processes the result of a read, and reports whether the read is finished. A result that would stop a
// city is applied only if a second read confirms it.
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
		saw.regErr = fmt.Errorf("%s keeps changing, and its current content would stop cities",
			e.s.o.Home.Registry())
	}
	e.doubts, e.last = 0, nil
	if saw.fault == nil {
		saw.fault = recovery.Catch(func() { e.s.applyRead(saw) })
	}
	if saw.fault != nil {
		e.s.setProblem(saw.fault)
	}
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

// readNow requests a read, and waits until the content of the files has been applied or rejected.
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
