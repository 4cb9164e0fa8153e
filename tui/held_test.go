package tui

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"gcity/city"
	"gcity/tui/actions"
	"gcity/tui/details"
	"gcity/tui/widget"
)

func everyPoolLeaves(s *city.Snapshot) {
	s.Agents, s.Pools = nil, nil
	h := &city.Held{Revision: "77aa00bb11cc", Since: epoch, Running: 203, Plan: []string{"removed pool pool-00, pool-01, pool-02, pool-03, pool-04 and 20 more", "changed web"}}
	for p := range 25 {
		pool := fmt.Sprintf("pool-%02d", p)
		s.Pools = append(s.Pools, city.Pool{Name: pool, Max: 8, Size: 8, Desired: 8})
		for i := range 8 {
			name := fmt.Sprintf("%s-%d", pool, i+1)
			s.Agents = append(s.Agents, city.Agent{Name: name, Pool: pool, State: city.Running, Running: true})
			h.Removes = append(h.Removes, name)
		}
	}
	s.Config.Held = h
}

// The question shows a held plan even for 200 agents.
func TestAHeldPlanIsReadable(t *testing.T) {
	for _, size := range [][2]int{{120, 40}, {80, 24}} {
		s := demo(t, size[0], size[1])
		s.change(everyPoolLeaves)
		s.press("C")
		s.shows("removes 200 of 203 running agents", "pool-00 (8 members), ", "(c lists them all).", "Its plan:", "removed pool pool-00", "changed web", "type 200, the number of agents to remove, to confirm:")
		for _, row := range widget.WrapAll(details.Held(s.m.Details(), actions.HeldConfig(s.m), 24), 72) {
			if strings.HasSuffix(row, "-") || strings.HasSuffix(row, "(8") {
				t.Errorf("a name is broken: %s", row)
			}
		}
		s.press("esc", "c")
		s.text()
		s.press("G")
		s.shows("pool-24 (8 members).")
	}
}

func TestRemovedAgentsAreGrouped(t *testing.T) {
	s := pooled(t, 120, 40)
	got := details.ByPool(&s.m.Lists, []string{"worker-2", "builder", "merge", "batch-1", "batch-4", "batch-3", "batch-2", "worker-1", "triage-1", "gone"})
	for i := range got {
		got[i] = strings.ReplaceAll(got[i], widget.NBSP, " ")
	}
	if want := []string{"batch (4 members)", "builder", "gone", "merge", "triage-1", "worker (2 of 3 members)"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestWrapKeepsNamesWhole(t *testing.T) {
	got := widget.Wrap("one two-three four-five-six-seven --long", 12)
	if want := []string{"one", "two-three", "four-five-si", "x-seven", "--long"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
