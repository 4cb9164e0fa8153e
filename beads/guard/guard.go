// Package guard stands between callers and the stores of work. It gives every call a deadline, and keeps callers
// away from a store that fails repeatedly until a probe succeeds.
package guard

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"gcity/beads"
)

const (
	// callLimit is how long one call of a store may take.
	callLimit = 10 * time.Second // where the store does not ask for more
	// beadLimit is added for each bead of many.
	beadLimit = 5 * time.Millisecond
	// probeLimit is how long it may take to find out whether a store is well again.
	probeLimit = 3 * time.Second // where the store does not ask for more
	// fair is the time that a store must have had before it counts as its failure that it did not answer.
	fair = 2 * time.Second
)

// Guards protect the stores, one for each scope. They give every call a deadline, and refuse calls to a store that
// fails repeatedly. Reads and writes have separate breakers, because a file lock can block one and not the other.
type Guards struct {
	tell func(Report)                                     // of every change; from any goroutine
	Took func(scope string, writes bool, d time.Duration) // receives the duration of each call

	mu  sync.Mutex
	by  map[string]*Store // by scope
	rev uint64
}

// Store is a beads.Store with a guard before it. It returns errors.ErrUnsupported for what the store behind it
// cannot do.
type Store struct {
	of            *Guards
	scope         string
	store         beads.Store
	reads, writes Breaker // under the mutex of guards
}

// Report is what is wrong with all stores at some time.
type Report struct {
	Rev    uint64 // a lower one is older
	Stores []Trouble
}

// Trouble is what is wrong with one scope's store.
type Trouble struct {
	Scope         string
	Reads, Writes bool // fail
	Text          string
	Until         time.Time // when it is found out whether it still is
}

// New returns guards that report every change of the stores' troubles to tell.
func New(tell func(Report)) *Guards {
	return &Guards{tell: tell, Took: func(string, bool, time.Duration) {}, by: map[string]*Store{}}
}

// Of gives the guard of a scope's store. Another store than before has a clean slate.
func (gs *Guards) Of(scope string, store beads.Store) *Store {
	gs.mu.Lock()
	g := gs.by[scope]
	if g != nil && g.store == store {
		gs.mu.Unlock()
		return g
	}
	fell := g != nil && (g.reads.Open() || g.writes.Open())
	g = &Store{of: gs, scope: scope, store: store}
	gs.by[scope] = g
	var told Report
	if fell {
		told = gs.troubles(time.Now())
	}
	gs.mu.Unlock()
	if fell {
		gs.tell(told)
	}
	return g
}

// Keep forgets the scopes that are no more.
func (gs *Guards) Keep(scopes []string) {
	gs.mu.Lock()
	before := len(gs.by)
	maps.DeleteFunc(gs.by, func(scope string, _ *Store) bool {
		return !slices.Contains(scopes, scope)
	})
	gone := len(gs.by) < before
	var told Report
	if gone {
		told = gs.troubles(time.Now())
	}
	gs.mu.Unlock()
	if gone {
		gs.tell(told)
	}
}

// Due are the guards that are to find out whether their store is well again.
func (gs *Guards) Due(now time.Time) (reads, writes []*Store) {
	gs.mu.Lock()
	defer gs.mu.Unlock()
	for _, g := range gs.by {
		if g.reads.Due(now) {
			reads = append(reads, g)
		}
		if g.writes.Due(now) {
			writes = append(writes, g)
		}
	}
	return reads, writes
}

// troubles are all there are, by scope. The caller has the mutex.
func (gs *Guards) troubles(now time.Time) Report {
	gs.rev++
	in := Report{Rev: gs.rev}
	for _, g := range gs.by {
		if t := TroubleIn(now, g.scope, &g.reads, &g.writes); t.Text != "" {
			in.Stores = append(in.Stores, t)
		}
	}
	slices.SortFunc(in.Stores, func(a, b Trouble) int { return strings.Compare(a.Scope, b.Scope) })
	return in
}

// TroubleIn returns what is wrong with the store of these breakers; its text is "" if the store works.
func TroubleIn(now time.Time, scope string, reads, writes *Breaker) Trouble {
	t := Trouble{Scope: scope, Reads: reads.Open(), Writes: writes.Open()}
	what, b := "read", reads
	switch {
	case t.Reads && t.Writes:
		what = "read or written"
		if t.Until = writes.until; t.Until.After(reads.until) {
			t.Until = reads.until
		}
	case t.Writes:
		what, b = "written", writes
	case !t.Reads:
		return t
	}
	if t.Until.IsZero() {
		t.Until = b.until
	}
	t.Text = fmt.Sprintf("the work of %s cannot be %s since %s: %v; tried again at %s",
		beads.ScopeTitle(scope), what, moment(now, b.since), b.why, moment(now, t.Until))
	return t
}

// moment is a time for a person, with the day where it is not today.
func moment(now, t time.Time) string {
	if t.Format(time.DateOnly) == now.Format(time.DateOnly) {
		return t.Format(time.TimeOnly)
	}
	return t.Format(time.DateTime)
}

// refused is the error for a call that is not made, or that was the last for now.
func (g *Store) refused(now time.Time, b *Breaker) error {
	if !b.Open() {
		return nil
	}
	text := TroubleIn(now, g.scope, &g.reads, &g.writes).Text
	return &beads.ClosedError{Text: text, Why: b.why}
}

// limit is how long one call of the store may take.
func (g *Store) limit() time.Duration {
	if p, ok := g.store.(beads.Patient); ok {
		return max(callLimit, p.CallLimit())
	}
	return callLimit
}

// probe is how long it may take to find out whether the store is well again: one that is slow when it is well is
// not judged by how fast others are.
func (g *Store) probe() time.Duration {
	if _, ok := g.store.(beads.Patient); ok {
		return max(probeLimit, g.limit())
	}
	return probeLimit
}

// guarded makes one call of a store.
func guarded[T any](ctx context.Context, g *Store, b *Breaker, limit time.Duration,
	call func(context.Context) (T, error)) (T, error) {
	var none T
	began := time.Now()
	gs := g.of
	gs.mu.Lock()
	in, probe := b.Enter(began)
	if !in {
		defer gs.mu.Unlock()
		return none, g.refused(began, b)
	}
	gs.mu.Unlock()
	own, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	got, err := call(own)
	now := time.Now()
	gs.Took(g.scope, b == &g.writes, now.Sub(began))
	v := judged(err)
	if v == FailedCall && ctx.Err() != nil && now.Sub(began) < fair {
		v = unknownEnd
	}
	gs.mu.Lock()
	changed := b.Ended(now, probe, v, err)
	if closed := g.refused(now, b); v == FailedCall && closed != nil {
		err = closed
	}
	var told Report
	if changed {
		told = gs.troubles(now)
	}
	gs.mu.Unlock()
	if changed {
		gs.tell(told)
	}
	return got, err
}

// Answered reports whether a store has answered a call, be it with a refusal, that returned this error.
func Answered(err error) bool { return judged(err) == AnsweredCall }

// judged separates refusals, which are answers, from failures of the store.
func judged(err error) verdict {
	var invalid *beads.Invalid
	switch {
	case err == nil, errors.Is(err, beads.ErrNotFound), errors.Is(err, beads.ErrConflict),
		errors.Is(err, beads.ErrAside),
		errors.Is(err, errors.ErrUnsupported), errors.As(err, &invalid):
		return AnsweredCall
	}
	return FailedCall
}
