package describe

import (
	"maps"
	"slices"
	"testing"

	"gcity/city"
)

func TestAgentAlerts(t *testing.T) {
	states := map[string]city.State{"a": city.Failed, "b": city.Running, "c": city.Backoff, "d": Stuck, "e": Stuck}
	var got []string
	for _, a := range AgentAlerts(maps.All(states)) {
		got = append(got, a.Text(a.Names[0]))
	}
	if want := []string{"a failed", "2 agents stuck"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if s := AlertState(city.Stopping, new(city.Stuck)); s != city.Stopping {
		t.Errorf("a stopping agent's alert state is %q", s)
	}
}
