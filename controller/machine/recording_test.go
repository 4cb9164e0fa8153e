package machine

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"gcity/city"
	"gcity/controller/effect"
	"gcity/controller/memory"
	"gcity/events"
	"gcity/restart"
	"gcity/session"
)

func (w *world) crashes(t *testing.T, name string) (all []map[string]any) {
	t.Helper()
	for _, e := range w.events {
		if e.Type != events.AgentCrashed || e.Subject != name {
			continue
		}
		var about map[string]any
		if err := json.Unmarshal(e.Payload, &about); err != nil {
			t.Fatal(err)
		}
		all = append(all, about)
	}
	return all
}

func (w *world) subjects(from int) (out []string) {
	for _, e := range w.events[from:] {
		out = append(out, e.Type+" "+e.Subject)
	}
	return out
}

// If an agent crashes again while the output of its first crash is being captured, both crashes keep their output.
func TestEachCrashKeepsItsOutput(t *testing.T) {
	w := newWorld()
	w.declare("a:max=1")
	w.advance(time.Second)
	w.stuck["capture:a:s1"] = true
	w.die("a", 3, "")
	w.die("a", 3, "")
	if n := len(w.crashes(t, "a")); n != 0 {
		t.Errorf("got %d crash events before the first crash's output was stored, want 0", n)
	}
	delete(w.stuck, "capture:a:s1")
	w.Step(effect.Wake{})
	all := w.crashes(t, "a")
	if len(all) != 2 {
		t.Fatalf("got %d crash events, want 2", len(all))
	}
	for i, about := range all {
		if about["output"] != "last words" || about["file"] != ".gc/crashes/x.ansi" {
			t.Errorf("crash %d: %v", i+1, about)
		}
	}
	if all[0]["session"] != "s1" || all[1]["session"] != "s2" {
		t.Errorf("sessions of the crashes: got %v, %v, want s1, s2",
			all[0]["session"], all[1]["session"])
	}
	if len(w.dead) != 0 {
		t.Errorf("unacknowledged exits: got %v, want none", w.dead)
	}
}

// The effects of a crash on other agents are recorded after the crash, even if capturing the output of the crashed
// agent takes a long time.
func TestAnEffectIsRecordedAfterItsCause(t *testing.T) {
	w := newWorld()
	w.declare("fam:strategy=rest_for_one", "kid:needs=fam")
	w.advance(time.Minute)
	from := len(w.events)
	w.stuck["capture:fam:s1"] = true
	w.die("fam", -1, "SIGKILL")
	if more := w.subjects(from); len(more) != 0 {
		t.Errorf("events before the crash is recorded: got %v, want none", more)
	}
	delete(w.stuck, "capture:fam:s1")
	w.Step(effect.Wake{})
	want := []string{"agent.crashed fam", "agent.stopped kid", "agent.started fam",
		"agent.started kid"}
	if got := w.subjects(from); !slices.Equal(got, want) {
		t.Errorf("recorded %v, want %v", got, want)
	}
}

// A list that was requested before an exit, and is received after it, does not bring the session back.
func TestExitDuringAList(t *testing.T) {
	w := newWorld()
	w.declare("a")
	w.advance(time.Minute)
	w.die("a", 3, "")
	w.advance(time.Second)
	w.floor.trials.late["list"] = true
	w.Step(effect.Tick{})
	delete(w.floor.trials.late, "list")
	from := len(w.events)
	w.die("a", 3, "")
	w.release(0)
	w.Step(effect.Tick{})
	if got := w.subjects(from); !slices.Equal(got, []string{"agent.crashed a"}) {
		t.Errorf("recorded %v, want one crash", got)
	}
}

