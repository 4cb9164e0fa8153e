package controller

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

// guards stand before the stores, one for each scope: they give every call a deadline, and keep callers away from a store
// that fails again and again. Reading and writing are apart, since who holds a file's lock stops the one and not the other.
type guards struct {
	tell func(inStores) // of every change; from any goroutine
	took func(scope string, writes bool, d time.Duration)

	mu  sync.Mutex
	by  map[string]*guard // by scope
	rev uint64
}

// guard is a store as the runner uses it. What its store cannot do is errors.ErrUnsupported.
type guard struct {
	of            *guards
	scope         string
	store         beads.Store
	reads, writes breaker // under the mutex of guards
}

// storeTrouble is what is wrong with one scope's store.
type storeTrouble struct {
	scope         string
	reads, writes bool // fail
	text          string
	until         time.Time // when it is found out whether it still is
}

func newGuards(tell func(inStores)) *guards {
	return &guards{tell: tell, took: func(string, bool, time.Duration) {}, by: map[string]*guard{}}
}

// before gives the guard of a scope's store. Another store than before has a clean slate.
func (gs *guards) before(scope string, store beads.Store) *guard {
	gs.mu.Lock()
	g := gs.by[scope]
	if g != nil && g.store == store {
		gs.mu.Unlock()
		return g
	}
	fell := g != nil && (g.reads.open() || g.writes.open())
	g = &guard{of: gs, scope: scope, store: store}
	gs.by[scope] = g
	var told inStores
	if fell {
		told = gs.troubles(time.Now())
	}
	gs.mu.Unlock()
	if fell {
		gs.tell(told)
	}
	return g
}

// keep forgets the scopes that are no more.
func (gs *guards) keep(scopes []string) {
	gs.mu.Lock()
	before := len(gs.by)
	maps.DeleteFunc(gs.by, func(scope string, _ *guard) bool { return !slices.Contains(scopes, scope) })
	gone := len(gs.by) < before
	var told inStores
	if gone {
		told = gs.troubles(time.Now())
	}
	gs.mu.Unlock()
	if gone {
		gs.tell(told)
	}
}

// due are the guards that are to find out whether their store is well again.
func (gs *guards) due(now time.Time) (reads, writes []*guard) {
	gs.mu.Lock()
	defer gs.mu.Unlock()
	for _, g := range gs.by {
		if g.reads.due(now) {
			reads = append(reads, g)
		}
		if g.writes.due(now) {
			writes = append(writes, g)
		}
	}
	return reads, writes
}

// troubles are all there are, by scope. The caller has the mutex.
func (gs *guards) troubles(now time.Time) inStores {
	gs.rev++
	in := inStores{rev: gs.rev}
	for _, g := range gs.by {
		if text, until := g.trouble(now); text != "" {
			in.troubles = append(in.troubles, storeTrouble{g.scope, g.reads.open(), g.writes.open(), text, until})
		}
	}
	slices.SortFunc(in.troubles, func(a, b storeTrouble) int { return strings.Compare(a.scope, b.scope) })
	return in
}

// trouble says what is wrong, since when, why, and when it is found out whether it still is; "" if all is well.
func (g *guard) trouble(now time.Time) (text string, until time.Time) {
	what, b := "read", &g.reads
	switch {
	case g.reads.open() && g.writes.open():
		what = "read or written"
		if until = g.writes.until; until.After(g.reads.until) {
			until = g.reads.until
		}
	case g.writes.open():
		what, b = "written", &g.writes
	case !g.reads.open():
		return "", time.Time{}
	}
	if until.IsZero() {
		until = b.until
	}
	return fmt.Sprintf("the work of %s cannot be %s since %s: %v; tried again at %s", scopeTitle(g.scope), what, moment(now, b.since), b.why, moment(now, until)), until
}

func scopeTitle(scope string) string {
	if scope == "" {
		return "the city"
	}
	return "rig " + scope
}

// moment is a time for a person, with the day where it is not today.
func moment(now, t time.Time) string {
	if t.Format(time.DateOnly) == now.Format(time.DateOnly) {
		return t.Format(time.TimeOnly)
	}
	return t.Format(time.DateTime)
}

// refused is the error for a call that is not made, or that was the last for now.
func (g *guard) refused(now time.Time, b *breaker) error {
	if !b.open() {
		return nil
	}
	text, _ := g.trouble(now)
	return &beads.ClosedError{Text: text, Why: b.why}
}

// limit is how long one call of the store may take.
func (g *guard) limit() time.Duration {
	if p, ok := g.store.(beads.Patient); ok {
		return max(callLimit, p.CallLimit())
	}
	return callLimit
}

// probe is how long it may take to find out whether the store is well again: one that is slow when it is well is not judged
// by how fast others are.
func (g *guard) probe() time.Duration {
	if _, ok := g.store.(beads.Patient); ok {
		return max(probeLimit, g.limit())
	}
	return probeLimit
}

// guarded makes one call of a store.
func guarded[T any](ctx context.Context, g *guard, b *breaker, limit time.Duration, call func(context.Context) (T, error)) (T, error) {
	var none T
	began := time.Now()
	gs := g.of
	gs.mu.Lock()
	in, probe := b.enter(began)
	if !in {
		defer gs.mu.Unlock()
		return none, g.refused(began, b)
	}
	gs.mu.Unlock()
	own, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	got, err := call(own)
	now := time.Now()
	gs.took(g.scope, b == &g.writes, now.Sub(began))
	v := judged(err)
	if v == failed && ctx.Err() != nil && now.Sub(began) < fair {
		v = unknown
	}
	gs.mu.Lock()
	changed := b.ended(now, probe, v, err)
	if closed := g.refused(now, b); v == failed && closed != nil {
		err = closed
	}
	var told inStores
	if changed {
		told = gs.troubles(now)
	}
	gs.mu.Unlock()
	if changed {
		gs.tell(told)
	}
	return got, err
}

// judged tells refusals, which are answers, from trouble with the store.
func judged(err error) verdict {
	var invalid *beads.Invalid
	switch {
	case err == nil, errors.Is(err, beads.ErrNotFound), errors.Is(err, beads.ErrConflict), errors.Is(err, beads.ErrAside),
		errors.Is(err, errors.ErrUnsupported), errors.As(err, &invalid):
		return answered
	}
	return failed
}
