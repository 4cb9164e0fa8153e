package fleet

import (
	"testing"
	"time"

	"gcity/city"
)

func TestWhyCountsAgents(t *testing.T) {
	needs := func(n int) []Need { return make([]Need, n) }
	for want, b := range map[string]Summary{
		"1 agent needs attention":                {Needs: needs(1)},
		"3 agents need attention":                {Needs: needs(3)},
		"1 failed; 1 other needs attention":      {Needs: needs(2), failed: 1},
		"1 quarantined; 2 others need attention": {Needs: needs(3), Held: 1},
		"1 failed":                               {Needs: needs(1), failed: 1},
	} {
		c := City{Info: city.Info{Running: true, Status: city.CityRunning}, Responded: true, Summary: b}
		if got := c.Why(time.Time{}); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestCountsAreNotCut(t *testing.T) {
	c := City{Info: city.Info{Running: true}, Responded: true, Summary: Summary{Running: 120, Agents: 1200}}
	if got := c.Counts(); got != "120/1200 up" {
		t.Error(got)
	}
}
