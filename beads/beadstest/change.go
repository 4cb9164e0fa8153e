package beadstest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"gcity/beads"
)

func patchChanges(t *testing.T, h Harness) {
	s := h.New(t)
	root, a := titled(t, s, "root"), titled(t, s, "a")
	want := full()
	got := update(t, s, a.ID, beads.Patch{
		Title: &want.Title, Status: &want.Status, Type: &want.Type, Priority: &want.Priority,
		Assignee: &want.Assignee, ParentID: &root.ID,
		Ref: &want.Ref, Needs: &[]string{root.ID}, Description: &want.Description,
		AddLabels: want.Labels, SetMetadata: want.Metadata,
	})
	want.ID, want.ParentID, want.Needs = a.ID, root.ID, []string{root.ID}
	want.CreatedAt, want.UpdatedAt, want.Rev = a.CreatedAt, got.UpdatedAt, 2
	if got.UpdatedAt.Before(a.UpdatedAt) {
		t.Errorf("UpdatedAt: got %v, want %v or later", got.UpdatedAt, a.UpdatedAt)
	}
	same(t, "updated", got, want)
	same(t, "read", get(t, s, a.ID), want)
	bare := update(t, s, a.ID, beads.Patch{Assignee: new(""), ParentID: new(""), Ref: new(""),
		Needs: &[]string{}, Description: new(""),
		RemoveLabels: want.Labels, SetMetadata: map[string]string{"cans": "", "a.b/c": ""}})
	want.Assignee, want.ParentID, want.Ref, want.Needs, want.Description, want.Labels,
		want.Metadata = "", "", "", nil, "", nil, nil
	want.Status = beads.StatusOpen // because it has no assignee anymore
	want.UpdatedAt, want.Rev = bare.UpdatedAt, 3
	same(t, "emptied", get(t, s, a.ID), want)
	titles(t, s, beads.Query{Parent: root.ID}, "")
	titles(t, s, beads.Query{Labels: []string{"color:green"}}, "")
}

func patchWithoutChanges(t *testing.T, h Harness) {
	s := h.New(t)
	a := create(t, s, full())
	for _, p := range []beads.Patch{
		{}, {Title: &a.Title}, {AddLabels: a.Labels[:1]}, {RemoveLabels: []string{"not there"}},
		{SetMetadata: map[string]string{"not-there": ""}},
		{Status: &a.Status, Priority: &a.Priority, IfRev: &a.Rev},
	} {
		same(t, fmt.Sprintf("after %+v", p), update(t, s, a.ID, p), a)
	}
	same(t, "the store", everything(t, s), []beads.Bead{a})
}

func labelsAppend(t *testing.T, h Harness) {
	s := h.New(t)
	a := create(t, s, beads.Bead{Title: "a", Labels: []string{"one"}})
	update(t, s, a.ID, beads.Patch{AddLabels: []string{"two", "one", "three"}})
	same(t, "added", get(t, s, a.ID).Labels, []string{"one", "two", "three"})
	titles(t, s, beads.Query{Labels: []string{"two"}}, "a")
	update(t, s, a.ID, beads.Patch{AddLabels: []string{"four"},
		RemoveLabels: []string{"two", "never"}})
	same(t, "removed", get(t, s, a.ID).Labels, []string{"one", "three", "four"})
	titles(t, s, beads.Query{Labels: []string{"two"}}, "")
	titles(t, s, beads.Query{Labels: []string{"four"}}, "a")
}

func metadata(t *testing.T, h Harness) {
	s := h.New(t)
	a := create(t, s, beads.Bead{Title: "a", Metadata: map[string]string{"x": "1", "y": "2"}})
	update(t, s, a.ID, beads.Patch{SetMetadata: map[string]string{"y": "", "z": "3", "x": "4"}})
	same(t, "metadata", get(t, s, a.ID).Metadata, map[string]string{"x": "4", "z": "3"})
}

func closingTwice(t *testing.T, h Harness) {
	s := h.New(t)
	a := titled(t, s, "a")
	once := update(t, s, a.ID, beads.Closing())
	if once.Status != beads.StatusClosed || once.ClosedAt == nil ||
		!once.ClosedAt.Equal(once.UpdatedAt) || once.Rev != 2 {
		t.Errorf("%+v", once)
	}
	same(t, "twice", update(t, s, a.ID, beads.Closing()), once)
	again := update(t, s, a.ID, beads.Patch{Status: new(beads.StatusOpen)})
	if again.ClosedAt != nil || again.Rev != 3 {
		t.Errorf("reopened: %+v", again)
	}
	same(t, "the store", everything(t, s), []beads.Bead{again})
}

func noCycles(t *testing.T, h Harness) {
	s := h.New(t)
	a := titled(t, s, "a")
	b := create(t, s, beads.Bead{Title: "b", Needs: []string{a.ID}, ParentID: a.ID})
	c := create(t, s, beads.Bead{Title: "c", Needs: []string{b.ID}, ParentID: b.ID})
	_, err := s.Update(t.Context(), a.ID, beads.Patch{Needs: &[]string{c.ID}})
	wantInvalid(t, "needs", err)
	_, err = s.Update(t.Context(), a.ID, beads.Patch{ParentID: &c.ID})
	wantInvalid(t, "parents", err)
	same(t, "the bead", get(t, s, a.ID), a)
	update(t, s, c.ID, beads.Patch{Needs: &[]string{a.ID, b.ID}})

	// The new parent exists, but the link to it forms a cycle.
	p := titled(t, s, "p")
	k := create(t, s, beads.Bead{Title: "k", ParentID: p.ID})
	update(t, s, p.ID, beads.Patch{Needs: &[]string{k.ID}})
	_, err = s.Update(t.Context(), k.ID, beads.Patch{Needs: &[]string{p.ID}})
	wantInvalid(t, "a parent and its child", err)
	_, err = s.Update(t.Context(), a.ID, beads.Patch{ParentID: &c.ID})
	wantInvalid(t, "a need that becomes the parent", err)
	same(t, "the child", get(t, s, k.ID), k)
}

