package beadstest

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"gcity/beads"
)

func cooked() []beads.Bead {
	return []beads.Bead{
		{ID: "$root", Title: "paint", Type: beads.TypeMolecule, Ref: "paint"},
		{ID: "$brush", Title: "brush", ParentID: "$root", Ref: "brush", Needs: []string{"$sand"}},
		{ID: "$sand", Title: "sand", ParentID: "$root", Ref: "sand"},
		{Title: "dry", ParentID: "$root", Ref: "dry", Needs: []string{"$sand", "$brush"}},
	}
}

func batchCreatesAll(t *testing.T, h Harness) {
	s := h.New(t)
	b := optional[beads.Batcher](t, s)
	before := titled(t, s, "before")
	batch := cooked()
	batch[2].Needs = []string{before.ID}
	made, err := b.CreateAll(t.Context(), batch)
	if err != nil {
		t.Fatal(err)
	}
	root, brush, sand, dry := made[0], made[1], made[2], made[3]
	if root.Title != "paint" || brush.ParentID != root.ID || sand.ParentID != root.ID ||
		dry.ParentID != root.ID {
		t.Errorf("%+v", made)
	}
	same(t, "needs of brush", brush.Needs, []string{sand.ID})
	same(t, "needs of dry", dry.Needs, []string{sand.ID, brush.ID})
	same(t, "needs of sand", sand.Needs, []string{before.ID})
	for i, m := range made {
		same(t, m.Title, get(t, s, m.ID), m)
		if i > 0 && !m.CreatedAt.After(made[i-1].CreatedAt) {
			t.Errorf("CreatedAt of %s: got %v, want after %v", m.Title, m.CreatedAt,
				made[i-1].CreatedAt)
		}
		if strings.Contains(m.ID, "$") {
			t.Errorf("a placeholder was stored as the ID: %s", m.ID)
		}
	}
	titles(t, s, beads.Query{}, "dry sand brush paint before")
	if none, err := b.CreateAll(t.Context(), nil); err != nil || len(none) != 0 {
		t.Errorf("CreateAll of an empty batch: got %v, %v", none, err)
	}
}

func batchAllOrNone(t *testing.T, h Harness) {
	s := h.New(t)
	b := optional[beads.Batcher](t, s)
	first := titled(t, s, "first")
	for what, spoil := range map[string]func([]beads.Bead){
		"no title":           func(x []beads.Bead) { x[3].Title = "" },
		"unknown need":       func(x []beads.Bead) { x[3].Needs = []string{"gc-99"} },
		"unknown name":       func(x []beads.Bead) { x[3].Needs = []string{"$nobody"} },
		"a name twice":       func(x []beads.Bead) { x[3].ID = "$root" },
		"itself":             func(x []beads.Bead) { x[2].Needs = []string{"$sand"} },
		"a cycle":            func(x []beads.Bead) { x[2].Needs = []string{"$brush"} },
		"a cycle of parents": func(x []beads.Bead) { x[0].ParentID = "$sand" },
		"a bad name":         func(x []beads.Bead) { x[3].ID = "$a b" },
		"an empty name":      func(x []beads.Bead) { x[3].ID = "$" },
		"an unknown parent":  func(x []beads.Bead) { x[0].ParentID = "gc-99" },
	} {
		batch := cooked()
		spoil(batch)
		_, err := b.CreateAll(t.Context(), batch)
		wantInvalid(t, what, err)
	}
	batch := cooked()
	batch[3].ID = first.ID
	if _, err := b.CreateAll(t.Context(), batch); !errors.Is(err, beads.ErrConflict) {
		t.Errorf("CreateAll with a used ID: got %v", err)
	}
	same(t, "the store", everything(t, s), []beads.Bead{first})
}

func molecule(t *testing.T, h Harness) {
	s := h.New(t)
	made, err := optional[beads.Batcher](t, s).CreateAll(t.Context(), cooked())
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"sand", "brush", "dry"} {
		steps := list(t, s, beads.Query{Parent: made[0].ID})
		next, ok := beads.Next(steps)
		if !ok || next.Title != want {
			t.Fatalf("next step: got %q, %v, want %q", next.Title, ok, want)
		}
		update(t, s, next.ID, beads.Patch{Status: new(beads.StatusInProgress)})
		if next, ok := beads.Next(list(t, s, beads.Query{Parent: made[0].ID})); ok {
			t.Fatalf("next step while %s is in progress: got %s, want none", want, next.Title)
		}
		update(t, s, next.ID, beads.Closing())
	}
	if next, ok := beads.Next(everything(t, s)); ok {
		t.Errorf("next step after the last one: got %s, want none", next.Title)
	}
}

