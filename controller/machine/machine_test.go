package machine

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"gcity/city"
	"gcity/config"
	"gcity/controller/effect"
	"gcity/events"
	"gcity/internal/wallclock"
	"gcity/session"
)

func (w *world) told(kind string) int {
	n := 0
	for _, e := range w.events {
		if e.Type == kind {
			n++
		}
	}
	return n
}

// If an agent is suspended while it stops for a restart, the restart command gets an error.
func TestRestartDuringAStopIsAnswered(t *testing.T) {
	w := newWorld()
	w.declare("a")
	w.advance(0)
	w.stuck["agent:a"] = true
	w.command(1, city.Restart{Agent: "a"})
	w.command(2, city.Stop{Agent: "a"})
	clear(w.stuck)
	w.Step(effect.Stopped{Agent: "a"})
	if a, ok := w.replies[1]; !ok || a.Err == nil || a.Err.Code != city.Conflict {
		t.Errorf("reply to the restart: got %v, want a conflict", a)
	}
	if a, ok := w.replies[2]; !ok || a.Err != nil {
		t.Errorf("reply to the stop: got %v", a)
	}
}

// A crash whose output is still being captured is recorded before the controller exits.
func TestLeavingReportsACrash(t *testing.T) {
	w := newWorld()
	w.declare("a")
	w.advance(0)
	w.stuck["capture:a:s1"] = true
	w.die("a", 3, "")
	w.Step(effect.Shutdown{Leave: true})
	if n := w.told(events.AgentCrashed); n != 1 {
		t.Errorf("got %d crashes in the log, want 1", n)
	}
}

// If a city stops during the capture of a crash, it ends right after the capture, not at the next patrol.
func TestStopDoesNotStallOnACapture(t *testing.T) {
	w := newWorld()
	w.declare("a:restart=never")
	w.advance(time.Second)
	w.stuck["capture:a:s1"] = true
	w.die("a", 3, "")
	w.Step(effect.Shutdown{})
	clear(w.stuck)
	w.Step(effect.Wake{})
	if w.m.ending != ended {
		t.Error("the city has not stopped, although nothing is in flight")
	}
}

// If the sessions cannot be listed, a stopping city keeps waiting for the stops in flight, and lists the sessions
// again.
func TestOneFailedLookDoesNotEndTheCity(t *testing.T) {
	w := newWorld()
	w.declare("a")
	w.advance(time.Second)
	w.stuck["agent:a"] = true
	w.blind = "too many open files"
	w.Step(effect.Shutdown{})
	if w.m.ending == ended {
		t.Fatal("the city stopped before the stop of agent a ended")
	}
	clear(w.stuck)
	w.Step(effect.Wake{})
	if w.m.ending == ended {
		t.Fatal("the city stopped, although agent a might be running")
	}
	w.blind = ""
	w.advance(2 * stopRetry)
	if w.m.ending != ended {
		t.Error("the city has not stopped, although no session is left")
	}
}

func TestStopThatGivesUpIsAnError(t *testing.T) {
	w := newWorld()
	w.declare("a")
	w.advance(0)
	w.stuck["agent:a"] = true
	w.command(1, city.Shutdown{})
	for _, f := range w.m.GiveUpAgents(w.now) {
		if r, ok := f.(effect.Record); ok && len(r.Replies) == 1 && r.Replies[0].Err != nil {
			return
		}
	}
	t.Error("no reply to the shutdown has an error")
}

// A requested exit is not a crash, even if the start was canceled or the stop timed out.
func TestRequestedExitsAreNotCrashes(t *testing.T) {
	w := newWorld()
	w.declare("a:restart=never")
	w.stuck["agent:a"] = true
	w.advance(0)
	w.feed(effect.Command{ID: 1, Cmd: city.Restart{Agent: "a"}})
	w.pending = nil
	w.Step(effect.Exited{Exit: session.Exit{Agent: "a", ID: "s9", Code: -1, Signal: "SIGKILL",
		Asked: true, At: w.now}})
	clear(w.stuck)
	w.Step(effect.Started{Agent: "a", Err: context.Canceled})
	w.advance(time.Minute)
	if a, ok := w.replies[1]; !ok || a.Err != nil || w.alive["a"] == nil {
		t.Errorf("reply to the restart: got %v", a)
	}

	w.stuck["agent:a"] = true
	w.feed(effect.Command{ID: 2, Cmd: city.Restart{Agent: "a"}})
	w.pending = nil
	clear(w.stuck)
	w.Step(effect.Stopped{Agent: "a", Err: context.DeadlineExceeded})
	id := w.alive["a"].ID
	delete(w.alive, "a")
	w.Step(effect.Exited{Exit: session.Exit{Agent: "a", ID: id, Code: -1, Signal: "SIGINT",
		Asked: true, At: w.now}})
	if n := w.told(events.AgentCrashed); n != 0 {
		t.Errorf("got %d crashes in the log, want 0", n)
	}
}

