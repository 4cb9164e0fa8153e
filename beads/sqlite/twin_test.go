package sqlite

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"gcity/beads"
	"gcity/beads/fake"
)

// The store returns the same results as a simple implementation for random calls.
func TestSimpleModel(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		s := open(t, t.TempDir())
		w := &twins{r: r, one: s, other: fake.New("gc")}
		r.Repeat(map[string]func(*rapid.T){
			"create": w.create, "batch": w.batch, "update": w.update, "list": w.list, "get": w.get, "purge": w.purge, "restore": w.restore,
		})
		w.compare("everything", beads.Query{Limit: -1})
		for _, label := range []string{"k", "l", "m"} {
			w.compare("open", beads.Query{Labels: []string{label}, Status: beads.Unclosed(), Limit: -1})
		}
		if err := s.Close(); err != nil {
			r.Fatal(err)
		}
	})
}

type both interface {
	beads.Store
	beads.Batcher
	beads.Counter
	beads.Purger
	beads.Restorer
}

type twins struct {
	r          *rapid.T
	one, other both
}

func pick[T any](r *rapid.T, name string, of ...T) T { return rapid.SampledFrom(of).Draw(r, name) }

func (w *twins) id(r *rapid.T, name string) string {
	if n := rapid.IntRange(0, 12).Draw(r, name); n > 0 {
		return fmt.Sprint("gc-", n)
	}
	return "old-3"
}

func (w *twins) bead(r *rapid.T) beads.Bead {
	b := beads.Bead{
		Title: pick(r, "title", "a", "b", "c", "d", ""), Status: pick(r, "status", "", beads.StatusOpen, beads.StatusInProgress, beads.StatusClosed),
		Type: pick(r, "type", "", "", "message", beads.TypeMolecule), Assignee: pick(r, "assignee", "", "x", "y"), Ref: pick(r, "ref", "", "f", "g"),
		Labels: rapid.SliceOfN(rapid.SampledFrom([]string{"k", "l", "m"}), 0, 3).Draw(r, "labels"), Priority: pick(r, "priority", beads.Urgent, beads.Normal),
		Metadata: map[string]string{"m": pick(r, "metadata", "", "1", "2")},
	}
	if rapid.Bool().Draw(r, "child") {
		b.ParentID = w.id(r, "parent")
	}
	if rapid.Bool().Draw(r, "needy") {
		b.Needs = []string{w.id(r, "need"), w.id(r, "need")}
	}
	return b
}

// agree compares two results. Errors are equal if a caller cannot distinguish them.
func (w *twins) agree(what string, one, other any, err, otherErr error) {
	w.r.Helper()
	kind := func(err error) string {
		var i *beads.Invalid
		switch {
		case err == nil:
			return ""
		case errors.As(err, &i):
			return "invalid"
		case errors.Is(err, beads.ErrNotFound):
			return "not found"
		case errors.Is(err, beads.ErrConflict):
			return "conflict"
		}
		return err.Error()
	}
	if kind(err) != kind(otherErr) {
		w.r.Fatalf("%s: got %v, the fake store returned %v", what, err, otherErr)
	}
	if d := cmp.Diff(other, one, cmp.Comparer(timeless)); d != "" {
		w.r.Fatalf("%s (-twin +store):\n%s", what, d)
	}
}

func timeless(a, b beads.Bead) bool {
	if (a.ClosedAt == nil) != (b.ClosedAt == nil) {
		return false
	}
	a.CreatedAt, a.UpdatedAt, a.ClosedAt = b.CreatedAt, b.UpdatedAt, b.ClosedAt
	return a.Same(b) && a.Rev == b.Rev
}

func (w *twins) create(r *rapid.T) {
	b := w.bead(r)
	if rapid.IntRange(0, 9).Draw(r, "own id") == 0 {
		b.ID = w.id(r, "id")
	}
	one, err := w.one.Create(context.Background(), b)
	other, otherErr := w.other.Create(context.Background(), b)
	w.agree(fmt.Sprintf("create %+v", b), one, other, err, otherErr)
}

func (w *twins) batch(r *rapid.T) {
	all := []beads.Bead{w.bead(r), w.bead(r), w.bead(r)}
	all[0].ID, all[1].ID = "$a", "$b"
	all[pick(r, "who", 1, 2)].ParentID = pick(r, "parent", "$a", "$b")
	all[pick(r, "who", 0, 2)].Needs = []string{pick(r, "need", "$a", "$b"), "$b"}
	one, err := w.one.CreateAll(context.Background(), all)
	other, otherErr := w.other.CreateAll(context.Background(), all)
	w.agree(fmt.Sprintf("batch %+v", all), one, other, err, otherErr)
}

func (w *twins) update(r *rapid.T) {
	id, b := w.id(r, "id"), w.bead(r)
	var p beads.Patch
	for _, set := range rapid.SliceOfN(rapid.IntRange(0, 9), 0, 4).Draw(r, "fields") {
		switch set {
		case 0:
			p.Title = &b.Title
		case 1, 2:
			p.Status = new(pick(r, "status", beads.StatusOpen, beads.StatusInProgress, beads.StatusClosed))
		case 3:
			p.ParentID = &b.ParentID
		case 4:
			p.Needs = &b.Needs
		case 5:
			p.AddLabels = b.Labels
		case 6:
			p.RemoveLabels = b.Labels
		case 7:
			p.SetMetadata = b.Metadata
		case 8:
			p.Assignee, p.Ref = &b.Assignee, &b.Ref
		case 9:
			p.IfRev = new(uint64(rapid.IntRange(1, 4).Draw(r, "rev")))
		}
	}
	one, err := w.one.Update(context.Background(), id, p)
	other, otherErr := w.other.Update(context.Background(), id, p)
	w.agree(fmt.Sprintf("update %s %+v", id, p), one, other, err, otherErr)
}

