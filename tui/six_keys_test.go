package tui

import (
	"fmt"
	"testing"

	"gcity/city"
)

// A member of a pool with a long list drains within six keys, by filter, by palette, and from its pool.
func TestAMemberOfALongPoolDrainsInSixKeys(t *testing.T) {
	for _, keys := range [][]string{
		{"/", "1", "7", "enter", "D", "y"},
		{":", "1", "7", "enter", "D", "y"},
	} {
		s := pooled(t, 80, 24)
		s.change(func(n *city.Snapshot) {
			n.Agents = nil
			for i := 1; i <= 40; i++ {
				n.Agents = append(n.Agents, city.Agent{Name: fmt.Sprintf("worker-%d", i), Pool: "worker",
					State: city.Running, Running: true, Since: epoch})
			}
		})
		s.press(keys...)
		s.wants(city.Drain{Agent: "worker-17"})
	}
}

// In Pools, a key leads to the members of the pool.
func TestThePoolLeadsToItsMembers(t *testing.T) {
	s := pooled(t, 120, 40)
	s.pick("worker")
	s.press(".")
	s.shows("/pool:worker 3 of ")
}