// While an agent is quarantined, the reason for its state still contains the error of the failed start (L14).
func TestQuarantineOfAFailingStartSaysWhy(t *testing.T) {
	w := newWorld()
	w.declare("a:max=1")
	w.fails["a"] = `session_setup "false" failed with exit code 1`
	w.advance(time.Minute)
	if got := w.show(); !slices.Contains(got,
		`a is quarantined: crashed 2× in 0s, last: start failed: session_setup "false" failed with exit code 1 (until 1h0m0s)`) {
		t.Errorf("shown: %q", got)
	}
}

// A restart that an agent requests happens regardless of the agent's restart policy.
func TestRequestedRestartIsDoneOnce(t *testing.T) {
	for _, policy := range []string{"always", "on-failure", "never"} {
		w := newWorld()
		w.declare("a:restart=" + policy)
		w.advance(time.Second)
		w.command(1, city.RequestRestart{Agent: "a"})
		w.advance(time.Minute)
		if w.alive["a"] == nil || w.seq != 2 {
			t.Errorf("%s: got %d starts: %v", policy, w.seq, w.show())
		}
	}
}

// The exit of an old session is acknowledged even if that session had a different name. The exit does not end the
// current session or count as a crash (L11).
func TestOldExitUnderAnotherName(t *testing.T) {
	w := newWorld()
	w.declare("a")
	w.advance(time.Second)
	old := *w.alive["a"]
	old.Name, old.ID, old.Alive = "earlier-a", "s0", false
	old.Exit = &session.Exit{Name: old.Name, Agent: "a", ID: "s0", Code: 3, At: w.now}
	w.dead["s0"] = old
	w.advance(time.Minute)
	if w.seq != 1 || w.told(events.AgentCrashed) != 0 || len(w.dead) != 0 {
		t.Errorf("got %d starts, %d crashes, unacknowledged exits %v", w.seq,
			w.told(events.AgentCrashed), w.dead)
	}
}

// An agent whose drain was canceled has been running since the start of its session.
func TestCanceledDrainKeepsTheStart(t *testing.T) {
	w := newWorld()
	w.declare("a")
	w.advance(time.Minute)
	w.command(1, city.Drain{Agent: "a"})
	w.advance(time.Second)
	w.command(2, city.Undrain{Agent: "a"})
	w.advance(time.Second)
	a, _ := w.m.Snapshot(w.now).Agent("a")
	if a.State != city.Running || !a.Since.Equal(w.alive["a"].Started) {
		t.Errorf("got %s since %v; the session started at %v",
			a.State, a.Since, w.alive["a"].Started)
	}
}

// A configuration change does not restart an agent to which a user has attached after the last list (L6).
func TestAnEditLooksForViewersFirst(t *testing.T) {
	w := newWorld()
	w.declare("a")
	w.advance(10 * time.Second) // the next patrol is not due yet
	w.alive["a"].Attached = 1
	w.declare("a:command=new")
	if w.seq != 1 {
		t.Fatalf("restarted while a user was attached: %v", w.show())
	}
	w.alive["a"].Attached = 0
	w.advance(time.Minute)
	if w.seq != 2 {
		t.Errorf("not restarted after the user detached: %v", w.show())
	}
}

// If a list fails after a newer list has succeeded, the failure is ignored. Running agents continue (L11).
func TestLateFailureStopsNoAgent(t *testing.T) {
	w := newWorld()
	w.declare("a")
	w.advance(time.Second)
	w.Step(effect.ListedLate{Step: w.m.stepNumber, Provider: w.alive["a"].Provider,
		Err: context.DeadlineExceeded})
	w.advance(time.Minute)
	if n := w.told(events.AgentStarted); n != 1 {
		t.Errorf("got %d start events, want 1", n)
	}
	if n := w.told(events.AgentCrashed) + w.told(events.AgentStopped); n != 0 {
		t.Errorf("got %d end events, want 0", n)
	}
}

