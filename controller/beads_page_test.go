package controller

import (
	"slices"
	"testing"
	"testing/synctest"

	"gcity/beads"
	"gcity/beads/fake"
)

// Pages of beads from several stores skip and repeat nothing, even if beads have the same creation time.
func TestPagesOfWorkInSeveralStores(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stores := map[string]beads.Store{"": fake.New("tw"), "yard": fake.New("ya"),
			"shop": fake.New("sh")}
		w := newTown(t, two+"[[rigs]]\nname = \"yard\"\npath = \""+t.TempDir()+"\"\n[[rigs]]\n"+
			"name = \"shop\"\npath = \""+t.TempDir()+"\"\n", func(o *Options) {
			o.Stores = func(rig string) (beads.Store, error) { return stores[rig], nil }
		})
		for _, s := range stores {
			for range 3 {
				if _, err := s.Create(t.Context(), beads.Bead{Title: "x"}); err != nil {
					t.Fatal(err)
				}
			}
		}
		ids := func(all []beads.Bead) (out []string) {
			for _, b := range all {
				out = append(out, b.ID)
			}
			return out
		}
		all, err := w.Beads(t.Context(), beads.Query{})
		if err != nil || len(all) != 9 {
			t.Fatalf("%v, %v", ids(all), err)
		}
		for size := 1; size <= 4; size++ {
			var got []string
			q := beads.Query{Limit: size}
			for range 10 {
				page, err := w.Beads(t.Context(), q)
				if err != nil {
					t.Fatal(err)
				}
				if len(page) == 0 {
					break
				}
				got = append(got, ids(page)...)
				q.Before = got[len(got)-1]
			}
			if !slices.Equal(got, ids(all)) {
				t.Errorf("by %d: %v, want %v", size, got, ids(all))
			}
		}
	})
}
