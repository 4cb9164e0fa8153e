package citytest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"gcity/beads"
	"gcity/city"
	"gcity/events"
)

func create(t *testing.T, ctx context.Context, ctl city.Control, b beads.Bead) beads.Bead {
	t.Helper()
	return beadOf(t, do(t, ctx, ctl, city.CreateBead{Bead: b}))
}

func beadOf(t *testing.T, r city.Receipt) beads.Bead {
	t.Helper()
	if r.Bead == nil || r.Bead.ID == "" || r.Message == "" {
		t.Fatalf("the receipt has no bead: %+v", r)
	}
	return *r.Bead
}

func get(t *testing.T, ctx context.Context, ctl city.Control, id string) beads.Bead {
	t.Helper()
	b, err := city.GetBead(ctx, ctl, id)
	if err != nil {
		t.Fatalf("bead %s: %v", id, err)
	}
	return b
}

func listed(t *testing.T, ctx context.Context, ctl city.Control, q beads.Query) []string {
	t.Helper()
	found, err := ctl.Beads(ctx, q)
	if err != nil {
		t.Fatalf("%+v: %v", q, err)
	}
	ids := make([]string, len(found))
	for i, b := range found {
		ids[i] = b.ID
	}
	return ids
}

func testBeads(t *testing.T, ctx context.Context, ctl city.Control) {
	if ids := listed(t, ctx, ctl, beads.Query{NotType: []string{city.RunType}}); len(ids) > 0 {
		t.Fatalf("the store is not empty: %q", ids)
	}
	root := create(t, ctx, ctl, beads.Bead{Title: "größer <&>", Type: beads.TypeMolecule,
		Description: "two\nlines", Priority: beads.Urgent})
	first := create(t, ctx, ctl, beads.Bead{Title: "first", ParentID: root.ID,
		Labels: []string{"a", "pool:yard/hand"}, Assignee: Worker,
		Metadata: map[string]string{"k": "v, w"}})
	second := create(t, ctx, ctl, beads.Bead{Title: "second", ParentID: root.ID,
		Labels: []string{"a"}, Needs: []string{first.ID}, Type: "bug", Ref: "recipe"})
	if root.Status != beads.StatusOpen || root.Rev != 1 || root.CreatedAt.IsZero() ||
		root.Priority != beads.Urgent || root.Description != "two\nlines" ||
		first.Type != beads.DefaultType {
		t.Errorf("made: %+v, %+v", root, first)
	}
	for _, b := range []beads.Bead{root, first, second} {
		if got := get(t, ctx, ctl, b.ID); !got.Same(b) || got.Rev != b.Rev {
			t.Errorf("created %+v, got %+v", b, got)
		}
	}
	do(t, ctx, ctl, city.UpdateBead{ID: root.ID,
		Patch: beads.Patch{Status: new(beads.StatusInProgress)}})
	for _, c := range []struct {
		q    beads.Query
		want []string
	}{
		{beads.Query{}, []string{second.ID, first.ID, root.ID}},
		{beads.Query{Limit: 2}, []string{second.ID, first.ID}},
		{beads.Query{Limit: -1}, []string{second.ID, first.ID, root.ID}},
		{beads.Query{Limit: 1, Before: second.ID}, []string{first.ID}},
		{beads.Query{Status: []beads.Status{beads.StatusOpen}}, []string{second.ID, first.ID}},
		{beads.Query{Status: []beads.Status{beads.StatusClosed, beads.StatusInProgress}},
			[]string{root.ID}},
		{beads.Query{Labels: []string{"a"}}, []string{second.ID, first.ID}},
		{beads.Query{Labels: []string{"a", "pool:yard/hand"}}, []string{first.ID}},
		{beads.Query{NotLabel: "a"}, []string{root.ID}},
		{beads.Query{Type: "bug"}, []string{second.ID}},
		{beads.Query{NotType: []string{"bug", beads.TypeMolecule}}, []string{first.ID}},
		{beads.Query{Assignee: Worker}, []string{first.ID}},
		{beads.Query{Assigned: true}, []string{first.ID}},
		{beads.Query{Parent: root.ID, Ref: "recipe"}, []string{second.ID}},
		{beads.Query{Ready: true}, []string{first.ID}},
		{beads.Query{Labels: []string{"none"}}, nil},
	} {
		c.q.NotType = append(c.q.NotType, city.RunType)
		if got := listed(t, ctx, ctl, c.q); !slices.Equal(got, c.want) {
			t.Errorf("%+v: got %q, want %q", c.q, got, c.want)
		}
	}
}

