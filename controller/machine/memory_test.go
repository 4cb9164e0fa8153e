package machine

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"gcity/city"
	"gcity/controller/effect"
	"gcity/controller/memory"
	"gcity/restart"
)

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
			if a.restart.notBefore.Sub(w.now) > time.Hour || a.restart.hold == city.Backoff &&
				a.restart.notBefore.Sub(w.now) > 33*time.Second {
				t.Errorf("%s waits until %s, now is %s", a.name, a.restart.notBefore, w.now)
			}
			if a.since.After(w.now) || len(a.restart.history.Crashes) > a.want.Policy.MaxRestarts ||
				a.restart.history.Streak < 0 {
				t.Errorf("%s since %s: %+v", a.name, a.since, a.restart.history)
			}
			for _, c := range a.restart.history.Crashes {
				if c.After(w.now) || w.now.Sub(c) >= time.Hour {
					t.Errorf("%s has crashed at %s, now is %s", a.name, c, w.now)
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
			if !a.hasNoHistory() && a.restart.notBefore.After(w.now) && !a.isSaved(true) {
				t.Errorf("%s is %+v, written as %+v", a.name, a.restart.history, a.restart.saved)
			}
		}
	})
}

// The number of restarts, the newest exit and the reason of a session survive a hand-over. After a crash of the
// controller, restarts and exits of agents with a saved crash history survive.
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
			t.Errorf("hand-over %v: before %d restarts, then %d, exit %+v", handOver, was.Restarts, is.Restarts, is.Exit)
		}
		if handOver && is.Reason != was.Reason {
			t.Errorf("the reason was %q, and is %q", was.Reason, is.Reason)
		}
		if n := len(was.Decisions); handOver && (len(is.Decisions) < n ||
			!slices.Equal(is.Decisions[:n], was.Decisions)) {
			t.Errorf("the decisions were %v, and are %v", was.Decisions, is.Decisions)
		}
		tell("exit a 4")
		tell("advance 10s")
		if is, _ = w.m.Snapshot(w.now).Agent("a"); is.Restarts != 2 || is.Exit.Code != 4 {
			t.Errorf("after another exit: %d restarts, exit %+v", is.Restarts, is.Exit)
		}
	}
}

// An agent that its configuration keeps stopped has been stopped for the same time under the next controller, also
// after a hand-over, a crash of the controller or a stop of the city, and if its declaration has changed.
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
					t.Errorf("%s, %q: %s is %s since %s, and was %s since %s", end, written, name,
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

// The exit of an agent is marked as the exit of an earlier session after gcity has stopped a later one, also under the
// next controller. The next exit is not marked.
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