func (w *twins) get(r *rapid.T) {
	id := w.id(r, "id")
	one, err := w.one.Get(context.Background(), id)
	other, otherErr := w.other.Get(context.Background(), id)
	w.agree("get "+id, one, other, err, otherErr)
}

func (w *twins) query(r *rapid.T) beads.Query {
	q := beads.Query{
		Status: rapid.SliceOfN(rapid.SampledFrom([]beads.Status{beads.StatusOpen, beads.StatusInProgress, beads.StatusClosed}), 0, 2).Draw(r, "status"),
		Labels: rapid.SliceOfN(rapid.SampledFrom([]string{"k", "l"}), 0, 2).Draw(r, "labels"), Limit: pick(r, "limit", -1, -1, 0, 2),
		NotType: rapid.SliceOfN(rapid.SampledFrom([]string{"message", beads.TypeMolecule}), 0, 2).Draw(r, "not type"),
		Ready:   pick(r, "ready", false, false, true),
	}
	if rapid.Bool().Draw(r, "narrow") {
		q.Assignee, q.Ref, q.Type = pick(r, "assignee", "", "x"), pick(r, "ref", "", "f"), pick(r, "type", "", "task")
	}
	if rapid.IntRange(0, 2).Draw(r, "of a parent") == 0 {
		q.Parent = w.id(r, "parent")
	}
	if rapid.IntRange(0, 3).Draw(r, "page") == 0 {
		q.Before = w.id(r, "before")
	}
	return q
}

func (w *twins) list(r *rapid.T) {
	q := w.query(r)
	w.compare("list", q)
	one, err := w.one.Count(context.Background(), q)
	other, otherErr := w.other.Count(context.Background(), q)
	w.agree(fmt.Sprintf("count %+v", q), one, other, err, otherErr)
}

func (w *twins) compare(what string, q beads.Query) {
	one, err := w.one.List(context.Background(), q)
	other, otherErr := w.other.List(context.Background(), q)
	w.agree(fmt.Sprintf("%s %+v", what, q), append([]beads.Bead{}, one...), append([]beads.Bead{}, other...), err, otherErr)
}

func (w *twins) purge(r *rapid.T) {
	q := w.query(r)
	before := time.Now().Add(pick(r, "before", -time.Hour, time.Hour))
	one, err := w.one.Purge(context.Background(), q, before)
	other, otherErr := w.other.Purge(context.Background(), q, before)
	w.agree(fmt.Sprintf("purge %+v", q), one, other, err, otherErr)
}

func (w *twins) restore(r *rapid.T) {
	b := w.bead(r)
	b.ID = w.id(r, "id")
	b.CreatedAt = time.Unix(int64(rapid.IntRange(1000, 1010).Draw(r, "created")), 0)
	b.UpdatedAt = b.CreatedAt.Add(time.Duration(rapid.IntRange(0, 5).Draw(r, "updated")) * time.Second)
	if rapid.Bool().Draw(r, "new") {
		b.UpdatedAt = time.Now().Add(time.Hour)
	}
	one, err := w.one.Restore(context.Background(), []beads.Bead{b})
	other, otherErr := w.other.Restore(context.Background(), []beads.Bead{b})
	w.agree(fmt.Sprintf("restore %+v", b), one, other, err, otherErr)
}

// Every query reads an index. No query sorts (W7).
func TestNoQuerySorts(t *testing.T) {
	s := open(t, t.TempDir())
	create(t, s, "a")
	f := s.file
	for bits := range 1 << 9 {
		on := func(n int) bool { return bits&(1<<n) != 0 }
		var q beads.Query
		for n, set := range []func(){
			func() { q.Parent = "gc-1" }, func() { q.Ref = "r" }, func() { q.Labels = []string{"a", "b"} }, func() { q.Assignee = "x" },
			func() { q.Type = "task" }, func() { q.Ready = true }, func() { q.Status = []beads.Status{beads.StatusOpen, beads.StatusInProgress} },
			func() { q.NotType = []string{"message"} },
		} {
			if on(n) {
				set()
			}
		}
		f.openIndexes = !on(8)
		x := f.find(q)
		x.after(1, 1)
		text, args := x.list(10)
		rows, err := f.read.QueryContext(t.Context(), `EXPLAIN QUERY PLAN `+text, args...)
		if err != nil {
			t.Fatalf("%+v: %v", q, err)
		}
		for rows.Next() {
			var id, parent, unused int
			var step string
			if err := rows.Scan(&id, &parent, &unused, &step); err != nil {
				t.Fatal(err)
			}
			if strings.Contains(step, "TEMP B-TREE") || strings.HasPrefix(step, "SCAN") {
				t.Errorf("%+v: %s", q, step)
			}
		}
		if err := errors.Join(rows.Err(), rows.Close()); err != nil {
			t.Fatal(err)
		}
	}
}
