package city_test

import (
	"testing"
	"time"

	"gcity/city"
)

func TestWaves(t *testing.T) {
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	var waves city.Waves
	see := func(after time.Duration, want string, states ...city.State) {
		t.Helper()
		s := &city.Snapshot{At: at.Add(after)}
		until := at.Add(time.Minute)
		for _, state := range states {
			a := city.Agent{State: state, Running: state == city.Running}
			if state == city.Draining {
				a.Until = &until
			}
			s.Agents = append(s.Agents, a)
		}
		got := waves.See(s)
		text := ""
		if got.Total > 0 {
			text = got.String()
		}
		if text != want {
			t.Errorf("after %s: got %q, want %q", after, text, want)
		}
	}
	const up, begins, drains, stops = city.Running, city.Starting, city.Draining, city.Stopping
	see(0, "", up, up)
	see(time.Second, "starting: 0 of 3 agents", begins, begins, begins)
	see(3*time.Second, "starting: 1 of 3 agents, 4s left", up, begins, begins)
	see(4*time.Second, "starting: 1 of 4 agents, 9s left", up, begins, begins, begins)
	see(5*time.Second, "", up, up, up, up)
	see(30*time.Second, "draining: 0 of 2 agents, 30s left", up, up, drains, drains)
	see(31*time.Second, "draining: 1 of 2 agents, 1s left", up, up, up, drains)
	see(32*time.Second, "stopping: 0 of 1 agents", up, stops, drains, begins)
	see(33*time.Second, "", up)
}

// The wave includes every agent that is still running.
func TestWaveDuringStop(t *testing.T) {
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	var waves city.Waves
	s := &city.Snapshot{At: at, Ending: &city.Ending{Since: at, Until: at.Add(30 * time.Second)},
		Agents: []city.Agent{{State: city.Running, Running: true}, {State: city.Stopping, Running: true}}}
	if got := waves.See(s).String(); got != "stopping: 0 of 2 agents, 30s left" {
		t.Error(got)
	}
	s.At, s.Agents = at.Add(time.Second), s.Agents[:1]
	if got := waves.See(s).String(); got != "stopping: 1 of 2 agents, 1s left" {
		t.Error(got)
	}
}
