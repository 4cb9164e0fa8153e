package tui

import (
	"testing"
	"time"

	"gcity/city"
)

func TestDrainAsksFirst(t *testing.T) {
	s := pooled(t, 120, 40)
	s.choose("builder")
	s.shows("D drain")
	s.press("D")
	s.wants()
	s.shows("Drain builder?", "It is told to finish, and ends when it has, or after 5m.", "it stays declared")
	s.press("n")
	s.wants()
	s.press("D", "enter") // "no" is chosen
	s.wants()
	s.press("D", "y")
	s.wants(city.Drain{Agent: "builder"})
	s.shows("draining builder")
}

func TestDrainIsTakenBack(t *testing.T) {
	s := pooled(t, 120, 40)
	s.choose("deployer")
	s.shows("D undrain", "u release")
	s.press("D")
	s.wants(city.Undrain{Agent: "deployer"})
	s.press("u")
	s.wants(city.Undrain{Agent: "deployer"})
}

func TestDrainNeedsSomethingToFinish(t *testing.T) {
	s := pooled(t, 120, 40)
	s.choose("scout")
	s.hides("D drain")
	s.press("D")
	s.wants()
	s.shows("scout is quarantined: there is nothing to finish")
	s.choose("idle")
	s.agent("idle", func(a *city.Agent) { a.State = city.Stopping })
	s.press("D")
	s.wants()
	s.shows("idle is stopping: there is nothing to finish")
}

// Of many, those that can finish are told to; only where none can those that drain are taken back.
func TestDrainOfMany(t *testing.T) {
	s := pooled(t, 120, 40)
	mark := func(names ...string) {
		s.press("esc", "esc", "esc")
		for _, name := range names {
			s.choose(name)
			s.press("space")
		}
	}
	mark("builder", "scout", "worker-1", "worker-3")
	s.press("D")
	s.shows("Drain 2 agents?", "builder, worker-1", "and end when they have, or at a deadline.", "a surplus pool member is not.")
	s.press("y")
	s.wants(city.Drain{Agent: "builder"}, city.Drain{Agent: "worker-1"})
	mark("deployer", "scout", "worker-3")
	s.press("D")
	s.wants(city.Undrain{Agent: "deployer"}, city.Undrain{Agent: "worker-3"})
	mark("flaky", "scout")
	s.press("D")
	s.wants()
	s.shows("none of them runs: there is nothing to finish")
	mark("deployer", "scout", "flaky")
	s.press("u")
	s.wants(city.Release{Agent: "scout"}, city.Release{Agent: "flaky"}, city.Undrain{Agent: "deployer"})
	s.press("esc", "*", "D", "y", "enter") // many: their number is typed
	s.wants()
	s.press("backspace", "1", "3", "enter")
	if n := len(s.commands()); n != 13 {
		t.Errorf("%d commands, want 13", n)
	}
}

func TestADrainWithoutDeadlineIsSaid(t *testing.T) {
	s := pooled(t, 120, 40)
	s.pool("worker", func(p *city.Pool) { p.Timeout = 0 })
	s.choose("worker-1")
	s.press("D")
	s.shows("there is no deadline")
	s.press("n")
	s.pool("worker", func(p *city.Pool) { p.Timeout = 90 * time.Second })
	s.press("D")
	s.shows("or after 1m30s.")
}
