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

// keepEnds is what a start does to ends: those of earlier lives are in files alone from then on.
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

// lives counts the recorded ends of each life.
func (w *world) lives() map[string]int {
	n := map[string]int{}
	for i := range w.events {
		if id := effect.EndedSession(&w.events[i]); id != "" {
			n[id]++
		}
	}
	return n
}

// A controller that ended after it had recorded an end, and before it could note that, has a successor that does not
// record it again.
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

// A stop that was over before its controller could record it is recorded by the next one.
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

// A crash whose event waits for its output is not lost with its controller, though the agent's next life has begun.
func TestACrashBehindANewLifeIsRecorded(t *testing.T) {
	w := newWorld()
	w.declare("a", "b")
	w.advance(time.Minute)
	w.stuck["capture:a:s1"] = true
	w.die("a", 3, "")
	w.die("b", 0, "") // its end waits behind the crash
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
	if n := len(w.m.agents["a"].rest.history.Crashes); n != 1 {
		t.Errorf("%d crashes are counted", n)
	}
	if len(w.ends) != 0 {
		t.Errorf("files are left: %v", w.ends)
	}
}

// The file of an end goes when its event is recorded, also under the controller that wrote it.
func TestTheFileOfAnEndGoes(t *testing.T) {
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

// A second look that is ordered before the first one is answered inherits nothing.
func TestEndsAreInheritedOnce(t *testing.T) {
	w := newWorld()
	w.declare("a")
	w.advance(time.Minute)
	w.stuck["capture:a:s1"] = true
	w.die("a", 3, "")
	w.succeed("list", "capture:a:s1")
	w.feed(effect.Tick{}) // orders another look
	delete(w.stuck, "list")
	w.Step(effect.Wake{})
	delete(w.stuck, "capture:a:s1")
	w.Step(effect.Wake{})
	if n := w.lives()["s1"]; n != 1 {
		t.Errorf("its end is recorded %d times: %v", n, w.log)
	}
}

// A session that a later look shows first, with an end that is recorded, is not recorded again.
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

// A session that seems alive at first and is then lost has no other end than the recorded one: its holder was leaving.
func TestARecordedEndOfALeavingHolder(t *testing.T) {
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

// A lost session's end says why, as far as the provider knows.
func TestALostEndHasItsReason(t *testing.T) {
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