// A hung capture delays the log only for a limited time.
func TestHungCaptureDelaysNothing(t *testing.T) {
	w := newWorld()
	w.declare("a", "b")
	w.advance(time.Minute)
	from := len(w.events)
	w.stuck["capture:a:s1"] = true
	w.die("a", 3, "")
	w.die("b", 0, "")
	w.advance(outputWait)
	want := []string{"agent.crashed a", "agent.started a", "agent.stopped b", "agent.started b"}
	if got := w.subjects(from); !slices.Equal(got, want) {
		t.Errorf("recorded %v, want %v", got, want)
	}
	if about := w.crashes(t, "a")[0]; about["output_error"] == nil {
		t.Errorf("crash event without output_error: %v", about)
	}
}

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
	past, newest := &effect.Inherited{}, slices.Clone(w.events)
	slices.Reverse(newest)
	past.SearchLog(newest)
	for _, id := range slices.Sorted(maps.Keys(w.ends)) {
		if first {
			past.Ends = append(past.Ends, w.ends[id])
		}
	}
	return past
}

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
			t.Errorf("exit %d: got %d end events, want 1: %v", code, n, w.log)
		}
		if len(w.dead) != 0 {
			t.Errorf("exit %d: the exit was not acknowledged", code)
		}
	}
}

// A start that is older than the searched part of the log is not recorded again.
func TestAnOldStartIsNotRecordedAgain(t *testing.T) {
	w := newWorld()
	w.declare("a")
	w.advance(time.Minute)
	w.declare("a", "b")
	w.events = slices.DeleteFunc(w.events, func(e events.Event) bool { return e.Subject == "a" })
	from := len(w.events)
	w.succeed()
	if got := w.subjects(from); len(got) != 0 {
		t.Errorf("recorded %v, want nothing", got)
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
		t.Errorf("got %d end events of s1, want 1: %v", n, w.log)
	}
}

// If a controller exits while the event of a crash waits for output, the crash is still recorded, even if the agent has
// restarted.
func TestCrashBeforeANewSessionIsRecorded(t *testing.T) {
	w := newWorld()
	w.declare("a", "b")
	w.advance(time.Minute)
	w.stuck["capture:a:s1"] = true
	w.die("a", 3, "")
	w.die("b", 0, "") // the event for b's exit is queued behind the event for a's crash
	if len(w.ends) != 2 || w.alive["a"] == nil || w.alive["b"] == nil {
		t.Fatalf("kept: %v", w.ends)
	}
	clear(w.stuck)
	w.succeed()
	w.advance(time.Second)
	if n := w.lives(); n["s1"] != 1 || n["s2"] != 1 {
		t.Errorf("end events by session: got %v, want one each: %v", n, w.log)
	}
	if all := w.crashes(t, "a"); len(all) != 1 || all[0]["output"] != "last words" {
		t.Errorf("the crash: %v", all)
	}
	if n := len(w.m.agents["a"].restart.history.Crashes); n != 1 {
		t.Errorf("got %d crashes, want 1", n)
	}
	if len(w.ends) != 0 {
		t.Errorf("files of saved exits remain: %v", w.ends)
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
		t.Errorf("got %d end events of s1, want 1: %v", n, w.log)
	}
}

// An exit is not recorded twice if the session first appears in a later list.
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
		t.Errorf("got %d end events of s1, want 1: %v", n, w.log)
	}
}

// While a holder is exiting, its session may be listed first as alive and later as lost. The exit is recorded only
// once.
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
		t.Errorf("got %d end events of s1, want 1: %v", n, w.log)
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
			if e.Message != "session lost: OOMKilled" ||
				!strings.Contains(string(e.Payload), `"reason":"OOMKilled"`) {
				t.Errorf("%s %s", e.Message, e.Payload)
			}
			return
		}
	}
	t.Error("no event records the exit")
}

