// Package beadstest is the test suite for bead stores. It tests the guarantees of beads.Store and of its optional
// interfaces.
package beadstest

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"gcity/beads"
)

// Case is one test of the suite.
type Case struct {
	Name string
	Run  func(t *testing.T, h Harness)
}

// Run runs all cases as subtests.
func Run(t *testing.T, h Harness) {
	for _, c := range Cases() {
		t.Run(c.Name, func(t *testing.T) {
			if what, skip := h.Skip[c.Name]; skip {
				t.Skip("this store does not support " + what)
			}
			if h.Parallel {
				t.Parallel()
			}
			c.Run(t, h)
		})
	}
}

// Cases returns all cases of the suite.
func Cases() []Case {
	return []Case{
		{"a new store is empty", newIsEmpty},
		{"created beads are stored", createIsStored},
		{"defaults", defaults},
		{"ids have consecutive numbers", idsAreCounted},
		{"an explicit ID", ownID},
		{"unknown ids", unknownIDs},
		{"an invalid bead is rejected and not stored", invalidIsRejected},
		{"text is stored unchanged", anyText},
		{"values are copies", valuesAreCopies},
		{"a patch changes only its fields", patchChanges},
		{"a patch without changes has no effect", patchWithoutChanges},
		{"labels append", labelsAppend},
		{"metadata is set and removed", metadata},
		{"closing a closed bead has no effect", closingTwice},
		{"links cannot form a cycle", noCycles},
		{"reopening a bead removes its close reason", closeReasons},
		{"newest first", newestFirst},
		{"limits and pages", pages},
		{"filters", filters},
		{"ready", ready},
		{"count", count},
		{"tally", tally},
		{"a batch creates all its beads", batchCreatesAll},
		{"a batch is atomic", batchAllOrNone},
		{"the steps of a molecule become ready in order", molecule},
		{"compare and swap", compareAndSwap},
		{"30 concurrent edits", thirtyEdits},
		{"concurrent creates", manyCreates},
		{"the version changes with each change", version},
		{"a probe changes nothing", probe},
		{"a purge removes old closed trees", purge},
		{"a purge keeps open and recent trees", purgeKeeps},
		{"a restore keeps IDs and times", restoreKeepsFields},
		{"a restore is idempotent", restoreTwice},
		{"a restore is atomic", restoreAllOrNone},
		{"the error of a restore names the beads of a cycle", restoreNamesCycle},
		{"a restore keeps the newer of two versions", restoreLater},
		{"an export can be imported", exportAndImport},
		{"a failed read returns an error", failedRead},
		{"another client sees changes immediately", sharedStore},
	}
}

func optional[T any](t *testing.T, s beads.Store) T {
	t.Helper()
	c, ok := s.(T)
	if !ok {
		t.Skipf("this store is not a %T", (*T)(nil))
	}
	return c
}