func closedTree(t *testing.T, s beads.Store, label string) (root, child, grandchild beads.Bead) {
	t.Helper()
	root = create(t, s, beads.Bead{Title: "root", Type: beads.TypeMolecule, Labels: []string{label},
		Status: beads.StatusClosed})
	child = create(t, s, beads.Bead{Title: "child", ParentID: root.ID, Status: beads.StatusClosed})
	grandchild = create(t, s, beads.Bead{Title: "grandchild", ParentID: child.ID,
		Status: beads.StatusClosed})
	return root, child, grandchild
}

func purged(t *testing.T, s beads.Store, q beads.Query, before time.Time, want int) {
	t.Helper()
	n, err := optional[beads.Purger](t, s).Purge(t.Context(), q, before)
	if err != nil || n != want {
		t.Errorf("Purge with %+v: got %d, %v, want %d", q, n, err, want)
	}
}

func purge(t *testing.T, h Harness) {
	s := h.New(t)
	root, _, _ := closedTree(t, s, "wisp")
	other := titled(t, s, "other")
	waiting := create(t, s, beads.Bead{Title: "waiting", Needs: []string{root.ID, other.ID}})
	later := time.Now().Add(time.Hour)
	purged(t, s, beads.Query{Labels: []string{"wisp"}, Limit: 1}, root.CreatedAt, 0)
	purged(t, s, beads.Query{Labels: []string{"none"}}, later, 0)
	purged(t, s, beads.Query{Labels: []string{"wisp"}, Type: beads.TypeMolecule,
		Status: []beads.Status{beads.StatusOpen}, Limit: 1}, later, 3)
	titles(t, s, beads.Query{}, "waiting other")
	titles(t, s, beads.Query{Labels: []string{"wisp"}}, "")
	if _, err := s.Get(t.Context(), root.ID); !errors.Is(err, beads.ErrNotFound) {
		t.Errorf("%v", err)
	}
	update(t, s, other.ID, beads.Closing())
	titles(t, s, beads.Query{Ready: true}, "waiting")
	// a need for a removed bead does not block
	update(t, s, waiting.ID, beads.Patch{Priority: new(beads.Urgent)})
	if b := titled(t, s, "new"); b.ID == root.ID {
		t.Errorf("the ID %s was used twice", b.ID)
	}
	purged(t, s, beads.Query{Labels: []string{"wisp"}}, later, 0)
}

func purgeKeeps(t *testing.T, h Harness) {
	s := h.New(t)
	root, child, grandchild := closedTree(t, s, "wisp")
	later := time.Now().Add(time.Hour)
	for _, b := range []beads.Bead{root, child, grandchild} {
		for _, status := range []beads.Status{beads.StatusOpen, beads.StatusInProgress} {
			update(t, s, b.ID, beads.Patch{Status: &status})
			purged(t, s, beads.Query{Labels: []string{"wisp"}}, later, 0)
		}
		update(t, s, b.ID, beads.Closing())
	}
	newest := get(t, s, grandchild.ID)
	// a descendant was closed at the given time, not before it
	purged(t, s, beads.Query{Labels: []string{"wisp"}}, *newest.ClosedAt, 0)
	many := h.many(450, 9)
	for i := range many {
		create(t, s, beads.Bead{Title: fmt.Sprint(i), Labels: []string{"wisp"},
			Status: beads.StatusClosed})
	}
	purged(t, s, beads.Query{Labels: []string{"wisp"}}, later, 3+many)
}

func imported() []beads.Bead {
	at := time.Date(2024, 2, 29, 23, 59, 59, 123456789, time.UTC)
	done := at.Add(48 * time.Hour)
	return []beads.Bead{
		{ID: "old-7", Title: "seven", Status: beads.StatusClosed, Type: "bug", CreatedAt: at,
			UpdatedAt: done, ClosedAt: &done, Rev: 4, Labels: []string{"x"}},
		{ID: "old-a3f.1", Title: "part", Status: beads.StatusOpen, Type: "task", ParentID: "old-7",
			Needs: []string{"old-20", "old-7"}, CreatedAt: at.Add(time.Hour),
			UpdatedAt: at.Add(time.Hour), Rev: 1, Metadata: map[string]string{"bd.notes": "n"}},
	}
}

func restored(t *testing.T, s beads.Store, all []beads.Bead, want beads.Restored) {
	t.Helper()
	got, err := optional[beads.Restorer](t, s).Restore(t.Context(), all)
	if err != nil {
		t.Fatal(err)
	}
	same(t, "restored", got, want)
}

