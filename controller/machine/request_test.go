package machine

import (
	"errors"
	"testing"
	"time"

	"gcity/city"
	"gcity/controller/effect"
	"gcity/events"
)

// If an agent requests a restart and exits before it can be stopped, it restarts, and the exit does not count as a
// crash.
func TestRequestedRestartIsNotACrash(t *testing.T) {
	w := newWorld()
	w.declare("a")
	w.advance(2 * time.Second)
	w.stuck["agent:a"] = true
	w.command(1, city.RequestRestart{Agent: "a"})
	w.pending = nil // the stop fails instead
	w.feed(effect.Stopped{Agent: "a", Err: errors.New("the holder does not answer")})
	delete(w.stuck, "agent:a")
	w.Step(effect.Wake{})
	w.die("a", 1, "")
	w.advance(time.Second)
	if w.told(events.AgentCrashed) != 0 || w.told(events.AgentStopped) != 1 ||
		w.told(events.AgentStarted) != 2 {
		t.Errorf("the log: %v", w.log)
	}
	if n := len(w.m.agents["a"].restart.history.Crashes); n != 0 {
		t.Errorf("%d crashes are counted", n)
	}
}
