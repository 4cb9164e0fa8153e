package foreign_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"gcity/beads"
	"gcity/beads/beadstest"
	"gcity/beads/fake"
	"gcity/beads/foreign"
)

type keeper struct {
	of     *fake.Store
	breaks string
	found  int           // number of calls to Find
	slow   time.Duration // duration of Create and Update

	readies  atomic.Int64
	getReady func(ctx context.Context) error // nil = always ready
}

var errBroken = errors.New("the program is gone")

func (k *keeper) Ready(ctx context.Context) error {
	k.readies.Add(1)
	if k.getReady == nil {
		return nil
	}
	return k.getReady(ctx)
}

func (k *keeper) Get(ctx context.Context, id string) (beads.Bead, error) { return k.of.Get(ctx, id) }

func (k *keeper) Find(ctx context.Context, q beads.Query) (foreign.Found, error) {
	k.found++
	q.Limit = -1
	all, err := k.of.List(ctx, q)
	return foreign.Found{Beads: all}, err
}

func (k *keeper) Create(ctx context.Context, b beads.Bead) (beads.Bead, error) {
	if err := k.wait(ctx); err != nil {
		return beads.Bead{}, err
	}
	if b.Title == k.breaks {
		return beads.Bead{}, errBroken
	}
	if b.ID != "" {
		if _, err := k.of.Restore(ctx, []beads.Bead{b}); err != nil {
			return beads.Bead{}, err
		}
		return k.of.Get(ctx, b.ID)
	}
	made, err := k.of.Create(ctx, b)
	if err != nil {
		return made, err
	}
	b.ID, b.UpdatedAt = made.ID, made.UpdatedAt.Add(time.Nanosecond)
	return k.put(ctx, b)
}

func (k *keeper) Update(ctx context.Context, _, now beads.Bead) (beads.Bead, error) {
	if err := k.wait(ctx); err != nil {
		return beads.Bead{}, err
	}
	return k.put(ctx, now)
}

func (k *keeper) wait(ctx context.Context) error {
	select {
	case <-time.After(k.slow):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (k *keeper) put(ctx context.Context, b beads.Bead) (beads.Bead, error) {
	if _, err := k.of.Restore(ctx, []beads.Bead{b}); err != nil {
		return beads.Bead{}, err
	}
	return k.of.Get(ctx, b.ID)
}

func open(t *testing.T, breaks string) (*foreign.Store, *keeper) {
	t.Helper()
	k := &keeper{of: fake.New("fo"), breaks: breaks}
	return foreign.New(k, filepath.Join(t.TempDir(), "at", "lock")), k
}

// A store on top of a simple program passes the test suite.
func TestSuite(t *testing.T) {
	const times = "its own times and revisions: the program of this test assigns them"
	beadstest.Run(t, beadstest.Harness{
		New: func(t *testing.T) beads.Store {
			s, _ := open(t, "")
			return s
		},
		Skip: map[string]string{
			"created beads are stored": times, "defaults": times, "a patch changes only its fields": times, "closing a closed bead has no effect": times,
			"a purge removes old closed trees": "removing", "a purge keeps open and recent trees": "removing",
		},
	})
}

// A caller waits for readiness until its own deadline. Once the program is ready, it is not checked again.
func TestWaitForReady(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, k := open(t, "")
		k.getReady = func(ctx context.Context) error {
			select {
			case <-time.After(time.Minute):
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		first := make(chan error, 1)
		go func() {
			_, err := s.List(t.Context(), beads.Query{})
			first <- err
		}()
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		began := time.Now()
		if _, err := s.Get(ctx, "fo-1"); !errors.Is(err, context.DeadlineExceeded) || time.Since(began) != time.Second { // time.Since uses the bubble's fake clock
			t.Errorf("%v after %s", err, time.Since(began))
		}
		if err := <-first; err != nil {
			t.Error(err)
		}
		if _, err := s.Get(t.Context(), "fo-1"); !errors.Is(err, beads.ErrNotFound) || k.readies.Load() != 1 {
			t.Errorf("got %v with %d calls of Ready", err, k.readies.Load())
		}
	})
}

// After a failure, no bead of the batch stays open, even if little time remains.
func TestBatchFailsPartway(t *testing.T) {
	s, k := open(t, "third")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	_, err := s.CreateAll(ctx, []beads.Bead{
		{ID: "$a", Title: "first", Needs: []string{"$b"}}, {ID: "$b", Title: "second"}, {Title: "third", Needs: []string{"$a"}},
	})
	if !errors.Is(err, errBroken) || strings.Contains(err.Error(), "left open") {
		t.Errorf("%v", err)
	}
	all, err := k.of.List(t.Context(), beads.Query{})
	if err != nil || len(all) != 2 {
		t.Fatalf("%+v, %v", all, err)
	}
	for _, b := range all {
		if b.Status != beads.StatusClosed || b.Metadata[beads.CloseReason] == "" {
			t.Errorf("%+v", b)
		}
	}
}

// If a batch is canceled while the program creates a bead, that bead is closed too.
func TestCanceledBatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, k := open(t, "")
		k.slow = time.Second
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		time.AfterFunc(1500*time.Millisecond, cancel)
		_, err := s.CreateAll(ctx, []beads.Bead{{ID: "$a", Title: "a"}, {Title: "b", Needs: []string{"$a"}},
			{Title: "c"}})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%v", err)
		}
		all, err := k.of.List(t.Context(), beads.Query{})
		if err != nil || len(all) != 2 {
			t.Fatalf("%+v, %v", all, err)
		}
		for _, b := range all {
			if b.Metadata[beads.CloseReason] != beads.PartlyCreated {
				t.Errorf("%+v", b)
			}
		}
	})
}