// An update based on an old revision is rejected.
func testBeadChanges(t *testing.T, ctx context.Context, ctl city.Control) {
	b := create(t, ctx, ctl, beads.Bead{Title: "one", Labels: []string{"a"},
		Metadata: map[string]string{"k": "v", "l": "w"}})
	changed := beadOf(t, do(t, ctx, ctl, city.UpdateBead{ID: b.ID, Patch: beads.Patch{
		Title: new("two"), Assignee: new(Worker), AddLabels: []string{"b", "a"},
		SetMetadata: map[string]string{"k": "", "m": "x"}, IfRev: &b.Rev,
	}}))
	if changed.Title != "two" || changed.Assignee != Worker ||
		!slices.Equal(changed.Labels, []string{"a", "b"}) || changed.Rev != 2 ||
		len(changed.Metadata) != 2 || changed.Metadata["l"] != "w" || changed.Metadata["m"] != "x" {
		t.Errorf("%+v", changed)
	}
	_, err := ctl.Do(ctx, city.UpdateBead{ID: b.ID,
		Patch: beads.Patch{Title: new("three"), IfRev: &b.Rev}})
	wantCode(t, "an update with an old revision", err, city.Conflict)

	closed := beadOf(t, do(t, ctx, ctl, city.UpdateBead{ID: b.ID, Patch: beads.Closing()}))
	again := beadOf(t, do(t, ctx, ctl, city.UpdateBead{ID: b.ID, Patch: beads.Closing()}))
	if closed.Status != beads.StatusClosed || closed.ClosedAt == nil || !again.Same(closed) ||
		again.Rev != closed.Rev {
		t.Errorf("closed %+v, closed again %+v", closed, again)
	}
	open := beadOf(t, do(t, ctx, ctl, city.UpdateBead{ID: b.ID, Patch: beads.Patch{
		Status: new(beads.StatusOpen), Assignee: new(""), RemoveLabels: []string{"a"},
	}}))
	if open.Status != beads.StatusOpen || open.ClosedAt != nil || open.Assignee != "" ||
		!slices.Equal(open.Labels, []string{"b"}) {
		t.Errorf("reopened: %+v", open)
	}
	if got := get(t, ctx, ctl, b.ID); !got.Same(open) {
		t.Errorf("after reopening: got %+v, want %+v", got, open)
	}
}

