package city_test

import (
	"context"
	"strings"
	"testing"

	"gcity/beads"
	"gcity/beads/fake"
	"gcity/city"
)

// damaged is a store with records that cannot be read.
type damaged struct {
	*fake.Store
	lost []beads.Unreadable
}

func (d *damaged) Unreadable(context.Context) ([]beads.Unreadable, error) {
	return append([]beads.Unreadable(nil), d.lost...), nil
}

// A molecule or a convoy with an unreadable step is not closed, unless this step is closed.
func TestUnreadableStepsCountAsOpen(t *testing.T) {
	for _, c := range []struct {
		name   string
		lost   beads.Unreadable
		closes bool
	}{
		{"an open step", beads.Unreadable{ID: "tw-9", Reason: "odd", ParentID: "tw-1"}, false},
		{"a closed step", beads.Unreadable{ID: "tw-9", Reason: "odd", ParentID: "tw-1", Closed: true}, true},
		{"a step of another bead", beads.Unreadable{ID: "tw-9", Reason: "odd", ParentID: "tw-7"}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, kind := range []string{beads.TypeMolecule, city.ConvoyType} {
				s := &damaged{fake.New("tw"), []beads.Unreadable{c.lost}}
				root, err := s.Create(t.Context(), beads.Bead{Title: "root", Type: kind})
				if err != nil {
					t.Fatal(err)
				}
				child, err := s.Create(t.Context(), beads.Bead{Title: "child", ParentID: root.ID})
				if err != nil {
					t.Fatal(err)
				}
				closed, err := s.Update(t.Context(), child.ID, beads.Closing())
				if err != nil {
					t.Fatal(err)
				}
				if kind == city.ConvoyType {
					got, err := city.SettleConvoys(t.Context(), s, child, closed)
					if (len(got) == 1) != c.closes || err != nil {
						t.Errorf("convoy closed: %v, %v", got, err)
					}
					continue
				}
				err = city.Closable(t.Context(), s, root)
				if c.closes != (err == nil) || !c.closes && (!city.HasCode(err, city.Conflict) ||
					!strings.Contains(err.Error(), "its step tw-9 cannot be read (odd)")) {
					t.Errorf("molecule: %v", err)
				}
			}
		})
	}
}
