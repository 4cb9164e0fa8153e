package controller

import (
	"testing"

	"gcity/city"
)

// The status line for the service manager shows that the configuration in force differs from the file. A reload by
// the service manager succeeds even then.
func TestStatusLine(t *testing.T) {
	agents := []city.Agent{{Name: "a", State: city.Running}, {Name: "b", State: city.Quarantined}}
	for want, c := range map[string]city.ConfigInfo{
		"1 of 2 agents running, 1 quarantined": {},
		"1 of 2 agents running, 1 quarantined, the " +
			"configuration was rejected": {Rejected: "city.toml:1:1: no"},
		"1 of 2 agents running, 1 quarantined, a configuration " +
			"change is waiting for confirmation": {Held: &city.Held{}},
	} {
		if got := status(&city.Snapshot{Agents: agents, Config: c}); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
