// Package guard wraps bead stores with deadlines and circuit breakers.
package guard

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"gcity/beads"
	"gcity/internal/deadline"
	"gcity/internal/recovery"
)

const (
	callLimit = 10 * time.Second // for stores that do not implement beads.CallLimiter
	// beadLimit is added to a batch's timeout for each of its beads, or slowBeadLimit if the store implements
	// beads.CallLimiter: such stores run another program several times for each bead.
	beadLimit     = 5 * time.Millisecond
	slowBeadLimit = 5 * time.Second
	probeLimit    = 3 * time.Second // for stores that do not implement beads.CallLimiter
	// minimum duration of a timed-out call that counts as a failure of the store
	minFailedCall = 2 * time.Second
	// time for a call to return after its context has ended; a store may need it to kill a program
	grace = 3 * time.Second
	// maximum number of calls to one store that have not returned; each might occupy a thread
	maxPending = 1000
)

// Guards contains the guarded store of each scope. Reads and writes have separate breakers, because a file lock can
// block only one of them.
type Guards struct {
	// called from any goroutine when the problems change
	notify func(Report)
	Took   func(scope string, writes bool, d time.Duration) // receives the duration of each call

	mu  sync.Mutex
	by  map[string]*Store
	rev uint64
}

// Store is a guarded beads.Store. Optional methods that the underlying store lacks return errors.ErrUnsupported.
type Store struct {
	of            *Guards
	scope         string
	store         beads.Store
	reads, writes Breaker // protected by the mutex in Guards
	calls         *deadline.Calls[any]
	lastCall      atomic.Uint64
}

// Report lists the stores that are currently failing.
type Report struct {
	Rev    uint64 // increases with each report
	Stores []Trouble
}

// Trouble says which calls to a scope's store fail, and why.
type Trouble struct {
	Scope         string
	Reads, Writes bool // kinds of calls that fail
	Text          string
	Until         time.Time // time of the next probe
}

// TroubleOf returns the entry of a scope in all. If its store works, the result is zero.
func TroubleOf(all []Trouble, scope string) Trouble {
	if i := slices.IndexFunc(all, func(t Trouble) bool { return t.Scope == scope }); i >= 0 {
		return all[i]
	}
	return Trouble{}
}

// New returns guards that call notify whenever the stores' problems change.
func New(notify func(Report)) *Guards {
	return &Guards{notify: notify, Took: func(string, bool, time.Duration) {},
		by: map[string]*Store{}}
}

// StoreFor returns the guarded store of a scope.
func (gs *Guards) StoreFor(scope string, store beads.Store) *Store {
	gs.mu.Lock()
	g := gs.by[scope]
	if g != nil && g.store == store {
		gs.mu.Unlock()
		return g
	}
	wasFailing := g != nil && (g.reads.Open() || g.writes.Open())
	g = &Store{of: gs, scope: scope, store: store, calls: deadline.New[any](maxPending)}
	gs.by[scope] = g
	var report Report
	if wasFailing {
		report = gs.troubles(time.Now())
	}
	gs.mu.Unlock()
	if wasFailing {
		gs.notify(report)
	}
	return g
}

// Keep removes the guards of all scopes that are not in scopes.
func (gs *Guards) Keep(scopes []string) {
	gs.mu.Lock()
	before := len(gs.by)
	maps.DeleteFunc(gs.by, func(scope string, _ *Store) bool {
		return !slices.Contains(scopes, scope)
	})
	gone := len(gs.by) < before
	var report Report
	if gone {
		report = gs.troubles(time.Now())
	}
	gs.mu.Unlock()
	if gone {
		gs.notify(report)
	}
}

// Due returns the guards that should run a probe now.
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

// The caller of troubles must hold the mutex.
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

// TroubleIn derives the Trouble of a store from its breakers. Text is "" if the store works.
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
	t.Text = fmt.Sprintf("the work of %s cannot be %s (failing since %s): %v; gcity retries at %s",
		beads.ScopeTitle(scope), what, moment(now, b.since), b.why, moment(now, t.Until))
	return t
}

func moment(now, t time.Time) string {
	if t.Format(time.DateOnly) == now.Format(time.DateOnly) {
		return t.Format(time.TimeOnly)
	}
	return t.Format(time.DateTime)
}

func (g *Store) rejection(now time.Time, b *Breaker) error {
	if !b.Open() {
		return nil
	}
	text := TroubleIn(now, g.scope, &g.reads, &g.writes).Text
	return &beads.ClosedError{Text: text, Why: b.why}
}

func (g *Store) limit() time.Duration {
	if p, ok := g.store.(beads.CallLimiter); ok {
		return max(callLimit, p.CallLimit())
	}
	return callLimit
}

func (g *Store) batchLimit(n int) time.Duration {
	each := beadLimit
	if _, ok := g.store.(beads.CallLimiter); ok {
		each = slowBeadLimit
	}
	return g.limit() + time.Duration(n)*each
}