func create(t *testing.T, s beads.Store, b beads.Bead) beads.Bead {
	t.Helper()
	made, err := s.Create(t.Context(), b)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

func titled(t *testing.T, s beads.Store, title string) beads.Bead {
	t.Helper()
	return create(t, s, beads.Bead{Title: title})
}

func get(t *testing.T, s beads.Store, id string) beads.Bead {
	t.Helper()
	b, err := s.Get(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func update(t *testing.T, s beads.Store, id string, p beads.Patch) beads.Bead {
	t.Helper()
	b, err := s.Update(t.Context(), id, p)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func list(t *testing.T, s beads.Store, q beads.Query) []beads.Bead {
	t.Helper()
	all, err := s.List(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func everything(t *testing.T, s beads.Store) []beads.Bead {
	t.Helper()
	return list(t, s, beads.Query{Limit: -1})
}

func same(t *testing.T, what string, got, want any) {
	t.Helper()
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("%s (-want +got):\n%s", what, d)
	}
}

func titles(t *testing.T, s beads.Store, q beads.Query, want string) {
	t.Helper()
	var got []string
	for _, b := range list(t, s, q) {
		got = append(got, b.Title)
	}
	if strings.Join(got, " ") != want {
		t.Errorf("%+v returned %v, want %v", q, got, want)
	}
}

func wantInvalid(t *testing.T, what string, err error) {
	t.Helper()
	var i *beads.Invalid
	if !errors.As(err, &i) {
		t.Errorf("%s: %v", what, err)
	}
}

func newIsEmpty(t *testing.T, h Harness) {
	s := h.New(t)
	if all := everything(t, s); len(all) != 0 {
		t.Errorf("%+v", all)
	}
	if _, err := s.Get(t.Context(), "gc-1"); !errors.Is(err, beads.ErrNotFound) {
		t.Errorf("get: %v", err)
	}
	if _, err := s.Update(t.Context(), "gc-1", beads.Closing()); !errors.Is(err,
		beads.ErrNotFound) {
		t.Errorf("update: %v", err)
	}
	if c, ok := s.(beads.Counter); ok {
		if n, err := c.Count(t.Context(), beads.Query{}); n != 0 || err != nil {
			t.Errorf("count: %d, %v", n, err)
		}
	}
}

func full() beads.Bead {
	return beads.Bead{
		Title: "paint the fence", Status: beads.StatusInProgress, Type: "chore",
		Priority: beads.High, Assignee: "yard/painter-2", Ref: "fence/paint",
		Description: "all of it,\n\tboth sides",
		Labels:      []string{"pool:yard/painter", "color:green"},
		Metadata:    map[string]string{"cans": "3", "a.b/c": "{}"},
	}
}

func createIsStored(t *testing.T, h Harness) {
	s := h.New(t)
	root, first := titled(t, s, "root"), titled(t, s, "first")
	want := full()
	want.ParentID, want.Needs = root.ID, []string{first.ID, root.ID}
	before := time.Now().Add(-time.Second)
	got := create(t, s, want)
	if got.ID == "" || got.Rev != 1 || got.CreatedAt.Before(before) ||
		got.CreatedAt.After(time.Now().Add(time.Second)) || !got.UpdatedAt.Equal(got.CreatedAt) {
		t.Errorf("%+v", got)
	}
	want.ID, want.Rev, want.CreatedAt, want.UpdatedAt = got.ID, got.Rev, got.CreatedAt,
		got.UpdatedAt
	same(t, "created", got, want)
	same(t, "read", get(t, s, got.ID), want)
	same(t, "listed", list(t, s, beads.Query{Limit: 1}), []beads.Bead{want})
}

func defaults(t *testing.T, h Harness) {
	s := h.New(t)
	b := create(t, s, beads.Bead{Title: "  x ", Labels: []string{"a", "", " a", "b"},
		Metadata: map[string]string{"k": ""}, Rev: 9, CreatedAt: time.Unix(1, 0)})
	if b.Title != "x" || b.Status != beads.StatusOpen || b.Type != beads.DefaultType ||
		b.Priority != beads.Normal || b.Rev != 1 || b.CreatedAt.Unix() == 1 {
		t.Errorf("%+v", b)
	}
	same(t, "labels", b.Labels, []string{"a", "b"})
	if b.Metadata != nil || b.Needs != nil || b.ClosedAt != nil {
		t.Errorf("%+v", b)
	}
	if b = create(t, s, beads.Bead{Title: "x", Status: beads.StatusClosed}); b.ClosedAt == nil ||
		!b.ClosedAt.Equal(b.CreatedAt) {
		t.Errorf("a bead created as closed: got %+v", b)
	}
}

func idsAreCounted(t *testing.T, h Harness) {
	s := h.New(t)
	a, b := titled(t, s, "a"), titled(t, s, "b")
	prefix, ok := strings.CutSuffix(a.ID, "-1")
	if !ok || b.ID != prefix+"-2" {
		t.Errorf("%s, %s", a.ID, b.ID)
	}
}

func ownID(t *testing.T, h Harness) {
	s := h.New(t)
	if b := create(t, s, beads.Bead{ID: "other-40", Title: "a"}); b.ID != "other-40" {
		t.Errorf("%s", b.ID)
	}
	if _, err := s.Create(t.Context(), beads.Bead{ID: "other-40", Title: "b"}); !errors.Is(err,
		beads.ErrConflict) {
		t.Errorf("taken: %v", err)
	}
	if b := titled(t, s, "c"); !strings.HasSuffix(b.ID, "-41") {
		t.Errorf("next ID: got %s, want one that ends in -41", b.ID)
	}
	titles(t, s, beads.Query{}, "c a")
}

func unknownIDs(t *testing.T, h Harness) {
	s := h.New(t)
	a := titled(t, s, "a")
	for _, id := range []string{"gc-99", "", "'; DROP TABLE beads; --", a.ID + " ", "../x"} {
		if _, err := s.Get(t.Context(), id); !errors.Is(err, beads.ErrNotFound) {
			t.Errorf("get %q: %v", id, err)
		}
		if _, err := s.Update(t.Context(), id, beads.Closing()); !errors.Is(err,
			beads.ErrNotFound) {
			t.Errorf("update %q: %v", id, err)
		}
	}
	_, err := s.Create(t.Context(), beads.Bead{Title: "b", Needs: []string{"gc-99"}})
	wantInvalid(t, "unknown dependency", err)
	_, err = s.Create(t.Context(), beads.Bead{Title: "b", ParentID: "gc-99"})
	wantInvalid(t, "unknown parent", err)
	_, err = s.Update(t.Context(), a.ID, beads.Patch{Needs: &[]string{"gc-99"}})
	wantInvalid(t, "unknown dependency in a patch", err)
	_, err = s.List(t.Context(), beads.Query{Before: "gc-99"})
	if !errors.Is(err, beads.ErrNotFound) {
		t.Errorf("List before an unknown ID: got %v", err)
	}
	same(t, "the store", everything(t, s), []beads.Bead{a})
}

func invalidIsRejected(t *testing.T, h Harness) {
	s := h.New(t)
	a := titled(t, s, "a")
	for what, b := range map[string]beads.Bead{
		"no title":       {},
		"two lines":      {Title: "x\ny"},
		"an escape":      {Title: "x\x1b[31my"},
		"turned around":  {Title: "x\u202ey"},
		"not UTF-8":      {Title: "x\xff"},
		"long title":     {Title: strings.Repeat("x", beads.MaxTitle+1)},
		"status":         {Title: "x", Status: "done"},
		"type":           {Title: "x", Type: "A task"},
		"priority":       {Title: "x", Priority: 7},
		"label":          {Title: "x", Labels: []string{"a,b"}},
		"label's escape": {Title: "x", Labels: []string{"a\x07"}},
		"key":            {Title: "x", Metadata: map[string]string{"a b": "c"}},
		"value":          {Title: "x", Metadata: map[string]string{"a": "\x00"}},
		"description":    {Title: "x", Description: "fine\nnot \x1b]0;x\x07"},
		"assignee":       {Title: "x", Assignee: "a\tb"},
		"id":             {Title: "x", ID: "-a"},
		"name":           {Title: "x", ID: "$a"},
		"need":           {Title: "x", Needs: []string{"$a"}},
	} {
		_, err := s.Create(t.Context(), b)
		wantInvalid(t, what, err)
	}
	for what, p := range map[string]beads.Patch{
		"no title": {Title: new(" ")}, "status": {Status: new(beads.Status("x"))},
		"empty status": {Status: new(beads.Status(""))},
		"label":        {AddLabels: []string{"\u200b"}}, "itself": {Needs: &[]string{a.ID}},
		"its own parent": {ParentID: &a.ID},
		"half good":      {Title: new("b"), Priority: new(beads.Priority(9))},
	} {
		_, err := s.Update(t.Context(), a.ID, p)
		wantInvalid(t, "patch: "+what, err)
	}
	if _, err := s.List(t.Context(), beads.Query{Status: []beads.Status{"x"}}); err == nil {
		t.Error("a query with an unknown status was not rejected")
	}
	same(t, "the store", everything(t, s), []beads.Bead{a})
}

func anyText(t *testing.T, h Harness) {
	s := h.New(t)
	for _, text := range []string{
		`it's "quoted" \n %s ? ?1 $a :b @c -- /* */`, "日本語 — ünïcode", "👩‍👩‍👧 family", "नमस्ते",
		"x'); DELETE FROM beads; --", "{}", "null",
		strings.Repeat("é", beads.MaxTitle/2),
	} {
		b := create(t, s, beads.Bead{Title: text, Ref: text[:min(len(text), 40)],
			Description: text + "\n\n\t" + text + "\n", Metadata: map[string]string{"k": text}})
		if got := get(t, s, b.ID); got.Title != text || got.Description !=
			text+"\n\n\t"+text+"\n" || got.Metadata["k"] != text {
			t.Errorf("stored %q, got %+v", text, got)
		}
	}
	long := strings.Repeat("0123456789abcde\n", beads.MaxText/16)
	if got := get(t, s, create(t, s, beads.Bead{Title: "long", Description: long}).
		ID); got.Description != long {
		t.Errorf("stored %d bytes, got %d", len(long), len(got.Description))
	}
}

func valuesAreCopies(t *testing.T, h Harness) {
	s := h.New(t)
	b := full()
	made := create(t, s, b)
	want := get(t, s, made.ID)
	for _, x := range []beads.Bead{b, made, get(t, s, made.ID), everything(t, s)[0]} {
		x.Labels[0] = "changed"
		x.Metadata["cans"] = "changed"
		same(t, "in the store", get(t, s, made.ID), want)
	}
}

func failedRead(t *testing.T, h Harness) {
	s := h.New(t)
	b := titled(t, s, "a")
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if all, err := s.List(gone, beads.Query{}); !errors.Is(err, context.Canceled) {
		t.Errorf("list: %v, %v", all, err)
	}
	if _, err := s.Get(gone, "gc-99"); !errors.Is(err, context.Canceled) ||
		errors.Is(err, beads.ErrNotFound) {
		t.Errorf("get: %v", err)
	}
	if _, err := s.Create(gone, beads.Bead{Title: "b"}); !errors.Is(err, context.Canceled) {
		t.Errorf("create: %v", err)
	}
	if _, err := s.Update(gone, b.ID, beads.Closing()); !errors.Is(err, context.Canceled) {
		t.Errorf("update: %v", err)
	}
	if c, ok := s.(beads.Counter); ok {
		if n, err := c.Count(gone, beads.Query{}); !errors.Is(err, context.Canceled) {
			t.Errorf("count: %d, %v", n, err)
		}
	}
	if v, ok := s.(beads.Versioner); ok {
		if n, err := v.Version(gone); !errors.Is(err, context.Canceled) {
			t.Errorf("version: %d, %v", n, err)
		}
	}
	same(t, "the store", everything(t, s), []beads.Bead{b})
}

func sharedStore(t *testing.T, h Harness) {
	if h.Reopen == nil {
		t.Skip("this store is not shared")
	}
	s := h.New(t)
	a := titled(t, s, "a")
	o := h.Reopen(t, s)
	same(t, "the bead in the other client", get(t, o, a.ID), a)
	b := titled(t, o, "b")
	if b.ID == a.ID {
		t.Errorf("both clients created %s", a.ID)
	}
	update(t, o, a.ID, beads.Closing())
	if got := get(t, s, a.ID); got.Status != beads.StatusClosed {
		t.Errorf("%+v", got)
	}
	if same := slices.EqualFunc(everything(t, s), everything(t, o), beads.Bead.Same); !same {
		t.Error("the clients list different beads")
	}
}
