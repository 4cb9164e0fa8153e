package controller

import (
	"maps"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"gcity/beads"
	"gcity/beads/fake"
	"gcity/beads/guard"
	"gcity/city"
	"gcity/controller/effect"
)

// What somebody holds is counted in every store, begun work first, whether or not the store can count.
func TestWhatPeopleHoldIsCounted(t *testing.T) {
	own, yard := fake.New("tw"), fake.New("ya")
	c := &Controller{o: Options{Stores: func(rig string) (beads.Store, error) {
		if rig == "yard" {
			return plain{yard}, nil
		}
		return own, nil
	}}}
	c.snap.Store(&city.Snapshot{Rigs: []city.Rig{{Name: "yard"}}})
	r := &runner{c: c, guards: guard.New(func(guard.Report) {})}
	put := func(s beads.Store, all ...beads.Bead) {
		t.Helper()
		for _, b := range all {
			b.Title = "x"
			if _, err := s.Create(t.Context(), b); err != nil {
				t.Fatal(err)
			}
		}
	}
	begun, done := beads.StatusInProgress, beads.StatusClosed
	put(own, beads.Bead{Assignee: "a", Status: begun}, beads.Bead{Assignee: "a"}, beads.Bead{Assignee: "a", Status: done}, beads.Bead{},
		beads.Bead{Assignee: "b", Type: city.RunType, Status: begun})
	put(yard, beads.Bead{Assignee: "c"}, beads.Bead{Assignee: "a"}, beads.Bead{Assignee: "a", Status: begun})
	want := map[string]effect.Holding{"a": {IDs: []string{"tw-1", "tw-2", "ya-3"}, N: 4}, "c": {IDs: []string{"ya-1"}, N: 1}}
	in := r.count(t.Context(), effect.CountWork{}).(effect.WorkCounted)
	if in.Err != nil || !maps.EqualFunc(in.Held, want, effect.Holding.Same) {
		t.Errorf("%+v, %v", in.Held, in.Err)
	}
	put(own, beads.Bead{Assignee: "c"})
	if in = r.count(t.Context(), effect.CountWork{}).(effect.WorkCounted); in.Unchanged || in.Held["c"].N != 2 {
		t.Errorf("one more: %+v", in.Held)
	}
}

// Work of an agent that is suspended is told after a while, and no longer once it is given back.
func TestStrandedWorkIsShown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, store := newTown(t, strings.Replace(two, "[[agents]]", "[[agents]]\nsuspended = true", 1)), fake.New("tw")
		w.o.Stores = func(string) (beads.Store, error) { return store, nil }
		w.m.conf.NoWork = false
		end := w.begin()
		defer end()
		synctest.Wait()
		if got := w.state("a"); got != string(city.Suspended) {
			t.Fatal(got)
		}
		b, err := store.Create(t.Context(), beads.Bead{Title: "x", Status: beads.StatusInProgress, Assignee: "a"})
		if err != nil {
			t.Fatal(err)
		}
		lines := func() string {
			s, err := w.Snapshot(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			return strings.Join(s.StrandedLines(), "\n")
		}
		time.Sleep(city.StrandedAfter - time.Minute)
		if got := lines(); got != "" {
			t.Errorf("too soon: %s", got)
		}
		time.Sleep(3 * time.Minute)
		if got := lines(); !strings.HasPrefix(got, b.ID+" is assigned to a, which is suspended by agent: ") {
			t.Errorf("after a while: %q", got)
		}
		if _, err := w.Do(t.Context(), city.UpdateBead{ID: b.ID, Patch: beads.Patch{Status: new(beads.StatusOpen), Assignee: new("")}}); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if got := lines(); got != "" {
			t.Errorf("given back: %s", got)
		}
	})
}