func (g *Store) probe(b *Breaker) *attempt {
	limit := probeLimit
	if _, ok := g.store.(beads.CallLimiter); ok {
		limit = max(probeLimit, g.limit())
	}
	return &attempt{g: g, b: b, limit: limit, grace: grace}
}

// creation returns the attempt to create n beads. After its context has ended, a failed call may need time to close
// them.
func (g *Store) creation(n int, limit time.Duration) *attempt {
	k := &attempt{g: g, b: &g.writes, limit: limit, grace: grace}
	if s, ok := g.store.(beads.UndoLimiter); ok {
		k.grace += s.UndoLimit(n)
	}
	return k
}

func guarded[T any](ctx context.Context, g *Store, b *Breaker,
	call func(context.Context) (T, error)) (T, error) {
	return run(ctx, &attempt{g: g, b: b, limit: g.limit(), grace: grace}, call)
}

// attempt is a call to a store.
type attempt struct {
	g            *Store
	b            *Breaker
	limit, grace time.Duration
	probe        bool
}

func run[T any](ctx context.Context, k *attempt, call func(context.Context) (T, error)) (T, error) {
	var none T
	began := time.Now()
	g, b, gs := k.g, k.b, k.g.of
	gs.mu.Lock()
	in, probe := b.Enter(began)
	if !in {
		defer gs.mu.Unlock()
		return none, g.rejection(began, b)
	}
	gs.mu.Unlock()
	k.probe = probe
	own, cancel := context.WithTimeout(ctx, k.limit)
	defer cancel()
	returned := false
	defer func() {
		if !returned {
			_ = g.ended(b, probe, StoreFailed, errPanicked)
		}
	}()
	got, err := within(own, k, call)
	returned = true
	took := time.Since(began)
	gs.Took(g.scope, k.writes(), took)
	v := judged(err)
	if v == StoreFailed && ctx.Err() != nil && took < minFailedCall {
		v = inconclusive
	}
	return got, g.ended(b, probe, v, err)
}

// within returns the result of call. If call has not returned when the grace period after ctx is over, within returns
// an error, and call continues in the background. If call panics before that, within panics too.
func within[T any](ctx context.Context, k *attempt, call func(context.Context) (T, error)) (T,
	error) {
	type result struct {
		value T
		err   error
		fault error
	}
	waits, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	defer context.AfterFunc(ctx, func() { time.AfterFunc(k.grace, stop) })()
	got, ok := k.g.calls.Do(waits, k.name(), time.Now(), 0, func() any {
		var r result
		// a panic that deadline.Calls recovers could reach the caller of another call
		r.fault = recovery.Catch(func() { r.value, r.err = call(ctx) })
		return r
	})
	if ok {
		r := got.(result)
		if r.fault != nil {
			panic(r.fault)
		}
		return r.value, r.err
	}
	switch {
	case waits.Err() == nil: // the call was not started
		return *new(T), fmt.Errorf("the store does not respond: %w", deadline.ErrTooMany)
	case k.writes():
		return *new(T), fmt.Errorf("the store does not respond; a write in progress may still "+
			"succeed: %w", ctx.Err())
	}
	return *new(T), fmt.Errorf("the store does not respond: %w", ctx.Err())
}

// name returns a unique name, except for probes: at most one probe of reads and one of writes can hang.
func (k *attempt) name() string {
	switch {
	case !k.probe:
		return strconv.FormatUint(k.g.lastCall.Add(1), 10)
	case k.writes():
		return "probe of writes"
	}
	return "probe of reads"
}

func (k *attempt) writes() bool { return k.b == &k.g.writes }

var errPanicked = errors.New("a call to the store caused a panic; this is a bug in gcity")

// ended records the end of a call and notifies the owner of the guards. It returns the error for the caller.
func (g *Store) ended(b *Breaker, probe bool, v verdict, err error) error {
	now, gs := time.Now(), g.of
	gs.mu.Lock()
	changed := b.Ended(now, probe, v, err)
	if closed := g.rejection(now, b); v == StoreFailed && closed != nil {
		err = closed
	}
	var report Report
	if changed {
		report = gs.troubles(now)
	}
	gs.mu.Unlock()
	if changed {
		gs.notify(report)
	}
	return err
}

// Rejected reports whether err means that a working store has rejected a request.
func Rejected(err error) bool { return err != nil && judged(err) == StoreWorks }

func judged(err error) verdict {
	var invalid *beads.Invalid
	switch {
	case errors.Is(err, errUntested):
		return untested
	case err == nil, errors.Is(err, beads.ErrNotFound), errors.Is(err, beads.ErrConflict),
		errors.Is(err, beads.ErrUnreadable),
		errors.Is(err, errors.ErrUnsupported), errors.As(err, &invalid):
		return StoreWorks
	}
	return StoreFailed
}