func testBeadRejected(t *testing.T, ctx context.Context, ctl city.Control) {
	b := create(t, ctx, ctl, beads.Bead{Title: "one"})
	for _, bad := range []beads.Bead{
		{}, {Title: "two\nlines"}, {Title: "x", Status: "done"}, {Title: "x", Type: "Not A Type"},
		{Title: "x", ParentID: "tw-999"},
		{Title: "x", Needs: []string{"../x"}}, {Title: "x", Labels: []string{"a,b"}},
		{Title: "x", ID: "no id"},
	} {
		_, err := ctl.Do(ctx, city.CreateBead{Bead: bad})
		wantCode(t, fmt.Sprintf("%+v", bad), err, city.Invalid)
	}
	_, err := ctl.Do(ctx, city.CreateBead{Bead: beads.Bead{ID: b.ID, Title: "twin"}})
	wantCode(t, "an ID in use", err, city.Conflict)
	_, err = ctl.Do(ctx, city.CreateBead{Rig: "nowhere", Bead: beads.Bead{Title: "x"}})
	wantCode(t, "an unknown rig", err, city.NotFound)
	for _, bad := range []beads.Patch{{Title: new("")}, {Status: new(beads.Status("done"))},
		{ParentID: &b.ID}, {Needs: &[]string{"tw-999"}}} {
		_, err := ctl.Do(ctx, city.UpdateBead{ID: b.ID, Patch: bad})
		wantCode(t, fmt.Sprintf("%+v", bad), err, city.Invalid)
	}
	for _, id := range []string{"tw-999", "..", "no id", "../" + b.ID, b.ID + "/close", ""} {
		_, err := ctl.Do(ctx, city.UpdateBead{ID: id, Patch: beads.Closing()})
		wantCode(t, fmt.Sprintf("closing %q", id), err, city.NotFound)
		_, err = city.GetBead(ctx, ctl, id)
		wantCode(t, fmt.Sprintf("bead %q", id), err, city.NotFound)
	}
	_, err = ctl.Beads(ctx, beads.Query{Status: []beads.Status{"done"}})
	wantCode(t, "an unknown status", err, city.Invalid)
	_, err = ctl.Beads(ctx, beads.Query{Before: "tw-999"})
	wantCode(t, "a page before an unknown bead", err, city.NotFound)
	if got := listed(t, ctx, ctl, beads.Query{}); !slices.Equal(got, []string{b.ID}) {
		t.Errorf("the store has changed: got %q", got)
	}
	if got := get(t, ctx, ctl, b.ID); !got.Same(b) || got.Rev != b.Rev {
		t.Errorf("%+v became %+v", b, got)
	}
}

// Changes to work are in the log, and receipts name the events (L9).
func testBeadEvents(t *testing.T, ctx context.Context, ctl city.Control) {
	made := do(t, ctx, ctl, city.CreateBead{Bead: beads.Bead{Title: "one"}})
	id := beadOf(t, made).ID
	taken := do(t, ctx, ctl, city.UpdateBead{ID: id,
		Patch: beads.Patch{Status: new(beads.StatusInProgress)}})
	ended := do(t, ctx, ctl, city.UpdateBead{ID: id, Patch: beads.Closing()})
	for _, c := range []struct {
		r    city.Receipt
		kind string
	}{{made, events.BeadCreated}, {taken, events.BeadUpdated}, {ended, events.BeadClosed}} {
		found, err := ctl.History(ctx, events.Query{After: c.r.Seq - 1, Forward: true, Limit: 1})
		if err != nil || len(found) != 1 {
			t.Fatalf("%s: %v, %v", c.kind, found, err)
		}
		if e := found[0]; e.Seq != c.r.Seq || e.Type != c.kind || e.Subject != id || e.Actor == "" {
			t.Errorf("%s: %+v", c.kind, e)
		}
	}
}

func testWorkCounted(t *testing.T, ctx context.Context, ctl city.Control) {
	count := func(open, ready, going int) {
		t.Helper()
		until(t, ctx, ctl, func(s *city.Snapshot) bool {
			return s.Work.Same(city.Work{Open: open, Ready: ready, InProgress: going,
				Pools: s.Work.Pools})
		})
	}
	count(0, 0, 0)
	one := create(t, ctx, ctl, beads.Bead{Title: "one"})
	create(t, ctx, ctl, beads.Bead{Title: "two", Needs: []string{one.ID}})
	count(2, 1, 0)
	do(t, ctx, ctl, city.UpdateBead{ID: one.ID,
		Patch: beads.Patch{Status: new(beads.StatusInProgress)}})
	count(1, 0, 1)
	do(t, ctx, ctl, city.UpdateBead{ID: one.ID, Patch: beads.Closing()})
	count(1, 1, 0)
}

