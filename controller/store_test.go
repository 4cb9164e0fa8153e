package controller

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"gcity/beads"
	"gcity/beads/fake"
	"gcity/beads/sqlite"
	"gcity/city"
	"gcity/events"
)

type countedStore struct {
	*fake.Store
	mu sync.Mutex
	n  int
}

func (a *countedStore) note() { a.mu.Lock(); a.n++; a.mu.Unlock() }

func (a *countedStore) calls() int { a.mu.Lock(); defer a.mu.Unlock(); return a.n }

func (a *countedStore) Create(ctx context.Context, b beads.Bead) (beads.Bead, error) {
	a.note()
	return a.Store.Create(ctx, b)
}

func (a *countedStore) Get(ctx context.Context, id string) (beads.Bead, error) {
	a.note()
	return a.Store.Get(ctx, id)
}

func (a *countedStore) Version(ctx context.Context) (uint64, error) {
	a.note()
	return a.Store.Version(ctx)
}

func (a *countedStore) Probe(ctx context.Context) error { a.note(); return a.Store.Probe(ctx) }

// A city keeps working while its store hangs. Agents restart immediately, the status shows the problem, and pools keep
// their size.
func TestCityWithAHungStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, yard := &countedStore{Store: fake.New("tw")}, fake.New("ya")
		w := newTown(t, two+"[[agents]]\nname = \"w\"\nstart_command = \"w\"\n[agents.pool]\nmax = 3\n"+
			"[[rigs]]\nname = \"yard\"\npath = \""+t.TempDir()+"\"\n", func(o *Options) {
			o.Stores = func(rig string) (beads.Store, error) {
				return map[string]beads.Store{"": store, "yard": yard}[rig], nil
			}
		})
		here, err := store.Store.Create(t.Context(),
			beads.Bead{Title: "one", Labels: []string{"pool:w"}})
		if err != nil {
			t.Fatal(err)
		}
		there, err := yard.Create(t.Context(), beads.Bead{Title: "two", Labels: []string{"pool:w"}})
		if err != nil {
			t.Fatal(err)
		}
		defer w.begin()()
		pool := func() int {
			s, _ := w.Snapshot(t.Context())
			return s.Pools[0].Desired
		}
		synctest.Wait()
		if n := pool(); n != 2 {
			t.Fatalf("the pool wants %d", n)
		}
		release := store.Hang()
		before := store.calls()
		time.Sleep(time.Hour)
		if n := store.calls() - before; n > 70 { // three calls, and one probe per minute
			t.Errorf("queries to a hung store in an hour: got %d, want at most 70", n)
		}
		s, _ := w.Snapshot(t.Context())
		if len(s.Degraded) != 1 || !strings.HasPrefix(s.Degraded[0],
			"the work of the city cannot be read (failing since ") {
			t.Errorf("degraded: %q", s.Degraded)
		}
		w.fake.Crash("a", 3, "")
		began := time.Now()
		synctest.Wait()
		if n := w.fake.Started("a"); n != 2 || w.state("a") != "running" {
			t.Errorf("a was started %d times and is %s", n, w.state("a"))
		}
		if _, err := w.Beads(t.Context(), beads.Query{}); err == nil ||
			!strings.HasPrefix(err.Error(), "the work of the city cannot be read") {
			t.Errorf("a list: %v", err)
		}
		if _, err := w.Bead(t.Context(), here.ID); err == nil {
			t.Error("a hung store returned a bead")
		}
		if b, err := w.Bead(t.Context(), there.ID); err != nil || b.ID != there.ID {
			t.Errorf("bead of the other store: got %v", err)
		}
		if r, err := w.Do(t.Context(), city.UpdateBead{ID: there.ID,
			Patch: beads.Closing()}); err != nil || r.Bead.Status != beads.StatusClosed {
			t.Errorf("update in the other store: got %+v, %v", r, err)
		}
		if took := time.Since(began); took != 0 {
			t.Errorf("calls waited %v for a store that is known to hang", took)
		}
		time.Sleep(time.Minute)
		if n := pool(); n != 1 { // the latest count of the hung store is still used
			t.Errorf("the pool wants %d", n)
		}
		release()
		time.Sleep(2 * time.Minute)
		if s, _ := w.Snapshot(t.Context()); len(s.Degraded) != 0 {
			t.Errorf("degraded: %q", s.Degraded)
		}
		for _, says := range []string{"closed " + here.ID, here.ID + " is already in that state"} {
			if r, err := w.Do(t.Context(), city.UpdateBead{ID: here.ID,
				Patch: beads.Closing()}); err != nil || r.Message != says ||
				r.Bead.Status != beads.StatusClosed {
				t.Errorf("%+v, %v", r, err)
			}
		}
		synctest.Wait()
		if n := pool(); n != 0 {
			t.Errorf("the pool wants %d", n)
		}
		told := slices.DeleteFunc(strings.Split(w.types(), "\n"), func(line string) bool {
			return !strings.HasPrefix(line, "store.") && !strings.HasPrefix(line, "bead.")
		})
		if !slices.Equal(told, []string{"store.failing", "bead.closed " + there.ID, "store.healed",
			"bead.closed " + here.ID}) {
			t.Errorf("told %q", told)
		}
	})
}