// For any clock at the time of the write, no agent waits longer than its policy allows. No past event has a time in
// the future (L13). Saved histories are loaded unchanged.
func FuzzMemory(f *testing.F) {
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for _, ahead := range []time.Duration{-time.Hour, 0, time.Minute, 3 * 24 * time.Hour, 1 << 62} {
		content, err := json.Marshal(memory.HistoriesFile[map[string]effect.SavedAgent]{
			Version: memory.CrashHistoryVersion, City: "/app", Agents: map[string]effect.SavedAgent{
				"a": {Fingerprint: want("a").Spec.Fingerprint.Sum, State: city.Quarantined,
					Until: at.Add(ahead), Since: at.Add(ahead), Why: "x",
					History: restart.History{Crashes: []time.Time{at.Add(ahead), at,
						at.Add(-time.Minute)}, Streak: 3}, LastEnd: "s1"},
				"b": {Fingerprint: want("b").Spec.Fingerprint.Sum, State: city.Backoff,
					Until: at.Add(ahead), History: restart.History{Streak: -1}},
			}})
		if err != nil {
			continue // JSON cannot represent the year
		}
		f.Add(content)
	}
	f.Add([]byte(`{"version":1,"city":"/app","agents":null}`))
	f.Fuzz(func(t *testing.T, content []byte) {
		all, err := memory.DecodeHistories(content, "/app")
		if err != nil {
			return
		}
		w := newWorld()
		w.onDisk = true
		w.m.histories.fromFile = all
		w.declare("a", "b")
		for _, a := range w.m.order {
			if a.restart.until.Sub(w.now) > time.Hour || a.restart.kind == inBackoff &&
				a.restart.until.Sub(w.now) > 33*time.Second {
				t.Errorf("%s: got a wait until %s at %s", a.name, a.restart.until, w.now)
			}
			if a.since.After(w.now) || len(a.restart.history.Crashes) > a.want.Policy.MaxRestarts ||
				a.restart.history.Streak < 0 {
				t.Errorf("%s since %s: got %+v", a.name, a.since, a.restart.history)
			}
			for _, c := range a.restart.history.Crashes {
				if c.After(w.now) || w.now.Sub(c) >= time.Hour {
					t.Errorf("%s: got a crash at %s; the time is %s", a.name, c, w.now)
				}
			}
		}
		agents, err := w.m.histories.encode(w.m.histories.toSave)
		if err != nil {
			t.Fatal(err)
		}
		again := map[string]effect.SavedAgent{}
		if err := json.Unmarshal(agents, &again); err != nil {
			t.Fatal(err)
		}
		w.m.histories.fromFile.Agents = again
		w.m.histories.restoreAll(w.now)
		for _, a := range w.m.order {
			if !a.hasNoHistory() && a.restart.until.After(w.now) && !a.isSaved(true) {
				t.Errorf("%s: history is %+v, but saved as %+v",
					a.name, a.restart.history, a.restart.saved)
			}
		}
	})
}

// Restarts, the newest exit and the state's reason survive a hand-over. With a saved crash history, restarts and exits
// survive a crash of the controller.
func TestRestartsAndExitsOutliveTheController(t *testing.T) {
	for _, handOver := range []bool{true, false} {
		w := newWorld()
		w.onDisk = !handOver
		tell := func(line string) {
			t.Helper()
			if err := w.tell(strings.Fields(line)); err != nil {
				t.Fatal(err)
			}
		}
		tell("declare a b")
		tell("advance 10s")
		tell("exit a 3")
		tell("advance 10s")
		before := w.m.Snapshot(w.now)
		if handOver {
			tell("shutdown leave")
		}
		tell("successor")
		tell("advance 1s")
		was, _ := before.Agent("a")
		is, _ := w.m.Snapshot(w.now).Agent("a")
		if was.Restarts != 1 || is.Restarts != 1 || is.Exit == nil || is.Exit.Code != 3 || !is.Exit.At.Equal(was.Exit.At) {
			t.Errorf("hand-over %v: got %d restarts before and %d after, want 1 each; exit %+v",
				handOver, was.Restarts, is.Restarts, is.Exit)
		}
		if handOver && is.Reason != was.Reason {
			t.Errorf("the reason changed from %q to %q", was.Reason, is.Reason)
		}
		if n := len(was.Decisions); handOver && (len(is.Decisions) < n ||
			!slices.Equal(is.Decisions[:n], was.Decisions)) {
			t.Errorf("the decisions changed from %v to %v", was.Decisions, is.Decisions)
		}
		tell("exit a 4")
		tell("advance 10s")
		if is, _ = w.m.Snapshot(w.now).Agent("a"); is.Restarts != 2 || is.Exit.Code != 4 {
			t.Errorf("after another exit: got %d restarts, exit %+v", is.Restarts, is.Exit)
		}
	}
}