func closeReasons(t *testing.T, h Harness) {
	s := h.New(t)
	a := titled(t, s, "a")
	closing := beads.Closing()
	closing.SetMetadata = map[string]string{beads.CloseReason: "done", "x": "1"}
	update(t, s, a.ID, closing)
	same(t, "reopened", update(t, s, a.ID, beads.Patch{Status: new(beads.StatusOpen)}).Metadata,
		map[string]string{"x": "1"})
	update(t, s, a.ID, closing)
	b := update(t, s, a.ID, beads.Patch{Status: new(beads.StatusInProgress),
		SetMetadata: map[string]string{beads.CloseReason: "kept"}})
	same(t, "set again", b.Metadata[beads.CloseReason], "kept")
}

func compareAndSwap(t *testing.T, h Harness) {
	s := h.New(t)
	a := titled(t, s, "a")
	b := update(t, s, a.ID, beads.Patch{Title: new("b"), IfRev: &a.Rev})
	for _, p := range []beads.Patch{{Title: new("c"), IfRev: &a.Rev}, {IfRev: &a.Rev}} {
		if _, err := s.Update(t.Context(), a.ID, p); !errors.Is(err, beads.ErrConflict) {
			t.Errorf("Update with the old revision: got %v", err)
		}
	}
	same(t, "the bead", get(t, s, a.ID), b)
}

func thirtyEdits(t *testing.T, h Harness) {
	s := h.New(t)
	a := create(t, s, beads.Bead{Title: "a", Metadata: map[string]string{"n": "0"}})
	editors := h.many(30, 4)
	var all sync.WaitGroup
	for e := range editors {
		all.Go(func() {
			for {
				have, err := s.Get(t.Context(), a.ID)
				if err != nil {
					t.Error(err)
					return
				}
				var n int
				if _, err := fmt.Sscan(have.Metadata["n"], &n); err != nil {
					t.Error(err)
					return
				}
				_, err = s.Update(t.Context(), a.ID, beads.Patch{
					SetMetadata: map[string]string{"n": fmt.Sprint(n + 1)},
					AddLabels:   []string{fmt.Sprint("editor:", e)}, IfRev: &have.Rev,
				})
				if errors.Is(err, beads.ErrConflict) {
					continue
				}
				if err != nil {
					t.Error(err)
				}
				return
			}
		})
	}
	all.Wait()
	got := get(t, s, a.ID)
	// some stores use a hash as the revision
	if got.Metadata["n"] != fmt.Sprint(editors) || len(got.Labels) != editors ||
		a.Rev == 1 && got.Rev != uint64(editors)+1 {
		t.Errorf("%+v", got)
	}
}

func manyCreates(t *testing.T, h Harness) {
	s := h.New(t)
	workers, each := h.many(8, 3), h.many(25, 3)
	var all sync.WaitGroup
	for w := range workers {
		all.Go(func() {
			for i := range each {
				if _, err := s.Create(t.Context(),
					beads.Bead{Title: fmt.Sprint(w, "-", i),
						Labels: []string{fmt.Sprint("w:", w)}}); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
	ids := map[string]bool{}
	for _, b := range everything(t, s) {
		ids[b.ID] = true
	}
	if len(ids) != workers*each {
		t.Errorf("got %d different IDs, want %d", len(ids), workers*each)
	}
	for w := range workers {
		if n := len(list(t, s, beads.Query{Labels: []string{fmt.Sprint("w:", w)}, Limit: -1})); n !=
			each {
			t.Errorf("got %d beads of worker %d", n, w)
		}
	}
}

func version(t *testing.T, h Harness) {
	s := h.New(t)
	v := optional[beads.Versioner](t, s)
	last := uint64(0)
	now := func() uint64 {
		t.Helper()
		n, err := v.Version(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	changed := func(what string, want bool) {
		t.Helper()
		n := now()
		if (n != last) != want {
			t.Errorf("%s: got version %d after %d", what, n, last)
		}
		last = n
	}
	changed("empty", false)
	a := titled(t, s, "a")
	changed("create", true)
	get(t, s, a.ID)
	changed("get", false)
	everything(t, s)
	changed("list", false)
	update(t, s, a.ID, beads.Closing())
	changed("close", true)
	update(t, s, a.ID, beads.Closing())
	changed("close again", false)
	if _, err := s.Create(t.Context(), beads.Bead{}); err == nil {
		t.Error("a bead without a title was accepted")
	}
	changed("a rejected create", false)
	if h.Reopen != nil {
		titled(t, h.Reopen(t, s), "b")
		changed("another client's create", true)
	}
}

func probe(t *testing.T, h Harness) {
	s := h.New(t)
	p := optional[beads.Prober](t, s)
	if err := p.Probe(t.Context()); err != nil {
		t.Errorf("Probe of an empty store: got %v", err)
	}
	titled(t, s, "a")
	before := everything(t, s)
	version := func() (n uint64) {
		if v, ok := s.(beads.Versioner); ok {
			var err error
			if n, err = v.Version(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		return n
	}
	was := version()
	if err := p.Probe(t.Context()); err != nil {
		t.Error(err)
	}
	if now := version(); now != was {
		t.Errorf("version: got %[2]d, want %[1]d", was, now)
	}
	same(t, "the store", everything(t, s), before)
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if err := p.Probe(gone); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
