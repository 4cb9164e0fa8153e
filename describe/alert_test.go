package describe

import (
	"maps"
	"slices"
	"testing"

	"gcity/city"
)

func TestAgentAlerts(t *testing.T) {
	states := map[string]city.State{"a": city.Failed, "b": city.Running, "c": city.Backoff, "d": Stuck, "e": Stuck,
		"f": Asking}
	var got []string
	for _, a := range AgentAlerts(maps.All(states)) {
		got = append(got, a.Text(a.Names[0]))
	}
	if want := []string{"a failed", "f asks a question", "2 agents stuck"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	both := &city.Blocker{Asks: &city.Question{About: "the theme"}, Stuck: new(city.Stuck)}
	if s := AlertState(city.Stopping, both); s != city.Stopping {
		t.Errorf("a stopping agent's alert state is %q", s)
	}
	for _, state := range []city.State{city.Running, city.Starting, city.Draining} {
		if s := AlertState(state, both); s != Asking {
			t.Errorf("%s: the alert state of an agent that asks a question is %q", state, s)
		}
	}
	if s := Asks(both.Asks, "2m") + ", " + Asks(new(city.Question), ""); s !=
		"asked a question about the theme 2m ago; attach to answer it, asks a question; attach to answer it" {
		t.Error(s)
	}
}