// A slow program has enough time to close all beads of a large batch.
func TestSlowUndo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, k := open(t, "last")
		k.slow = 1500 * time.Millisecond
		all := make([]beads.Bead, 40)
		for i := range all {
			all[i].Title = "step"
		}
		if _, err := s.CreateAll(t.Context(), append(all, beads.Bead{Title: "last"})); !errors.Is(err, errBroken) {
			t.Fatal(err)
		}
		open, err := k.of.List(t.Context(), beads.Query{Status: beads.Unclosed(), Limit: -1})
		if err != nil || len(open) > 0 {
			t.Errorf("still open: %+v, %v", open, err)
		}
	})
}

// No operation makes one call per bead.
func TestNumberOfCalls(t *testing.T) {
	s, k := open(t, "")
	var needs []string
	for i := range 5 {
		b, err := s.Create(t.Context(), beads.Bead{Title: fmt.Sprint(i)})
		if err != nil {
			t.Fatal(err)
		}
		needs = append(needs, b.ID)
	}
	if k.found != 0 {
		t.Errorf("creating beads without links: got %d calls of Find, want 0", k.found)
	}
	b, err := s.Create(t.Context(), beads.Bead{Title: "all", Needs: needs})
	if err != nil || k.found != 1 {
		t.Errorf("a bead with five needs: got %d calls of Find, %v", k.found, err)
	}
	if _, err := s.Update(t.Context(), b.ID, beads.Patch{Needs: &[]string{}, ParentID: &needs[0]}); err != nil || k.found != 2 {
		t.Errorf("other links: got %d calls of Find, %v", k.found, err)
	}
	if _, err := s.Purge(t.Context(), beads.Query{}, time.Now()); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("a purge: %v", err)
	}
}

// Different contents have different revisions. A revision fits into a JSON number.
func TestContentHash(t *testing.T) {
	a, err := foreign.Normalize(beads.Bead{ID: "a-1", Title: "x", Metadata: map[string]string{"k": "v", "l": "w"}})
	if err != nil {
		t.Fatal(err)
	}
	b := a.Clone()
	b.Rev = 99
	if foreign.ContentHash(a) != foreign.ContentHash(b) || foreign.ContentHash(a) == 0 || foreign.ContentHash(a) >= 1<<53 {
		t.Errorf("%d, %d", foreign.ContentHash(a), foreign.ContentHash(b))
	}
	b.Metadata["k"] = "V"
	if foreign.ContentHash(a) == foreign.ContentHash(b) {
		t.Error("different contents have the same hash")
	}
	if _, err := foreign.Normalize(beads.Bead{ID: "a-1", Title: "\x1b[2J"}); !errors.Is(err, beads.ErrUnreadable) {
		t.Errorf("%v", err)
	}
}
