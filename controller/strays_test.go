package controller

import (
	"errors"
	"slices"
	"testing"
	"time"

	"gcity/beads"
	"gcity/city"
	"gcity/controller/effect"
)

// A record that was written after its run had been given up is closed some time later; those of runs that go are not.
func TestRecordsOfRunsThatNeverWereAreClosed(t *testing.T) {
	w, store := workTown(t)
	var ids []string
	for range 3 {
		b, err := store.Create(t.Context(), beads.Bead{Title: "run", Type: city.RunType, Status: beads.StatusInProgress, Labels: []string{city.RunLabel + "a"}})
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, b.ID)
	}
	young, err := store.Get(t.Context(), ids[2])
	if err != nil {
		t.Fatal(err)
	}
	if in := w.runner.closeStrays(t.Context(), effect.CloseUnclosedRuns{Before: young.CreatedAt.Add(-time.Hour)}).(effect.UnclosedRunsClosed); in.Err != nil {
		t.Fatal(in.Err)
	}
	if in := w.runner.closeStrays(t.Context(), effect.CloseUnclosedRuns{Known: []string{ids[0]}, Before: young.CreatedAt.Add(time.Nanosecond)}).(effect.UnclosedRunsClosed); in.Err != nil {
		t.Fatal(in.Err)
	}
	for i, id := range ids {
		b, err := store.Get(t.Context(), id)
		if closed := b.Status == beads.StatusClosed; err != nil || closed == (i == 0) {
			t.Errorf("%s: %+v, %v", id, b, err)
		}
	}
}

// They are looked for once, a while after the last record that could not be made, and not while one is being made.
func TestStraysAreSoughtAfterATrouble(t *testing.T) {
	w := newWorld()
	if err := w.automate([]string{"a", "gate=manual"}); err != nil {
		t.Fatal(err)
	}
	w.declare()
	w.advance(time.Second)
	sought := func() (n int) {
		w.m.out = nil
		w.m.seekStrays(w.now)
		for _, f := range w.m.out {
			if _, ok := f.(effect.CloseUnclosedRuns); ok {
				n++
			}
		}
		return n
	}
	if sought() > 0 {
		t.Error("sought without a reason")
	}
	w.floor.refuse = "the store is slow"
	w.step(effect.Command{ID: 1, Cmd: city.Fire{Automation: "a"}})
	if w.floor.refuse = ""; sought() > 0 {
		t.Error("sought at once")
	}
	w.now = w.now.Add(strayWait)
	w.m.work.goes["b"] = &city.Run{}
	if sought() > 0 {
		t.Error("sought while a record is being made")
	}
	w.m.work.goes["b"] = &city.Run{ID: "app-9"}
	w.m.out = nil
	w.m.seekStrays(w.now)
	if len(w.m.out) != 1 || !slices.Equal(w.m.out[0].(effect.CloseUnclosedRuns).Known, []string{"app-9"}) {
		t.Errorf("%+v", w.m.out)
	}
	if sought() > 0 {
		t.Error("sought twice")
	}
	w.m.strayed(w.now, effect.UnclosedRunsClosed{Err: errors.New("slow")})
	if w.now = w.now.Add(strayWait); sought() != 1 {
		t.Error("a look that failed is not tried again")
	}
}
