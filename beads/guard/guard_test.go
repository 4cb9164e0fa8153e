package guard

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"gcity/beads"
	"gcity/beads/fake"
)

type asked struct {
	*fake.Store
	mu sync.Mutex
	n  int
}

func (a *asked) note() { a.mu.Lock(); a.n++; a.mu.Unlock() }

func (a *asked) calls() int { a.mu.Lock(); defer a.mu.Unlock(); return a.n }

func (a *asked) Create(ctx context.Context, b beads.Bead) (beads.Bead, error) {
	a.note()
	return a.Store.Create(ctx, b)
}

func (a *asked) Get(ctx context.Context, id string) (beads.Bead, error) {
	a.note()
	return a.Store.Get(ctx, id)
}

func (a *asked) Version(ctx context.Context) (uint64, error) { a.note(); return a.Store.Version(ctx) }

func (a *asked) Probe(ctx context.Context) error { a.note(); return a.Store.Probe(ctx) }

// After three hung calls, the guard rejects further calls.
func TestHungStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var told []Report
		gs := New(func(in Report) { told = append(told, in) })
		store := &asked{Store: fake.New("gc")}
		g, other := gs.StoreFor("", store), gs.StoreFor("yard", fake.New("ya"))
		release := store.Hang()
		began := time.Now()
		create := func() error { _, err := g.Create(context.Background(), beads.Bead{Title: "x"}); return err }
		for i := range breakAfter {
			err := create()
			_, closed := errors.AsType[*beads.ClosedError](err)
			if !errors.Is(err, context.DeadlineExceeded) || closed != (i == breakAfter-1) {
				t.Errorf("call %d: %v", i, err)
			}
		}
		if took := time.Since(began); took != breakAfter*callLimit {
			t.Errorf("recorded durations: %v", took)
		}
		for range 100 {
			if err := create(); err == nil || !strings.HasPrefix(err.Error(), "the work of the city cannot be written (failing since ") || !strings.Contains(err.Error(), "; gcity retries at ") {
				t.Error(err)
			}
		}
		if time.Since(began) != breakAfter*callLimit || store.calls() != breakAfter {
			t.Errorf("the breaker is open, but the store got %d calls", store.calls())
		}
		if _, err := other.Create(t.Context(), beads.Bead{Title: "y"}); err != nil {
			t.Errorf("a replaced store: got %v", err)
		}
		if len(told) != 1 || len(told[0].Stores) != 1 || !told[0].Stores[0].Writes || told[0].Stores[0].Reads {
			t.Fatalf("told %+v", told)
		}
		if _, writes := gs.Due(time.Now()); len(writes) != 0 {
			t.Error("a probe is due immediately")
		}
		time.Sleep(minBroken)
		_, writes := gs.Due(time.Now())
		if len(writes) != 1 {
			t.Fatal("no probe is due")
		}
		release()
		writes[0].TryWrite(t.Context())
		if len(told) != 2 || len(told[1].Stores) != 0 || told[1].Rev <= told[0].Rev {
			t.Errorf("told %+v", told)
		}
		if err := create(); err != nil {
			t.Error(err)
		}
	})
}

// deaf is a store that ignores the contexts of its calls.
type deaf struct {
	*fake.Store
	free   chan struct{}
	calls  atomic.Int32
	panics bool // after free is closed
}

func (d *deaf) Create(_ context.Context, b beads.Bead) (beads.Bead, error) {
	d.calls.Add(1)
	<-d.free
	if d.panics {
		panic("bug")
	}
	return d.Store.Create(context.Background(), b)
}

// A call returns soon after its deadline even if the store ignores it. The breaker then opens, and at most one probe
// hangs.
func TestStoreThatIgnoresDeadlines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gs := New(func(Report) {})
		store := &deaf{Store: fake.New("gc"), free: make(chan struct{})}
		g := gs.StoreFor("", struct{ beads.Store }{store})
		began := time.Now()
		create := func(ctx context.Context) error { _, err := g.Create(ctx, beads.Bead{Title: "x"}); return err }
		for range breakAfter {
			err := create(t.Context())
			if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "a write in progress may still succeed") {
				t.Errorf("got %v", err)
			}
		}
		if took := time.Since(began); took != breakAfter*(callLimit+grace) || !g.writes.Open() {
			t.Errorf("after %s: the breaker is open: %v", took, g.writes.Open())
		}
		for range 3 {
			time.Sleep(maxBroken)
			if err := create(t.Context()); err == nil {
				t.Error("a hung call succeeded")
			}
		}
		if n := store.calls.Load(); n != breakAfter+1 {
			t.Errorf("the store got %d calls, want %d and one probe", n, breakAfter)
		}
		ctx, cancel := context.WithCancel(t.Context())
		time.Sleep(maxBroken)
		time.AfterFunc(time.Second, cancel)
		began = time.Now()
		if err := create(ctx); err == nil || time.Since(began) != time.Second+grace {
			t.Errorf("a canceled call returned %v after %s", err, time.Since(began))
		}
		close(store.free)
		synctest.Wait()
		time.Sleep(maxBroken)
		if err := create(t.Context()); err != nil || g.calls.Pending() != 0 {
			t.Errorf("got %v; %d pending calls", err, g.calls.Pending())
		}
	})
}