// A change to work that is in flight when the controller ends is recorded, and the client receives a successful reply.
func TestAChangeInFlightAtTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := fake.New("tw")
		w := newTown(t, two, func(o *Options) {
			o.Stores = func(string) (beads.Store, error) { return store, nil }
		})
		end := w.begin()
		synctest.Wait()
		release := store.Hang()
		type result struct {
			city.Receipt
			err error
		}
		done := make(chan result, 1)
		go func() {
			r, err := w.Do(t.Context(), city.CreateBead{Bead: beads.Bead{Title: "late"}})
			done <- result{r, err}
		}()
		synctest.Wait()
		if _, err := w.Do(t.Context(), city.Shutdown{Leave: true}); err != nil {
			t.Fatal(err)
		}
		release()
		end()
		r := <-done
		if r.err != nil || r.Bead == nil || r.Bead.Title != "late" {
			t.Fatalf("got %+v", r)
		}
		w.expect("controller.started", "agent.started a", "agent.started b", "controller.stopped",
			"bead.created "+r.Bead.ID)
	})
}

// Pages of beads from several stores skip and repeat nothing, even with equal creation times.
func TestPagesOfWorkInSeveralStores(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stores := map[string]beads.Store{"": fake.New("tw"), "yard": fake.New("ya"),
			"shop": fake.New("sh")}
		w := newTown(t, two+"[[rigs]]\nname = \"yard\"\npath = \""+t.TempDir()+"\"\n[[rigs]]\n"+
			"name = \"shop\"\npath = \""+t.TempDir()+"\"\n", func(o *Options) {
			o.Stores = func(rig string) (beads.Store, error) { return stores[rig], nil }
		})
		for _, s := range stores {
			for range 3 {
				if _, err := s.Create(t.Context(), beads.Bead{Title: "x"}); err != nil {
					t.Fatal(err)
				}
			}
		}
		ids := func(all []beads.Bead) (out []string) {
			for _, b := range all {
				out = append(out, b.ID)
			}
			return out
		}
		all, err := w.Beads(t.Context(), beads.Query{})
		if err != nil || len(all) != 9 {
			t.Fatalf("%v, %v", ids(all), err)
		}
		for size := 1; size <= 4; size++ {
			var got []string
			q := beads.Query{Limit: size}
			for range 10 {
				page, err := w.Beads(t.Context(), q)
				if err != nil {
					t.Fatal(err)
				}
				if len(page) == 0 {
					break
				}
				got = append(got, ids(page)...)
				q.Before = got[len(got)-1]
			}
			if !slices.Equal(got, ids(all)) {
				t.Errorf("by %d: got %v, want %v", size, got, ids(all))
			}
		}
	})
}

// An automation runs after a store that cannot test its writes has failed and works again.
func TestAutomationRunsOnceTheStoreWorksAgain(t *testing.T) {
	dir := jobCity(t, "gate = \"cooldown\"\ninterval = \"1s\"\nexec = \"true\"\n")
	store := &failingStore{}
	store.left.Store(3)
	w := live(t, dir, events.Options{}, nil, func(real *sqlite.Store) beads.Store {
		store.Store = real
		return store
	})
	defer w.end(t)
	w.await(t, "a run", func(_ city.Automation, runs []city.Run) bool { return len(runs) > 0 })
	if n := store.left.Load(); n >= 0 {
		t.Errorf("%d calls have not failed yet", n)
	}
}

type failingStore struct {
	beads.Store
	left atomic.Int64 // number of calls of Create that fail
}

func (s *failingStore) Create(ctx context.Context, b beads.Bead) (beads.Bead, error) {
	if s.left.Add(-1) >= 0 {
		return beads.Bead{}, errors.New("the disk is full")
	}
	return s.Store.Create(ctx, b)
}

// slowCounts is a store in which each count waits until the test allows it.
type slowCounts struct {
	*fake.Store
	allow chan struct{}
}

func (s *slowCounts) Version(ctx context.Context) (uint64, error) {
	select {
	case <-s.allow:
	case <-ctx.Done():
	}
	return s.Store.Version(ctx)
}

// The index of a snapshot is lower than the seq of a change to work that the snapshot's counts do not include.
func TestIndexBeforeTheCount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &slowCounts{fake.New("tw"), make(chan struct{}, 1)}
		w := newTown(t, two, func(o *Options) {
			o.Stores = func(string) (beads.Store, error) { return store, nil }
		})
		defer w.begin()()
		defer close(store.allow)
		store.allow <- struct{}{}
		synctest.Wait()
		check := func(open int, index uint64) {
			t.Helper()
			synctest.Wait()
			if s, err := w.Snapshot(t.Context()); err != nil || s.Work.Open != open || s.Index() != index {
				t.Errorf("%d open at index %d, want %d at %d (%v)", s.Work.Open, s.Index(), open, index, err)
			}
		}
		create := func() uint64 {
			t.Helper()
			r, err := w.Do(t.Context(), city.CreateBead{Bead: beads.Bead{Title: "x"}})
			if err != nil {
				t.Fatal(err)
			}
			return r.Seq
		}
		first := create()
		check(0, first-1)
		second := create()
		check(0, first-1)
		store.allow <- struct{}{} // this count began before the second change
		synctest.Wait()
		if s, err := w.Snapshot(t.Context()); err != nil || s.Index() != second-1 {
			t.Errorf("index %d, want %d (%v)", s.Index(), second-1, err)
		}
		store.allow <- struct{}{}
		check(2, second)
		r, err := w.Do(t.Context(), city.UpdateBead{ID: "tw-1", Patch: beads.Patch{Title: new("y")}})
		if err != nil {
			t.Fatal(err)
		}
		check(2, r.Seq-1)
		store.allow <- struct{}{}
		check(2, r.Seq) // although the counts are the same
		r, err = w.Do(t.Context(), city.Emit{Event: events.Event{Type: events.StoreRestored, Actor: "me"}})
		if err != nil {
			t.Fatal(err)
		}
		check(2, r.Seq-1)
		store.allow <- struct{}{}
		check(2, r.Seq)
	})
}
