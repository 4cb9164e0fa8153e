package beads

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

func bead(id string, status Status, needs ...string) Bead {
	b := Bead{ID: id, Title: id, Status: status, Type: DefaultType, Needs: needs, CreatedAt: noon, UpdatedAt: noon, Rev: 1}
	return normalize(b)
}

// The JSON names are part of the interface for dashboards and scripts.
func TestJSON(t *testing.T) {
	b := bead("gc-1", StatusClosed, "gc-0")
	b.Priority, b.Assignee, b.ParentID, b.Ref, b.Description = High, "a", "gc-9", "f", "d"
	b.Labels, b.Metadata = []string{"l"}, map[string]string{"k": "v"}
	got, err := json.Marshal(b)
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"id":"gc-1","title":"gc-1","status":"closed","type":"task","priority":1,"assignee":"a","parent_id":"gc-9","ref":"f",` +
		`"needs":["gc-0"],"description":"d","labels":["l"],"metadata":{"k":"v"},"created_at":"2026-11-21T12:00:00Z",` +
		`"updated_at":"2026-11-21T12:00:00Z","closed_at":"2026-11-21T12:00:00Z","rev":1}`
	if string(got) != want {
		t.Errorf("%s", got)
	}
	var back Bead
	if err := json.Unmarshal(got, &back); err != nil || !cmp.Equal(back, b) {
		t.Errorf("%+v, %v", back, err)
	}
	if err := json.Unmarshal([]byte(`{"id":"x","title":"t","status":"open","priority":null}`), &back); err != nil {
		t.Error(err)
	}
}

func TestPriority(t *testing.T) {
	for i, p := range []Priority{Urgent, High, Normal, Low, Someday} {
		if !p.Valid() || p.Level() != i {
			t.Errorf("%d: %v", i, p)
		}
		for _, s := range []string{p.String(), strings.ToLower(p.String()), p.String()[1:]} {
			if got, err := ParsePriority(s); err != nil || got != p {
				t.Errorf("%q: %v, %v", s, got, err)
			}
		}
	}
	for _, s := range []string{"", "P", "P5", "-1", "urgent", "PP1"} {
		if p, err := ParsePriority(s); err == nil {
			t.Errorf("ParsePriority(%q) = %v, want an error", s, p)
		}
	}
	var p Priority
	for _, s := range []string{"5", "-1", `"1"`, "1.5"} {
		if err := json.Unmarshal([]byte(s), &p); err == nil {
			t.Errorf("JSON priority %s: got %v, want an error", s, p)
		}
	}
	if (Priority(7)).Valid() || (Bead{}).Priority != Normal {
		t.Error("wrong default priority")
	}
}

func TestStatusOf(t *testing.T) {
	for foreign, want := range map[string]Status{
		"open": StatusOpen, "in_progress": StatusInProgress, "closed": StatusClosed,
		"blocked": StatusOpen, "deferred": StatusOpen, "hooked": StatusInProgress, "tombstone": StatusClosed, "whatever": StatusOpen,
	} {
		if got, known := StatusOf(foreign); got != want || known != (string(want) == foreign) {
			t.Errorf("%q: %v, %v", foreign, got, known)
		}
	}
}

func TestReady(t *testing.T) {
	all := []Bead{
		bead("a", StatusOpen), bead("b", StatusOpen, "a"), bead("c", StatusOpen, "done"), bead("d", StatusOpen, "done", "busy"),
		bead("e", StatusOpen, "purged"), bead("busy", StatusInProgress), bead("done", StatusClosed), bead("f", StatusOpen, "f2"), bead("f2", StatusOpen, "f"),
	}
	var got []string
	for _, b := range Ready(all) {
		got = append(got, b.ID)
	}
	if strings.Join(got, " ") != "a c e" {
		t.Errorf("%v", got)
	}
	if Ready(nil) != nil {
		t.Error("Ready of an empty list returns beads")
	}
}

func TestNext(t *testing.T) {
	root := bead("root", StatusOpen)
	root.Type = TypeMolecule
	step := func(id string, after time.Duration, status Status, needs ...string) Bead {
		b := bead(id, status, needs...)
		b.CreatedAt = noon.Add(after)
		return b
	}
	for want, all := range map[string][]Bead{
		"one":   {step("two", 2, StatusOpen), step("one", 1, StatusOpen), root},
		"two":   {step("three", 3, StatusOpen), step("two", 2, StatusOpen), step("one", 1, StatusClosed)},
		"three": {step("three", 3, StatusOpen), step("two", 2, StatusOpen, "one"), step("one", 1, StatusInProgress)},
		"":      {root, step("two", 2, StatusOpen, "one"), step("one", 1, StatusInProgress)},
		"first": {step("last", 1, StatusOpen), step("middle", 1, StatusOpen), step("first", 1, StatusOpen)}, // equal times
	} {
		given := slices.Clone(all)
		if got, ok := Next(all); got.ID != want || ok != (want != "") {
			t.Errorf("next is %q, %v, want %q", got.ID, ok, want)
		}
		if !cmp.Equal(all, given) {
			t.Error("Next changed its argument")
		}
	}
}

func TestByUrgency(t *testing.T) {
	of := func(id string, p Priority, at time.Duration) Bead {
		b := bead(id, StatusOpen)
		b.Priority, b.CreatedAt = p, noon.Add(at)
		return b
	}
	all := []Bead{of("d", Low, 0), of("c", Normal, 9), of("b", Normal, 1), of("a", Urgent, 20), of("e", Low, 0)}
	slices.SortStableFunc(all, ByUrgency)
	var got string
	for _, b := range all {
		got += b.ID
	}
	if got != "abcde" {
		t.Error(got)
	}
}

// If the clock is set back, a bead's times do not go back.
func TestPatchWithClockSetBack(t *testing.T) {
	b, err := Closing().Apply(bead("gc-1", StatusOpen), noon.Add(-time.Hour))
	if err != nil || !b.UpdatedAt.Equal(noon) || !b.ClosedAt.Equal(noon) {
		t.Errorf("%+v, %v", b, err)
	}
}

func TestPatchSharesNothing(t *testing.T) {
	old := bead("gc-1", StatusOpen, "gc-0")
	old.Labels, old.Metadata = []string{"a", "b", "c"}, map[string]string{"k": "v"}
	kept := old.Clone()
	labels, needs, meta := []string{"d"}, []string{"gc-5"}, map[string]string{"k": "w"}
	b, err := Patch{RemoveLabels: []string{"a"}, AddLabels: labels, Needs: &needs, SetMetadata: meta}.Apply(old, noon)
	if err != nil {
		t.Fatal(err)
	}
	labels[0], needs[0], meta["k"] = "x", "y", "z"
	if !cmp.Equal(old, kept) || b.Labels[2] != "d" || b.Needs[0] != "gc-5" || b.Metadata["k"] != "w" {
		t.Errorf("%+v, %+v", old, b)
	}
}

func TestMerge(t *testing.T) {
	have := bead("gc-1", StatusOpen)
	have.Rev = 3
	change := func(f func(*Bead)) Bead {
		b := have.Clone()
		f(&b)
		return b
	}
	for what, c := range map[string]struct {
		in   Bead
		want Outcome
		rev  uint64
	}{
		"the same":             {have, Unchanged, 3},
		"without times":        {change(func(b *Bead) { b.CreatedAt, b.UpdatedAt = time.Time{}, time.Time{} }), Unchanged, 3},
		"another revision":     {change(func(b *Bead) { b.Rev = 9 }), Unchanged, 3},
		"later":                {change(func(b *Bead) { b.Title, b.UpdatedAt, b.Rev = "x", noon.Add(1), 0 }), Updated, 4},
		"later, far ahead":     {change(func(b *Bead) { b.Title, b.UpdatedAt, b.Rev = "x", noon.Add(1), 7 }), Updated, 7},
		"of the same time":     {change(func(b *Bead) { b.Title = "x" }), Kept, 3},
		"earlier":              {change(func(b *Bead) { b.Title, b.UpdatedAt = "x", noon.Add(-1) }), Kept, 3},
		"other, without times": {change(func(b *Bead) { b.Title, b.UpdatedAt = "x", time.Time{} }), Kept, 3},
	} {
		got, outcome, err := Merge(&have, c.in, noon.Add(time.Hour))
		if err != nil || outcome != c.want || got.Rev != c.rev {
			t.Errorf("%s: got %v, revision %d, %v", what, outcome, got.Rev, err)
		}
	}
	got, outcome, err := Merge(nil, Bead{ID: "gc-2", Title: "t", Status: StatusClosed}, noon)
	if err != nil || outcome != Created || !got.CreatedAt.Equal(noon) || !got.UpdatedAt.Equal(noon) || !got.ClosedAt.Equal(noon) || got.Rev != 1 {
		t.Errorf("%+v, %v, %v", got, outcome, err)
	}
}