// A panic of an abandoned call does not reach the caller of another call.
func TestPanicAfterTheDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &deaf{Store: fake.New("gc"), free: make(chan struct{}), panics: true}
		g := New(func(Report) {}).StoreFor("", struct{ beads.Store }{store})
		if _, err := g.Create(t.Context(), beads.Bead{Title: "x"}); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
		close(store.free)
		synctest.Wait()
		if _, err := g.Get(t.Context(), "gc-1"); !errors.Is(err, beads.ErrNotFound) {
			t.Error(err)
		}
	})
}

// undoing is a store that closes the created beads after a failure.
type undoing struct {
	beads.Store
	took time.Duration
}

var errUndone = errors.New("undone")

func (*undoing) UndoLimit(n int) time.Duration { return time.Duration(n) * 10 * time.Second }

func (s *undoing) CreateAll(ctx context.Context, _ []beads.Bead) ([]beads.Bead, error) {
	<-ctx.Done()
	time.Sleep(s.took)
	return nil, errUndone
}

func (s *undoing) Create(ctx context.Context, b beads.Bead) (beads.Bead, error) {
	_, err := s.CreateAll(ctx, []beads.Bead{b})
	return b, err
}

// A failed call has time to close the beads that it created. The guard returns its error, not that of the deadline.
func TestUndoAfterTheDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &undoing{fake.New("gc"), 10 * time.Second}
		g := New(func(Report) {}).StoreFor("", store)
		if _, err := g.Create(t.Context(), beads.Bead{}); !errors.Is(err, errUndone) {
			t.Errorf("got %v", err)
		}
		store.took = 30 * time.Second
		if _, err := g.CreateAll(t.Context(), make([]beads.Bead, 3)); !errors.Is(err, errUndone) {
			t.Errorf("got %v", err)
		}
	})
}

type panicking struct {
	*fake.Store
	panics bool
}

func (s *panicking) Version(ctx context.Context) (uint64, error) {
	if s.panics {
		panic("bug")
	}
	return s.Store.Version(ctx)
}

// After a probe that panics, the store is probed again.
func TestProbeThatPanics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gs := New(func(Report) {})
		store := &panicking{fake.New("gc"), true}
		g := gs.StoreFor("", store)
		release := store.Hang()
		for range breakAfter {
			if _, err := g.Get(t.Context(), "gc-1"); err == nil {
				t.Fatal("a hung call succeeded")
			}
		}
		release()
		time.Sleep(minBroken)
		func() {
			defer func() {
				if got := recover(); !strings.HasSuffix(fmt.Sprint(got), ": bug") {
					t.Errorf("recovered %v", got)
				}
			}()
			g.TryRead(t.Context())
		}()
		if reads, _ := gs.Due(time.Now()); len(reads) != 0 || !g.reads.Open() {
			t.Error("after the panic: a probe is due immediately, or the breaker is closed")
		}
		store.panics = false
		time.Sleep(2 * minBroken)
		reads, _ := gs.Due(time.Now())
		if len(reads) != 1 {
			t.Fatal("no probe is due")
		}
		reads[0].TryRead(t.Context())
		if _, err := g.Get(t.Context(), "gc-1"); !errors.Is(err, beads.ErrNotFound) {
			t.Error(err)
		}
	})
}

// Rejections and short deadlines of callers do not count as failures of the store.
func TestRejectionsAreNotFailures(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gs := New(func(in Report) { t.Errorf("told %+v", in) })
		store := fake.New("gc")
		g := gs.StoreFor("", store)
		bare := gs.StoreFor("yard", struct{ beads.Store }{store})
		b, err := g.Create(t.Context(), beads.Bead{Title: "x"})
		if err != nil {
			t.Fatal(err)
		}
		for range 2 * breakAfter {
			if _, err := g.Get(t.Context(), "gc-99"); !errors.Is(err, beads.ErrNotFound) {
				t.Error(err)
			}
			if _, err := g.Create(t.Context(), beads.Bead{}); err == nil {
				t.Error("an empty bead was created")
			}
			if _, err := g.Update(t.Context(), b.ID, beads.Patch{IfRev: new(uint64(7))}); !errors.Is(err, beads.ErrConflict) {
				t.Error(err)
			}
			if _, err := bare.Version(t.Context()); !errors.Is(err, errors.ErrUnsupported) {
				t.Error(err)
			}
		}
		defer store.Hang()()
		for range 2 * breakAfter {
			short, cancel := context.WithTimeout(t.Context(), minFailedCall/2)
			if _, err := g.Get(short, b.ID); !errors.Is(err, context.DeadlineExceeded) {
				t.Error(err)
			}
			cancel()
		}
	})
}

