package supervisor

import (
	"strings"
	"testing"
	"testing/synctest"

	"gcity/city"
)

// max_agents applies to all of a tenant's cities together. For a running city, the active configuration counts.
func TestAllow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newFakeFleet(t)
		write(t, l.h.Settings(), "[supervisor]\nport = 0\n[tenants.acme]\ncities = [\"one\", \"two\"]\ntoken_file = \"t\"\nmax_agents = 6\n")
		l.begin("/c/one", "/c/two", "/c/free")
		tick()
		l.city("/c/two").snap = city.Snapshot{Name: "two", Agents: []city.Agent{{Name: "a"}, {Name: "p-1", Pool: "p"}}, Pools: []city.Pool{{Name: "p", Max: 2}}}
		for path, most := range map[string]int{"/c/one": 3, "/c/free": 1000} { // city two already declares 3 agents
			if err := l.s.Allow(t.Context(), path, most); err != nil {
				t.Errorf("%s with %d: got %v", path, most, err)
			}
		}
		if err := l.s.Allow(t.Context(), "/c/one", 4); err == nil || !strings.Contains(err.Error(), "so tenant acme would have 7 in total; max_agents") {
			t.Error(err)
		}
		l.over("")
	})
}