// The machine requests a listener only when the configured address changes. The snapshot shows the listener's state.
func TestEntry(t *testing.T) {
	m, now := newMachine(), time.Now()
	asked := func(in effect.Input) (all []config.API) {
		for _, f := range m.Step(now, in) {
			if d, ok := f.(effect.Listen); ok {
				all = append(all, d.Want)
			}
		}
		return all
	}
	some := config.API{Port: 8080, Bind: "127.0.0.1", Hosts: []string{"a"}}
	with := func(revision string, api config.API) effect.Input {
		return effect.Loaded{Revision: revision,
			Conf: &effect.Configuration{Name: "app", Revision: revision, API: api}}
	}
	asked(with("1", config.API{})) // New also loads the first configuration before the loop starts
	if got := asked(effect.Tick{}); len(got) != 0 {
		t.Errorf("without an API: got %+v, want no request", got)
	}
	m.Step(now, effect.Listed{})
	if got := asked(with("2", some)); len(got) != 1 || got[0].Port != 8080 {
		t.Errorf("asked for %+v", got)
	}
	if got := append(asked(with("3", some)), asked(effect.Tick{})...); len(got) != 0 {
		t.Errorf("unchanged API: got %+v, want no request", got)
	}
	m.step.Changed = false
	m.Step(now, effect.ListenerChanged{Listener: city.Listener{Problem: "taken"}})
	if s := m.Snapshot(now); !m.step.Changed || s.API != "" || len(s.Degraded) != 1 ||
		s.Degraded[0] != "taken" {
		t.Errorf("%v %q %q", m.step.Changed, s.API, s.Degraded)
	}
	m.Step(now, effect.ListenerChanged{Listener: city.Listener{Address: "127.0.0.1:8080"}})
	if s := m.Snapshot(now); s.API != "127.0.0.1:8080" || len(s.Degraded) != 0 {
		t.Errorf("%q %q", s.API, s.Degraded)
	}
	if got := asked(with("4", config.API{})); len(got) != 1 || got[0].Port != 0 {
		t.Errorf("asked for %+v", got)
	}
}

// The first step requests the listener of the first configuration.
func TestDoorAtStart(t *testing.T) {
	m, now := newMachine(), time.Now()
	m.Step(now, effect.Loaded{Revision: "1", Conf: &effect.Configuration{Name: "app", Revision: "1",
		API: config.API{Port: 1}}})
	asked := 0
	for range 3 {
		for _, f := range m.Step(now, effect.Tick{}) {
			if _, ok := f.(effect.Listen); ok {
				asked++
			}
		}
	}
	if asked != 1 {
		t.Errorf("asked %d times", asked)
	}
}

// Small changes in resource usage do not change the displayed values.
func TestFiguresChangeInSteps(t *testing.T) {
	w := newWorld()
	w.m.gauge.able = true
	w.declare("a")
	w.advance(0)
	u := session.Usage{CPU: 0, RSS: 10_000_000, Procs: 1}
	for i, c := range []struct {
		cpu     time.Duration // added to the previous value
		rss     int64
		changes bool
	}{
		{0, 0, true},
		{0, 0, false},
		{4 * time.Millisecond, 0, false}, // 0.04 % of 10 s
		{6 * time.Millisecond, 0, true},
		{9 * time.Millisecond, 99_999, false},
		{9 * time.Millisecond, 1, true},
		{time.Second, 0, true},
	} {
		u.CPU, u.RSS = u.CPU+c.cpu, u.RSS+c.rss
		w.uses = map[string]session.Usage{"a": u}
		w.now = w.now.Add(10 * time.Second)
		w.m.step.Changed = false
		w.Step(effect.SnapshotsWatched{})
		if w.m.step.Changed != c.changes {
			t.Errorf("sample %d, %+v: snapshot changed: %t, want %t: %+v", i, u, w.m.step.Changed,
				c.changes,
				w.m.agents["a"].usage())
		}
	}
	if got := w.m.agents["a"].usage().CPU; got != 10 {
		t.Errorf("CPU usage of 1s in 10s: got %v %%, want 10 %%", got)
	}
}

