package city

import (
	"testing"
	"time"
)

// While a suspended agent is being stopped, its Reason does not say which setting suspends it.
func TestUnreadWhileSuspended(t *testing.T) {
	for _, c := range []struct {
		state        State
		reason, want string
	}{
		{Suspended, "in city.toml",
			"; the agent is suspended in city.toml and will read the message when it is resumed"},
		{Stopping, "suspended in city.toml",
			"; the agent is suspended and will read the message when it is resumed"},
	} {
		s := &Snapshot{Agents: []Agent{{Name: "a", State: c.state, Reason: c.reason,
			Suspended: true}}}
		if got := s.unread("a"); got != c.want {
			t.Errorf("%s: %q", c.state, got)
		}
	}
}

// Only work starts members of a pool, so mail to an empty pool could wait forever.
func TestUnreadInAnEmptyPool(t *testing.T) {
	since := time.Unix(1, 0)
	s := &Snapshot{Agents: []Agent{{Name: "busy", Pool: "busy"}}, Pools: []Pool{
		{Name: "crew", Max: 1, Since: since},
		{Name: "busy", Max: 1, Since: since},
		{Name: "off", Since: since},
		{Name: "kept", Min: 1, Max: 1, Since: since},
		{Name: "checked", Max: 1, Since: since, Check: Check{Command: "count"}},
		{Name: "unmanaged", Max: 1},
	}}
	for to, want := range map[string]string{
		"pool:crew": "; the pool has no members, and mail does not start one; `gcity pool scale " +
			"crew 1` does",
		"pool:off": "", "pool:busy": "", "pool:kept": "", "pool:checked": "",
		"pool:unmanaged": "",
	} {
		if got := s.unread(to); got != want {
			t.Errorf("%s: %q, want %q", to, got, want)
		}
	}
}

func TestUnreadSuggestsTheNearestName(t *testing.T) {
	s := &Snapshot{Agents: []Agent{{Name: "scribe"}}, Pools: []Pool{{Name: "loader"}}}
	for to, near := range map[string]string{
		"scrib": ` (did you mean "scribe"?)`, "loder": ` (did you mean "loader"?)`, "humn": ` (did you mean "human"?)`, "anna": "",
	} {
		want := `; no agent or pool has the name "` + to + `"` + near + `, so the message will wait for a user with that name`
		if got := s.unread(to); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}
