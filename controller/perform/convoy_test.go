package perform

import (
	"slices"
	"testing"

	"gcity/beads"
	"gcity/beads/fake"
	"gcity/city"
	"gcity/events"
)

// A convoy is closed when its last open bead is closed.
func TestConvoyCloses(t *testing.T) {
	s := fake.New("tw")
	convoy := put(t, s, beads.Bead{Title: "c", Type: city.ConvoyType})
	one := put(t, s, beads.Bead{Title: "1", ParentID: convoy.ID})
	two := put(t, s, beads.Bead{Title: "2", ParentID: convoy.ID})
	for i, id := range []string{one.ID, one.ID, two.ID, two.ID} {
		was, now, err := swap(t.Context(), s, city.UpdateBead{ID: id, Patch: beads.Closing()})
		if err != nil {
			t.Fatal(err)
		}
		var want []string
		if i == 2 {
			want = []string{"bead.closed " + convoy.ID}
		}
		if got := kinds(convoyEvent(t.Context(), s, was, now)); !slices.Equal(got, want) {
			t.Errorf("%d: %q, want %q", i, got, want)
		}
	}
	if b, err := s.Get(t.Context(), convoy.ID); err != nil || b.Status != beads.StatusClosed ||
		b.Metadata[beads.CloseReason] != "all beads are closed: 2 of 2 closed" {
		t.Errorf("%+v, %v", b, err)
	}
}

// A convoy is also closed if its beads were already closed when they were added, or if its last open bead leaves.
// An empty convoy stays open.
func TestConvoyClosesByMoves(t *testing.T) {
	s := fake.New("tw")
	first, second, third := put(t, s, beads.Bead{Title: "a", Type: city.ConvoyType}),
		put(t, s, beads.Bead{Title: "b", Type: city.ConvoyType}),
		put(t, s, beads.Bead{Title: "c", Type: city.ConvoyType})
	done, open := put(t, s, beads.Bead{Title: "1", Status: beads.StatusClosed}),
		put(t, s, beads.Bead{Title: "2", ParentID: second.ID})
	for i, c := range []struct {
		bead, to string
		want     []string
	}{
		{done.ID, first.ID, []string{"bead.closed " + first.ID}}, {open.ID, third.ID, nil},
		{done.ID, third.ID, nil},
		{open.ID, second.ID, []string{"bead.closed " + third.ID}}, {done.ID, "", nil},
	} {
		was, now, err := swap(t.Context(), s,
			city.UpdateBead{ID: c.bead, Patch: beads.Patch{ParentID: &c.to}})
		if err != nil {
			t.Fatal(err)
		}
		if got := kinds(convoyEvent(t.Context(), s, was, now)); !slices.Equal(got, c.want) {
			t.Errorf("%d: %q, want %q", i, got, c.want)
		}
	}
}

func put(t *testing.T, s *fake.Store, b beads.Bead) beads.Bead {
	t.Helper()
	b, err := s.Create(t.Context(), b)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func kinds(all []events.Event) (out []string) {
	for _, e := range all {
		out = append(out, e.Type+" "+e.Subject)
	}
	return out
}
