package city

import (
	"context"
	"testing"

	"gcity/beads"
)

// A bead waits for a gate as long as both are open.
func TestGates(t *testing.T) {
	gate := func(id string, s beads.Status) beads.Bead { return beads.Bead{ID: id, Type: GateType, Status: s} }
	all := []beads.Bead{gate("g-1", beads.StatusOpen), gate("g-2", beads.StatusClosed), gate("g-3", beads.StatusInProgress), {ID: "t-1", Type: "task", Status: beads.StatusOpen}}
	asked := 0
	list := func(context.Context, beads.Query) ([]beads.Bead, error) { asked++; return all, nil }
	for _, c := range []struct {
		status beads.Status
		needs  []string
		want   string
		asks   int
	}{
		{beads.StatusOpen, nil, "", 0},
		{beads.StatusOpen, []string{"t-1"}, "", 1},
		{beads.StatusOpen, []string{"g-2"}, "", 1},
		{beads.StatusOpen, []string{"t-1", "g-3", "g-1"}, "g-3", 1},
		{beads.StatusInProgress, []string{"g-1"}, "g-1", 1},
		{beads.StatusClosed, []string{"g-1"}, "", 0},
	} {
		asked = 0
		b := beads.Bead{ID: "b", Status: c.status, Needs: c.needs}
		gates, err := GatesFor(t.Context(), list, []beads.Bead{b})
		if got, ok := gates.Block(b); err != nil || got.ID != c.want || ok != (c.want != "") || asked != c.asks {
			t.Errorf("%s with %q: got gate %q, %d queries, %v",
				c.status, c.needs, got.ID, asked, err)
		}
	}
}
