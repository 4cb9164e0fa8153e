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
	see(30*time.Second, "draining: 0 of 2 agents, at most 30s left", up, up, drains, drains)
	see(31*time.Second, "draining: 1 of 2 agents, at most 29s left", up, up, up, drains)
	see(32*time.Second, "stopping: 0 of 1 agents", up, stops, drains, begins)
	see(33*time.Second, "", up)
}

// The time that other agents took to finish says nothing about the rest. A drain without a deadline can take any time.
func TestWaveOfDrains(t *testing.T) {
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	until := at.Add(4 * time.Minute)
	var waves city.Waves
	s := &city.Snapshot{At: at, Agents: make([]city.Agent, 40)}
	for i := range s.Agents {
		s.Agents[i] = city.Agent{State: city.Draining, Until: &until}
	}
	waves.See(s)
	s.At, s.Agents = at.Add(time.Second), s.Agents[:2]
	if got := waves.See(s).String(); got != "draining: 38 of 40 agents, at most 3m59s left" {
		t.Error(got)
	}
	s.Agents[0].Until = nil
	if got := waves.See(s).String(); got != "draining: 38 of 40 agents" {
		t.Error(got)
	}
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
