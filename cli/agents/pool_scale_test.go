package agents

import (
	"testing"
	"time"

	"gcity/city"
)

func TestScaleProgress(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	soon, late := now.Add(time.Minute), now.Add(90*time.Second)
	s := &city.Snapshot{
		Pools: []city.Pool{{Name: "w", Size: 3, Desired: 1, Draining: []string{"w-2", "w-3"}}, {Name: "x", Size: 1, Desired: 2}},
		Agents: []city.Agent{
			{Name: "w-2", Pool: "w", Drain: &city.DrainInfo{Deadline: &late}},
			{Name: "w-3", Pool: "w", Drain: &city.DrainInfo{Deadline: &soon}},
		},
	}
	for pool, want := range map[string]string{
		"w": "scaling pool w: 3 of 1 members, 2 draining, at most 1m30s left",
		"x": "scaling pool x: 1 of 2 members",
		"y": "",
	} {
		if got := scaleProgress(s, pool, now); got != want {
			t.Errorf("%s: got %q, want %q", pool, got, want)
		}
	}
}
