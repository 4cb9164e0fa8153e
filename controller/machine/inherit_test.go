package machine

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"gcity/controller/effect"
	"gcity/events"
	"gcity/session"
)

// keepEnds simulates a start's treatment of unrecorded exits: afterwards, they exist only in files.
func (w *world) keepEnds(ends []effect.UnrecordedEnd) {
	for _, e := range ends {
		if w.ends == nil {
			w.ends = map[string]effect.UnrecordedEnd{}
		}
		w.ends[e.Exit.ID] = e
		delete(w.dead, e.Exit.ID)
	}
}

func (w *world) inherit(first bool) *effect.Inherited {
	past := &effect.Inherited{Recorded: map[string]bool{}}
	for i := range w.events {
		past.Recorded[effect.EndedSession(&w.events[i])] = true
	}
	for _, id := range slices.Sorted(maps.Keys(w.ends)) {
		if first {
			past.Ends = append(past.Ends, w.ends[id])
		}
	}
	return past
}

// lives returns the number of recorded exits of each session.
func (w *world) lives() map[string]int {
	n := map[string]int{}
	for i := range w.events {
		if id := effect.EndedSession(&w.events[i]); id != "" {
			n[id]++
		}
	}
	return n
}

// If a controller exits after recording an exit but before acknowledging it, the next controller does not record it
// again.
func TestARecordedEndIsNotRecordedAgain(t *testing.T) {
	for _, code := range []int{0, 3} {
		w := newWorld()
		w.declare("a:restart=never")
		w.advance(time.Minute)
		w.stuck["ack:a:s1"] = true
		w.die("a", code, "")
		w.succeed()
		if n := w.lives()["s1"]; n != 1 {
			t.Errorf("exit %d: its end is recorded %d times: %v", code, n, w.log)
		}
		if len(w.dead) != 0 {
			t.Errorf("exit %d: its end is not acknowledged", code)
		}
	}
}

// If a controller exits before it can record a completed stop, the next controller records it.
func TestAStopIsRecordedByTheSuccessor(t *testing.T) {
	w := newWorld()
	w.declare("a")
	w.advance(time.Minute)
	s := *w.alive["a"]
	s.Alive, s.Exit = false, &session.Exit{Name: s.Name, Agent: "a", ID: s.ID, Code: 0, Asked: true,
		At: w.now}
	delete(w.alive, "a")
	w.dead[s.ID] = s
	w.succeed()
	w.succeed()
	if n := w.lives()["s1"]; n != 1 || w.told(events.AgentStopped) != 1 {
		t.Errorf("its end is recorded %d times: %v", n, w.log)
	}
}

// A crash with an event that still waits for output is not lost with its controller, even if the agent has
// restarted.
func TestCrashBeforeANewSessionIsRecorded(t *testing.T) {
	w := newWorld()
	w.declare("a", "b")
	w.advance(time.Minute)
	w.stuck["capture:a:s1"] = true
	w.die("a", 3, "")
	w.die("b", 0, "") // its event waits behind the crash
	if len(w.ends) != 2 || w.alive["a"] == nil || w.alive["b"] == nil {
		t.Fatalf("kept: %v", w.ends)
	}
	clear(w.stuck)
	w.succeed()
	w.advance(time.Second)
	if n := w.lives(); n["s1"] != 1 || n["s2"] != 1 {
		t.Errorf("the ends are recorded %v times: %v", n, w.log)
	}
	if all := w.crashes(t, "a"); len(all) != 1 || all[0]["output"] != "last words" {
		t.Errorf("the crash: %v", all)
	}
	if n := len(w.m.agents["a"].restart.history.Crashes); n != 1 {
		t.Errorf("%d crashes are counted", n)
	}
	if len(w.ends) != 0 {
		t.Errorf("files are left: %v", w.ends)
	}
}

// The file of an exit is removed when the event is recorded. The controller that wrote the file also removes it.
func TestExitFileIsRemoved(t *testing.T) {
	w := newWorld()
	w.declare("a")
	w.advance(time.Minute)
	w.stuck["capture:a:s1"] = true
	w.die("a", 3, "")
	clear(w.stuck)
	w.Step(effect.Wake{})
	if len(w.ends) != 0 || w.lives()["s1"] != 1 {
		t.Errorf("files: %v, recorded: %v", w.ends, w.lives())
	}
}

// If a second list is requested before the first one is answered, saved exits are still inherited only once.
func TestEndsAreInheritedOnce(t *testing.T) {
	w := newWorld()
	w.declare("a")
	w.advance(time.Minute)
	w.stuck["capture:a:s1"] = true
	w.die("a", 3, "")
	w.succeed("list", "capture:a:s1")
	w.feed(effect.Tick{}) // requests another list
	delete(w.stuck, "list")
	w.Step(effect.Wake{})
	delete(w.stuck, "capture:a:s1")
	w.Step(effect.Wake{})
	if n := w.lives()["s1"]; n != 1 {
		t.Errorf("its end is recorded %d times: %v", n, w.log)
	}
}

// An exit that was already recorded is not recorded again when only a later list shows the session.
func TestARecordedEndThatIsSeenLate(t *testing.T) {
	w := newWorld()
	w.declare("a:restart=never")
	w.advance(time.Minute)
	w.stuck["ack:a:s1"] = true
	w.die("a", 3, "")
	hidden := w.dead["s1"]
	delete(w.dead, "s1")
	w.succeed()
	hidden.Exit.Lost = true
	w.dead["s1"] = hidden
	w.Step(effect.Tick{})
	if n := w.lives()["s1"]; n != 1 {
		t.Errorf("its end is recorded %d times: %v", n, w.log)
	}
}

// A session may be listed as alive, because its holder is exiting, and then be lost. If its exit was recorded, no
// second exit is recorded.
func TestRecordedExitOfALeavingHolder(t *testing.T) {
	w := newWorld()
	w.declare("a")
	w.advance(time.Minute)
	s := *w.alive["a"]
	w.stuck["ack:a:s1"] = true
	w.die("a", 3, "")
	delete(w.dead, "s1")
	w.alive["a"] = &s
	w.succeed()
	w.Step(effect.Exited{Exit: session.Exit{Name: s.Name, Agent: "a", ID: "s1", Code: -1,
		Lost: true, At: w.now}})
	if n := w.lives()["s1"]; n != 1 {
		t.Errorf("its end is recorded %d times: %v", n, w.log)
	}
}

// The recorded exit of a lost session has the reason that the provider reports.
func TestLostExitHasAReason(t *testing.T) {
	w := newWorld()
	w.declare("a")
	w.advance(time.Minute)
	s := *w.alive["a"]
	delete(w.alive, "a")
	w.Step(effect.Exited{Exit: session.Exit{
		Name: s.Name, Agent: "a", ID: s.ID, Code: -1, Signal: "SIGKILL", Lost: true,
		Reason: "OOMKilled", At: w.now,
	}})
	for i := range w.events {
		if e := &w.events[i]; effect.EndedSession(e) == s.ID {
			if e.Message != "host_lost: OOMKilled" ||
				!strings.Contains(string(e.Payload), `"reason":"OOMKilled"`) {
				t.Errorf("%s %s", e.Message, e.Payload)
			}
			return
		}
	}
	t.Error("the end is not recorded")
}