// If the configuration keeps an agent stopped, the agent's stop time survives when the controller hands over, crashes
// or stops. The stop time also survives a change to the agent's declaration.
func TestStoppedStatesOutliveTheController(t *testing.T) {
	for _, end := range []string{"shutdown leave", "shutdown", "advance 1s"} {
		for _, written := range []string{"", "write a:command=other,suspended=true b:problem=other c"} {
			w := newWorld()
			tell := func(line string) {
				t.Helper()
				if err := w.tell(strings.Fields(line)); err != nil {
					t.Fatal(err)
				}
			}
			tell("declare a b:problem=broken c")
			tell("advance 10s")
			tell("suspend a")
			tell("advance 1h")
			was := w.m.Snapshot(w.now)
			tell(end)
			if written != "" {
				tell(written)
			}
			tell("advance 1m")
			tell("successor")
			is := w.m.Snapshot(w.now)
			for name, state := range map[string]city.State{"a": city.Suspended, "b": city.Failed} {
				before, _ := was.Agent(name)
				after, _ := is.Agent(name)
				if after.State != state || !after.Since.Equal(before.Since) {
					t.Errorf("%s, %q: %s: got %s since %s, want %s since %s", end, written, name,
						after.State, after.Since, before.State, before.Since)
				}
			}
			tell("resume a")
			tell("advance 1s")
			if a, _ := w.m.Snapshot(w.now).Agent("a"); a.State != city.Running {
				t.Errorf("%s: a is %s", end, a.State)
			}
			if len(w.breach) > 0 {
				t.Error(w.breach)
			}
		}
	}
}

// An exit is marked as earlier once gcity has stopped a later session of the agent. The mark survives a restart of the
// controller. A new exit has no mark.
func TestAnExitBeforeAStopIsEarlier(t *testing.T) {
	w := newWorld()
	tell := func(line string, code int, earlier bool) {
		t.Helper()
		if err := w.tell(strings.Fields(line)); err != nil {
			t.Fatal(err)
		}
		a, _ := w.m.Snapshot(w.now).Agent("a")
		if code != 0 && (a.Exit == nil || a.Exit.Code != code || a.Exit.Earlier != earlier) {
			t.Errorf("%s: %+v", line, a.Exit)
		}
	}
	tell("declare a", 0, false)
	tell("advance 20s", 0, false)
	tell("exit a 3", 3, false)
	tell("advance 20s", 3, false)
	tell("restart a", 3, true)
	tell("shutdown leave", 3, true)
	tell("successor", 3, true)
	tell("restart a", 3, true)
	tell("exit a 4", 4, false)
}

// A hand-over keeps the latest exit and the number of restarts, also of an agent that is saved for another reason.
func TestHandOverKeepsRestarts(t *testing.T) {
	for agent, declared := range map[string]string{"a": "a", "w-1": "w:pool=1-2"} {
		w := newWorld()
		for _, line := range []string{"declare " + declared, "advance 20s", "exit " + agent + " 0", "advance 1h",
			"shutdown leave", "successor"} {
			if err := w.tell(strings.Fields(line)); err != nil {
				t.Fatal(err)
			}
		}
		if a, _ := w.m.Snapshot(w.now).Agent(agent); a.Restarts != 1 || a.Exit == nil {
			t.Errorf("%s: %d restarts, exit %+v", agent, a.Restarts, a.Exit)
		}
	}
}