// Closing a molecule with open steps requires force. A new step reopens it.
func testOpenSteps(t *testing.T, ctx context.Context, ctl city.Control) {
	root := create(t, ctx, ctl, beads.Bead{Title: "all", Type: beads.TypeMolecule})
	one := create(t, ctx, ctl, beads.Bead{Title: "one", ParentID: root.ID})
	two := create(t, ctx, ctl, beads.Bead{Title: "two", ParentID: one.ID})
	do(t, ctx, ctl, city.UpdateBead{ID: one.ID, Patch: beads.Closing()})
	_, err := ctl.Do(ctx, city.UpdateBead{ID: root.ID, Patch: beads.Closing()})
	if e, ok := errors.AsType[*city.Error](err); !ok || e.Code != city.Conflict ||
		!strings.Contains(e.Message, two.ID+" two") {
		t.Errorf("closing a bead with an open step of a step: got %v", err)
	}
	if b := get(t, ctx, ctl, root.ID); b.Status != beads.StatusOpen {
		t.Errorf("%+v", b)
	}
	do(t, ctx, ctl, city.UpdateBead{ID: root.ID, Patch: beads.Patch{Title: new("everything")}})
	if b := beadOf(t, do(t, ctx, ctl, city.UpdateBead{ID: root.ID, Patch: beads.Closing(),
		Force: true})); b.Status != beads.StatusClosed {
		t.Errorf("forced: %+v", b)
	}
	do(t, ctx, ctl, city.UpdateBead{ID: root.ID, Patch: beads.Closing()})
	r := do(t, ctx, ctl, city.CreateBead{Bead: beads.Bead{Title: "three", ParentID: root.ID}})
	if b := get(t, ctx, ctl, root.ID); r.Message != "created "+beadOf(t, r).ID ||
		b.Status != beads.StatusOpen {
		t.Errorf("a new step of a closed molecule: got %q, %+v", r.Message, b)
	}
}

// An agent's task is the newest of its beads in progress.
func testTask(t *testing.T, ctx context.Context, ctl city.Control) {
	works := func(on string) {
		t.Helper()
		until(t, ctx, ctl, func(s *city.Snapshot) bool {
			for _, a := range s.Agents {
				if a.Name == Worker && a.Task != on || a.Name != Worker && a.Task != "" {
					return false
				}
			}
			return true
		})
	}
	works("")
	one, two := create(t, ctx, ctl, beads.Bead{Title: "one"}),
		create(t, ctx, ctl, beads.Bead{Title: "two"})
	take := beads.Patch{Status: new(beads.StatusInProgress), Assignee: new(Worker)}
	do(t, ctx, ctl, city.UpdateBead{ID: two.ID, Patch: take})
	works(two.ID + " two")
	do(t, ctx, ctl, city.UpdateBead{ID: one.ID, Patch: take})
	works(one.ID + " one")
	do(t, ctx, ctl, city.UpdateBead{ID: one.ID, Patch: beads.Closing()})
	works(two.ID + " two")
	do(t, ctx, ctl, city.UpdateBead{ID: two.ID, Patch: beads.Patch{Title: new("three")}})
	works(two.ID + " three")
	do(t, ctx, ctl, city.UpdateBead{ID: two.ID, Patch: beads.Patch{Assignee: new("")}})
	works("")
}

// No acknowledged bead is lost, and no ID is used twice.
func testConcurrentWork(t *testing.T, ctx context.Context, ctl city.Control) {
	const hands, each = 8, 5
	var wg sync.WaitGroup
	made := make([][]string, hands)
	for i := range hands {
		wg.Go(func() {
			for n := range each {
				r, err := ctl.Do(ctx, city.CreateBead{
					Bead: beads.Bead{Title: fmt.Sprintf("%d of %d", n, i),
						Labels: []string{"crowd"}}})
				if err != nil || r.Bead == nil {
					t.Errorf("hand %d: %+v, %v", i, r, err)
					return
				}
				made[i] = append(made[i], r.Bead.ID)
			}
		})
	}
	wg.Wait()
	want := slices.Sorted(slices.Values(slices.Concat(made...)))
	got := listed(t, ctx, ctl, beads.Query{Labels: []string{"crowd"}, Limit: -1})
	slices.Sort(got)
	if !slices.Equal(got, want) || len(slices.Compact(got)) != hands*each {
		t.Errorf("created %[1]q, got %[2]q", want, got)
	}
}