// A replaced store starts with closed breakers, and a removed store has no trouble.
func TestReplacedStore(t *testing.T) {
	var told []Report
	gs := New(func(in Report) { told = append(told, in) })
	broken := fake.New("gc")
	broken.Break(errors.New("no such disk"))
	spoil := func(scope string) {
		for range breakAfter {
			if _, err := gs.StoreFor(scope, broken).Get(t.Context(), "gc-1"); err == nil {
				t.Fatal("a broken store returned no error")
			}
		}
	}
	spoil("yard")
	if n := len(told); n != 1 || !strings.Contains(told[0].Stores[0].Text, "the work of rig yard cannot be read (failing since ") {
		t.Fatalf("told %+v", told)
	}
	if _, err := gs.StoreFor("yard", fake.New("gc")).Get(t.Context(), "gc-1"); !errors.Is(err, beads.ErrNotFound) || len(told) != 2 || len(told[1].Stores) != 0 {
		t.Errorf("%v, reported %+v", err, told)
	}
	spoil("shed")
	gs.Keep([]string{"", "yard"})
	if len(told) != 4 || len(told[2].Stores) != 1 || len(told[3].Stores) != 0 {
		t.Errorf("told %+v", told)
	}
}

type patient struct {
	beads.Store
	down bool
}

func (*patient) CallLimit() time.Duration { return 30 * time.Second }

func (s *patient) List(ctx context.Context, _ beads.Query) ([]beads.Bead, error) {
	if s.down {
		return nil, errors.New("down")
	}
	select {
	case <-time.After(20 * time.Second):
		return nil, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// A store with a longer timeout is used again as soon as it works.
func TestSlowStoreRecovers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &patient{down: true}
		g := New(func(Report) {}).StoreFor("", store)
		for range breakAfter {
			if _, err := g.List(t.Context(), beads.Query{}); err == nil {
				t.Error("an unavailable store was read")
			}
		}
		store.down = false
		time.Sleep(minBroken)
		g.TryRead(t.Context())
		if _, err := g.List(t.Context(), beads.Query{}); err != nil {
			t.Error(err)
		}
	})
}

func (*patient) CreateAll(ctx context.Context, all []beads.Bead) ([]beads.Bead, error) {
	for range all {
		select {
		case <-time.After(2 * time.Second):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	return all, nil
}

// A slow store has enough time to create many beads.
func TestSlowBatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := New(func(Report) {}).StoreFor("", &patient{})
		if made, err := g.CreateAll(t.Context(), make([]beads.Bead, 40)); err != nil || len(made) != 40 {
			t.Errorf("created %d beads, %v", len(made), err)
		}
	})
}

// A store that cannot test its writes gets writes again after a successful read. If the next write fails, the guard
// rejects writes at once, for twice as long.
func TestWritesWithoutAProber(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := New(func(Report) {}).StoreFor("", &readable{Store: fake.New("gc"), fails: breakAfter + 1})
		create := func() error { _, err := g.Create(t.Context(), beads.Bead{Title: "x"}); return err }
		rejects := func() bool { return g.writes.Open() }
		for range breakAfter {
			if err := create(); err == nil {
				t.Fatal("a bead was created")
			}
		}
		for _, wait := range []time.Duration{minBroken, 2 * minBroken} {
			time.Sleep(wait - 1)
			if g.TryWrite(t.Context()); !rejects() {
				t.Fatalf("writes were allowed before %s", wait)
			}
			time.Sleep(time.Nanosecond)
			if g.TryWrite(t.Context()); rejects() {
				t.Fatalf("writes were not allowed after %s and a successful read", wait)
			}
			if wait == minBroken && (create() == nil || !rejects()) {
				t.Fatal("after another failed write, writes are still allowed")
			}
		}
		if err := create(); err != nil || g.writes != (Breaker{}) {
			t.Errorf("%v; %+v", err, g.writes)
		}
	})
}

type readable struct {
	beads.Store
	fails int // number of writes that fail
}

func (s *readable) Create(ctx context.Context, b beads.Bead) (beads.Bead, error) {
	if s.fails--; s.fails >= 0 {
		return beads.Bead{}, errors.New("read-only")
	}
	return s.Store.Create(ctx, b)
}

// A slow store sets its own timeout.
func TestCallTimeout(t *testing.T) {
	gs := New(func(Report) {})
	if slow := gs.StoreFor("rig", &patient{}).limit(); slow != 30*time.Second {
		t.Errorf("timeout of a slow store: got %v, want 30s", slow)
	}
	if limit := gs.StoreFor("", fake.New("x")).limit(); limit != callLimit {
		t.Errorf("default timeout: got %v", limit)
	}
}
