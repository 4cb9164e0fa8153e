package controller

import (
	"testing"

	"gcity/city"
)

// What a service manager shows says when the city does not go by its file: a reload by that succeeds all the same.
func TestStatusLine(t *testing.T) {
	agents := []city.Agent{{Name: "a", State: city.Running}, {Name: "b", State: city.Quarantined}}
	for want, c := range map[string]city.ConfigInfo{
		"1 of 2 agents running, 1 quarantined": {},
		"1 of 2 agents running, 1 quarantined, the " +
			"configuration was rejected": {Rejected: "city.toml:1:1: no"},
		"1 of 2 agents running, 1 quarantined, a change of the " +
			"configuration waits for confirmation": {Held: &city.Held{}},
	} {
		if got := status(&city.Snapshot{Agents: agents, Config: c}); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