// Every snapshot calls noRestart for each agent. For an agent without a session, the call allocates nothing.
func TestTheRefusalOfAWaitingAgentIsCheap(t *testing.T) {
	w := newWorld()
	w.declare("db:suspended", "app:needs=db")
	a := w.m.agents["app"]
	if a.state != city.Waiting {
		t.Fatalf("app is %s", a.state)
	}
	if n := testing.AllocsPerRun(10, func() { w.m.commands.noRestart(a) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// BenchmarkMeasured takes one sample of an idle city. Target: no allocation.
func BenchmarkMeasured(b *testing.B) {
	for _, n := range []int{100, 1000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			w := newWorld()
			w.uses = map[string]session.Usage{}
			names := make([]string, n)
			for i := range names {
				names[i] = fmt.Sprintf("agent-%04d", i)
				w.uses[names[i]] = session.Usage{CPU: time.Second, RSS: 5 << 20, Procs: 2}
			}
			w.m.gauge.able = true
			w.declare(names...)
			w.advance(time.Minute)
			w.m.gauge.measured(w.measure().(effect.Measured))
			in := w.measure().(effect.Measured)
			w.m.step.Changed = false
			b.ReportAllocs()
			for b.Loop() {
				w.now = w.now.Add(30 * time.Second)
				in.At = w.now
				w.m.Step(w.now, in)
			}
			if w.m.step.Changed {
				b.Fatal("the snapshot changed")
			}
		})
	}
}

// A snapshot computes the status of each dependency once, and the next snapshot computes it again.
func TestSnapshotsRememberDependencies(t *testing.T) {
	w := newWorld()
	w.declare("app:needs=db", "db:pool=1-1")
	next := func() string {
		for _, a := range w.m.Snapshot(w.now).Agents {
			if a.Name == "app" {
				return a.Next.What
			}
		}
		return ""
	}
	if got := next(); got != "starts when its dependencies are running" {
		t.Errorf("app %s", got)
	}
	forget := w.m.deps.remember()
	if _, up := w.m.deps.status("db"); up {
		t.Fatal("db is up")
	}
	w.m.pools.Get("db").Desired = 0 // a pool of size 0 does not block its dependents
	if _, up := w.m.deps.status("db"); up {
		t.Error("the status is computed twice")
	}
	forget()
	if got := next(); got != "starts when the wait is over" {
		t.Errorf("app %s", got)
	}
}

// A user who typed before the clock was set back does not count as typing until that time comes again.
func TestTypedBeforeTheClockWasSetBack(t *testing.T) {
	now := time.Now()
	for ahead, want := range map[time.Duration]bool{-time.Second: true, time.Second: true,
		-time.Hour: false, time.Hour: false} {
		s := sessionInfo{life: session.Status{TypedAt: now.Add(ahead)}}
		if got := s.busy(now); got != want {
			t.Errorf("%v: got %t, want %t", ahead, got, want)
		}
	}
}

// Deadlines are monotonic. After a sleep of the computer, or after the clock was set, clients and the next controller
// receive them as times of the present wall clock (L13).
func TestDeadlinesFollowTheWallClock(t *testing.T) {
	for _, by := range []time.Duration{8 * time.Hour, -8 * time.Hour} {
		w := newWorld()
		w.now = time.Now()
		w.begun, w.patrol = w.now, w.now
		w.onDisk = true
		w.declare("q:max=1", "d")
		w.Step(effect.Tick{})
		w.exit("q", session.Exit{Code: 3})
		w.exit("q", session.Exit{Code: 3})
		w.command(1, city.Drain{Agent: "d"})
		w.now = w.now.Add(time.Minute)
		w.Step(effect.Wake{}) // saves the histories
		w.m.Published()
		before := w.m.Snapshot(w.now)
		w.now = wallclock.Shift(t, w.now.Add(time.Minute), by)
		w.Step(effect.Wake{})
		if !w.m.LoopState().Changed {
			t.Errorf("%v: the snapshot is not published", by)
		}
		shown := w.m.Snapshot(w.now)
		for i, a := range shown.Agents {
			was := before.Agents[i]
			if a.Until == nil || !a.Until.Equal(*was.Until) {
				t.Fatalf("%v: %s is %s until %v, want %v", by, a.Name, a.State, a.Until, was.Until)
			}
			want := was.Until.Round(0).Add(by)
			for what, at := range map[string]*time.Time{"until": a.Until, "next": a.Next.At} {
				if !at.Round(0).Equal(want) {
					t.Errorf("%v: %s, %s: got %v, want %v", by, a.Name, what, at, want)
				}
			}
		}
		d, _ := shown.Agent("d")
		if !d.Drain.Deadline.Round(0).Equal(d.Until.Round(0)) {
			t.Errorf("%v: deadline of the drain: got %v, want %v", by, d.Drain.Deadline, d.Until)
		}
		w.succeed() // after a crash of the controller
		w.leftFor(t, "q", 58*time.Minute)
		w.Step(effect.Shutdown{Leave: true})
		w.succeed()
		w.leftFor(t, "q", 58*time.Minute)
	}
}

func (w *world) leftFor(t *testing.T, name string, want time.Duration) {
	t.Helper()
	a, _ := w.m.Snapshot(w.now).Agent(name)
	if a.Until == nil || a.Until.Round(0).Sub(w.now.Round(0)) != want {
		t.Errorf("at %v, %s is %s until %v, want another %v", w.now, name, a.State, a.Until, want)
	}
}