func restoreKeepsFields(t *testing.T, h Harness) {
	s := h.New(t)
	now := titled(t, s, "now")
	want := imported()
	restored(t, s, want, beads.Restored{Created: 2})
	for _, b := range want {
		same(t, b.ID, get(t, s, b.ID), b)
	}
	titles(t, s, beads.Query{}, "now part seven")
	titles(t, s, beads.Query{Parent: "old-7"}, "part")
	titles(t, s, beads.Query{Labels: []string{"x"}}, "seven")
	titles(t, s, beads.Query{Ready: true}, "now part") // a missing need does not block
	if b := titled(t, s, "next"); !strings.HasSuffix(b.ID, "-21") {
		t.Errorf("next ID after old-7 and %s, if a bead needs old-20: got %s", now.ID,
			b.ID)
	}
}

func restoreTwice(t *testing.T, h Harness) {
	s := h.New(t)
	restored(t, s, imported(), beads.Restored{Created: 2})
	before := everything(t, s)
	restored(t, s, imported(), beads.Restored{Unchanged: 2})
	same(t, "the store", everything(t, s), before)
}

func restoreAllOrNone(t *testing.T, h Harness) {
	s := h.New(t)
	a := titled(t, s, "a")
	r := optional[beads.Restorer](t, s)
	for what, spoil := range map[string]func([]beads.Bead){
		"no title": func(x []beads.Bead) { x[1].Title = "" },
		"no id":    func(x []beads.Bead) { x[1].ID = "" },
		"cycle":    func(x []beads.Bead) { x[0].Needs = []string{x[1].ID} },
	} {
		all := imported()
		spoil(all)
		_, err := r.Restore(t.Context(), all)
		wantInvalid(t, what, err)
	}
	same(t, "the store", everything(t, s), []beads.Bead{a})
}

func restoreNamesCycle(t *testing.T, h Harness) {
	s := h.New(t)
	at := time.Unix(1_700_000_000, 0)
	_, err := optional[beads.Restorer](t, s).Restore(t.Context(), []beads.Bead{
		{ID: "x-1", Title: "well", CreatedAt: at},
		{ID: "x-2", Title: "leads there", Needs: []string{"x-3"}, CreatedAt: at},
		{ID: "x-3", Title: "in it", Needs: []string{"x-4"}, CreatedAt: at},
		{ID: "x-4", Title: "too", Needs: []string{"x-3"}, CreatedAt: at},
	})
	wantInvalid(t, "a cycle", err)
	if err != nil && err.Error() != "bead x-3: its needs would form a cycle: x-3 → x-4 → x-3" {
		t.Errorf("%v", err)
	}
}

func restoreLater(t *testing.T, h Harness) {
	s := h.New(t)
	restored(t, s, imported(), beads.Restored{Created: 2})
	newer, older := imported()[0], imported()[1]
	newer.Title, newer.Labels, newer.UpdatedAt = "new seven", []string{"y"},
		newer.UpdatedAt.Add(time.Second)
	older.Title, older.UpdatedAt = "old part", older.UpdatedAt.Add(-time.Second)
	restored(t, s, []beads.Bead{newer, older}, beads.Restored{Updated: 1, Kept: 1})
	newer.Rev = 5
	same(t, "the newer", get(t, s, newer.ID), newer)
	same(t, "the older", get(t, s, older.ID), imported()[1])
	titles(t, s, beads.Query{Labels: []string{"x"}}, "")
	titles(t, s, beads.Query{Labels: []string{"y"}}, "new\u0020seven")
}

func exportAndImport(t *testing.T, h Harness) {
	from, to := h.New(t), h.New(t)
	optional[beads.Restorer](t, to)
	createSamples(t, from)
	create(t, from, full())
	var first, second bytes.Buffer
	done, err := beads.Export(t.Context(), from, &first)
	if err != nil || done.Beads != 7 || done.Damage != nil {
		t.Fatal(done, err)
	}
	for _, want := range []beads.Restored{{Created: 7}, {Unchanged: 7}} {
		got, err := beads.Import(t.Context(), to, bytes.NewReader(first.Bytes()))
		if err != nil || len(got.Problems) > 0 {
			t.Fatalf("%+v, %v", got, err)
		}
		same(t, "imported", got.Restored, want)
	}
	same(t, "the copy", everything(t, to), everything(t, from))
	if _, err := beads.Export(t.Context(), to, &second); err != nil {
		t.Fatal(err)
	}
	same(t, "the copy's export", second.String(), first.String())
}
