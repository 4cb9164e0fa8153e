package controller

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"gcity/agent"
	"gcity/city"
	"gcity/config"
	"gcity/controller/effect"
	"gcity/controller/perform"
	"gcity/events"
	"gcity/session/fake"
)

// town is a city with simulated sessions. The real loop runs it in a synctest bubble.
type town struct {
	*Controller
	t     *testing.T
	dir   string
	fake  *fake.Provider
	poke  chan struct{}
	ended chan error
}

func newTown(t *testing.T, toml string, with ...func(*Options)) *town {
	t.Helper()
	w := &town{t: t, dir: t.TempDir(), fake: fake.New(), poke: make(chan struct{}, 1),
		ended: make(chan error, 1)}
	w.write(toml)
	cfg, err := config.Load(w.dir)
	if err != nil {
		t.Fatal(err)
	}
	log, err := events.Open(filepath.Join(w.dir, ".gc"), events.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { log.Close() })
	o := Options{
		Dir: w.dir, Mode: "headless", Version: "test", Provider: w.fake, Log: log, ConfigChanged: w.poke,
		Host: agent.Host{Environ: []string{"PATH=/bin"}, BinDir: "/gc/bin"}, Pulse: time.Hour,
	}
	for _, change := range with {
		change(&o)
	}
	w.Controller, err = New(o, cfg)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func (w *town) write(toml string) {
	w.t.Helper()
	if err := os.WriteFile(filepath.Join(w.dir, "city.toml"), []byte(toml), 0o644); err != nil {
		w.t.Fatal(err)
	}
}

func (w *town) begin() (end func()) {
	ctx, cancel := context.WithCancel(context.Background())
	go func() { w.ended <- w.Run(ctx) }()
	return func() {
		w.t.Helper()
		cancel()
		if err := <-w.ended; err != nil {
			w.t.Errorf("Run: %v", err)
		}
	}
}

// If the loop hangs and its inbox is full, Hurry and SetMode return.
func TestHurryDoesNotWaitForTheLoop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newTown(t, "[[agents]]\nname = \"a\"\nstart_command = \"run a\"\n")
		for range cap(w.inbox) { // no loop is running
			w.inbox <- effect.Tick{}
		}
		w.Hurry()
		w.Hurry()
		w.SetMode("headless")
	})
}

func (w *town) state(name string) string {
	s, err := w.Snapshot(context.Background())
	if err != nil {
		w.t.Fatal(err)
	}
	a, ok := s.Agent(name)
	if !ok {
		return "absent"
	}
	return string(a.State)
}

func (w *town) types() string {
	all, err := w.History(context.Background(), events.Query{Forward: true, Limit: 1000})
	if err != nil {
		w.t.Fatal(err)
	}
	var out []string
	for _, e := range all {
		out = append(out, strings.TrimSpace(e.Type+" "+e.Subject))
	}
	return strings.Join(out, "\n")
}

// expect compares the log with want, separately for each subject. Concurrent events of two agents have no fixed
// order.
func (w *town) expect(want ...string) {
	w.t.Helper()
	got := strings.Split(w.types(), "\n")
	bySubject := func(a, b string) int {
		_, x, _ := strings.Cut(a, " ")
		_, y, _ := strings.Cut(b, " ")
		return strings.Compare(x, y)
	}
	slices.SortStableFunc(got, bySubject)
	slices.SortStableFunc(want, bySubject)
	if !slices.Equal(got, want) {
		w.t.Errorf("the log says:\n%s\nwant:\n%s", strings.Join(got, "\n"),
			strings.Join(want, "\n"))
	}
}

// The loop notices that the program was suspended, even if the monotonic clock stood still (L13).
func TestAStallIsNoticed(t *testing.T) {
	now := time.Now()
	for name, tt := range map[string]struct {
		since  time.Duration // by the monotonic clock
		beyond time.Duration // how much further the wall clock advanced
		want   bool
	}{
		"on time":                     {time.Minute, 0, false},
		"suspended":                   {time.Minute + 6*time.Second, 0, true},
		"asleep":                      {time.Second, 8 * time.Hour, true},
		"the clock was adjusted":      {time.Second, time.Second, false},
		"the clock was set back":      {time.Second, -time.Hour, false},
		"the clock was set back late": {time.Hour, -2 * time.Hour, true},
	} {
		l := &loop{now: now.Add(-tt.since), next: now.Add(time.Minute - tt.since)}
		l.wall = l.now.Round(0).Add(-tt.beyond)
		if got := l.hasStalled(now); got != tt.want {
			t.Errorf("%s: got %t", name, got)
		}
	}
	if (&loop{}).hasStalled(now) {
		t.Error("before the first iteration: got true")
	}
}

const two = `
[[agents]]
name = "a"
start_command = "run a"
[[agents]]
name = "b"
start_command = "run b"
`

// The whole sequence works: start, exit, restart without a patrol, and stop (L9, L10).
func TestRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newTown(t, two)
		end := w.begin()
		synctest.Wait()
		if s := w.state("a"); s != "running" {
			t.Fatalf("a is %s", s)
		}
		w.fake.Crash("a", 3, "")
		synctest.Wait() // no time passes, so the restart needs no patrol
		if n := w.fake.Started("a"); n != 2 {
			t.Errorf("starts of a: got %d, want 2", n)
		}
		end()
		w.expect("controller.started", "agent.started a", "agent.started b", "agent.crashed a",
			"agent.started a",
			"agent.stopped a", "agent.stopped b", "controller.stopped")
		all, err := w.fake.List(t.Context())
		if err != nil || len(all) != 0 {
			t.Errorf("left behind: got %v, %v", all, err)
		}
	})
}

// The last output of a crashed agent is stored in the event and in a file.
func TestCrashKeepsTheLastOutput(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newTown(t, two)
		defer w.begin()()
		synctest.Wait()
		for i := range perform.CrashFiles + 3 {
			if _, err := w.Do(t.Context(), city.Nudge{Agent: "a",
				Text: fmt.Sprintf("last words %d", i)}); err != nil {
				t.Fatal(err)
			}
			w.fake.Crash("a", 1, "")
			time.Sleep(time.Hour) // longer than any backoff
			synctest.Wait()
		}
		all, err := w.History(t.Context(), events.Query{Types: []string{events.AgentCrashed},
			Limit: 1})
		if err != nil || len(all) != 1 || !strings.Contains(string(all[0].Payload),
			"last words 12") {
			t.Errorf("the event: got %v, %v", all, err)
		}
		files, err := perform.CrashList(perform.CrashDir(w.dir, "a"))
		if err != nil || len(files) != perform.CrashFiles {
			t.Fatalf("got %d files, %v", len(files), err)
		}
		raw, err := os.ReadFile(files[len(files)-1])
		if err != nil || string(raw) != "last words 12" {
			t.Errorf("newest file: got %q, %v", raw, err)
		}
	})
}

// An invalid configuration changes nothing, five quick saves cause one reload, and only changed agents restart
// (L6).
func TestReload(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newTown(t, two)
		defer w.begin()()
		synctest.Wait()
		w.write("[[agents]\n")
		w.poke <- struct{}{}
		synctest.Wait()
		_, err := w.Do(t.Context(), city.Reload{})
		var refused *city.Error
		if !errors.As(err, &refused) || refused.Code != city.Invalid ||
			!strings.Contains(refused.Message, "city.toml:1") {
			t.Errorf("Reload of a broken file: got %v", err)
		}
		w.write(strings.Replace(two, "run b", "run other", 1))
		for range 5 {
			select {
			case w.poke <- struct{}{}:
			default:
			}
			synctest.Wait()
		}
		if a, b := w.fake.Started("a"), w.fake.Started("b"); a != 1 || b != 2 {
			t.Errorf("starts: got %d of a and %d of b, want 1 and 2", a, b)
		}
		w.expect("controller.started", "agent.started a", "agent.started b",
			"controller.config_rejected",
			"controller.config_reloaded", "agent.stopped b", "agent.started b")
	})
}

func TestRenameIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newTown(t, "[workspace]\nname = \"one\"\n"+two)
		defer w.begin()()
		synctest.Wait()
		w.write("[workspace]\nname = \"two\"\n" + two)
		if _, err := w.Do(t.Context(), city.Reload{}); err == nil ||
			!strings.Contains(err.Error(), "the name of a running city cannot change") {
			t.Errorf("answered with %v", err)
		}
	})
}

// Suspending an agent changes only the agent's setting in the file and keeps comments. Resuming restores the file.
func TestSuspendAndResume(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newTown(t, "# my city\n"+two)
		defer w.begin()()
		synctest.Wait()
		for _, c := range []struct {
			cmd   city.Command
			state string
		}{
			{city.Suspend{Agent: "a"}, "suspended"}, {city.Resume{Agent: "a"}, "running"},
			{city.Stop{Agent: "a"}, "suspended"}, {city.Resume{Agent: "a"}, "running"},
			{city.Suspend{}, "suspended"}, {city.Resume{}, "running"},
		} {
			if _, err := w.Do(t.Context(), c.cmd); err != nil {
				t.Fatal(c.cmd.Verb(), err)
			}
			synctest.Wait()
			if s := w.state("a"); s != c.state {
				t.Errorf("state of a after %s: got %s, want %s", c.cmd.Verb(), s, c.state)
			}
		}
		data, err := os.ReadFile(filepath.Join(w.dir, "city.toml"))
		if err != nil || !strings.HasPrefix(string(data), "# my city\n") {
			t.Errorf("the file now:\n%s", data)
		}
	})
}

// Shutdown{Leave} ends the controller and stops no agent. The next controller adopts the agents and logs only its own
// start (L11).
func TestLeaveAndAdopt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newTown(t, two)
		w.begin()
		synctest.Wait()
		r, err := w.Do(t.Context(), city.Shutdown{Leave: true})
		if err != nil || r.Seq == 0 {
			t.Fatalf("%+v, %v", r, err)
		}
		if err := <-w.ended; err != nil {
			t.Fatal(err)
		}
		cfg, err := config.Load(w.dir)
		if err != nil {
			t.Fatal(err)
		}
		w.Controller, err = New(w.o, cfg)
		if err != nil {
			t.Fatal(err)
		}
		end := w.begin()
		synctest.Wait()
		if w.fake.Started("a") != 1 || w.state("a") != "running" {
			t.Errorf("agent a: got %d starts, state %s, want 1, running",
				w.fake.Started("a"), w.state("a"))
		}
		w.expect("controller.started", "agent.started a", "agent.started b", "controller.stopped",
			"controller.started")
		end()
	})
}

// An exit whose event cannot be written is not acknowledged, so the next controller records it. A restart of the agent
// does not lose it.
func TestExitIsNotLostWhileTheLogFails(t *testing.T) {
	for _, restart := range []string{"never", "always"} {
		t.Run(restart, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				full, err := events.Open(t.TempDir(), events.Options{
					WriteError: errors.New("disk full")})
				if err != nil {
					t.Fatal(err)
				}
				w := newTown(t, "[[agents]]\nname = \"a\"\nstart_command = \"run a\"\nrestart = \""+
					restart+"\"\n")
				working := w.o.Log
				w.reopen(full)
				w.begin()
				synctest.Wait()
				w.fake.Crash("a", 9, "")
				time.Sleep(time.Hour)
				synctest.Wait()
				if _, err := w.Do(t.Context(), city.Shutdown{Leave: true}); err != nil {
					t.Fatal(err)
				}
				if err := <-w.ended; err != nil {
					t.Fatal(err)
				}
				full.Close()
				w.reopen(working)
				defer w.begin()()
				synctest.Wait()
				if n := strings.Count(w.types(), "agent.crashed a"); n != 1 {
					t.Errorf("got %d crash events, want 1:\n%s", n, w.types())
				}
			})
		})
	}
}

func (w *town) reopen(log *events.Log) {
	w.t.Helper()
	cfg, err := config.Load(w.dir)
	if err != nil {
		w.t.Fatal(err)
	}
	w.o.Log = log
	if w.Controller, err = New(w.o, cfg); err != nil {
		w.t.Fatal(err)
	}
}

// In one-shot mode, each agent is started once and not restarted.
func TestSettle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newTown(t, two)
		w.fake.Fail("b", errors.New("no such folder"))
		if err := w.RunOnce(t.Context()); err != nil {
			t.Fatal(err)
		}
		if w.fake.Started("a") != 1 || w.state("a") != "running" || w.state("b") != "failed" {
			t.Errorf("a is %s, b is %s", w.state("a"), w.state("b"))
		}
		w.expect("agent.started a", "agent.start_failed b")
	})
}

// A command gets its reply when the action is complete. The reply contains the sequence number of the action's event. A
// rejection says what to do instead.
func TestCommands(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newTown(t, two)
		end := w.begin()
		synctest.Wait()
		r, err := w.Do(t.Context(), city.Restart{Agent: "a"})
		if err != nil {
			t.Fatal(err)
		}
		proof, err := w.History(t.Context(), events.Query{After: r.Seq - 1, Limit: 1})
		if err != nil || len(proof) != 1 || proof[0].Type != events.AgentStarted ||
			proof[0].Subject != "a" {
			t.Errorf("event about the restart: got %v, %v", proof, err)
		}
		for cmd, code := range map[city.Command]city.Code{
			city.Restart{Agent: "nobody"}: city.NotFound,
			city.Release{Agent: "a"}:      city.Conflict,
		} {
			_, err := w.Do(t.Context(), cmd)
			var refused *city.Error
			if !errors.As(err, &refused) || refused.Code != code {
				t.Errorf("%s %s: got %v, want %s", cmd.Verb(), cmd.Target(), err, code)
			}
		}
		if _, err := w.Do(t.Context(), city.Emit{Event: events.Event{Type: "no good",
			Actor: "me"}}); err == nil {
			t.Error("an event with an invalid type was accepted")
		}
		end()
		if _, err := w.Do(t.Context(), city.Reload{}); err == nil {
			t.Error("a stopped controller accepted a command")
		}
	})
}

// slow makes patrols rare enough to simulate thirty days in a test.
const slow = "[daemon]\npatrol_interval = \"1h\"\n"

// After thirty days of random crashes, lost sessions, failed starts and edits, the laws also hold in the loop.
// Nothing leaks, and all agents run again when the faults end (L1–L8, L10).
func TestThirtyDays(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	synctest.Test(t, func(t *testing.T) {
		w := newTown(t, slow+two)
		end := w.begin()
		rnd := rand.New(rand.NewPCG(seed, seed))
		begun := time.Now()
		for time.Since(begun) < 30*24*time.Hour {
			time.Sleep(time.Duration(rnd.ExpFloat64() * float64(2*time.Hour)))
			synctest.Wait()
			w.misfortune(rnd)
			s, err := w.Snapshot(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			for _, a := range s.Agents { // every state has a reason and a start (L14)
				if a.Reason == "" || a.Since.IsZero() || a.State == "" {
					t.Fatalf("agent %+v: Reason, Since or State is empty", a)
				}
			}
		}
		w.fake.Fail("a", nil)
		w.fake.Blind(nil)
		w.write(slow + two)
		time.Sleep(3 * time.Hour)
		synctest.Wait()
		if w.state("a") != "running" || w.state("b") != "running" { // the city is stable again (L7)
			t.Errorf("a is %s, b is %s", w.state("a"), w.state("b"))
		}
		before := w.Controller.o.Log.Last()
		time.Sleep(24 * time.Hour)
		if after := w.Controller.o.Log.Last(); after != before { // a stable city causes no events (L5)
			t.Errorf("got %d events on a quiet day, want 0", after-before)
		}
		end()
		w.gapless()
	})
	goleak.VerifyNone(t, goleak.IgnoreCurrent())
}

func (w *town) misfortune(rnd *rand.Rand) {
	name := []string{"a", "b"}[rnd.IntN(2)]
	switch rnd.IntN(8) {
	case 0, 1, 2:
		w.fake.Crash(name, rnd.IntN(3), "")
	case 3:
		w.fake.Vanish(name)
	case 4:
		w.fake.Fail("a", map[bool]error{true: errors.New("no")}[rnd.IntN(2) == 0])
	case 5:
		w.fake.Blind(map[bool]error{true: errors.New("cannot see")}[rnd.IntN(3) == 0])
	case 6:
		w.write(slow + strings.Replace(two, "run b", fmt.Sprintf("run b%d", rnd.IntN(3)), 1))
	case 7:
		w.fake.Viewers(name, rnd.IntN(2))
	}
}

// gapless checks that the sequence numbers in the log have no gaps (L9).
func (w *town) gapless() {
	var seq uint64
	for {
		page, err := w.History(context.Background(),
			events.Query{Forward: true, After: seq, Limit: 1000})
		if err != nil {
			w.t.Fatal(err)
		}
		if len(page) == 0 {
			break
		}
		for _, e := range page {
			if e.Seq != seq+1 {
				w.t.Fatalf("event %d follows %d", e.Seq, seq)
			}
			seq = e.Seq
		}
	}
	w.t.Logf("%d events", seq)
}

// A snapshot contains the effects of every event up to its Seq, although events are written before the snapshot.
func TestSnapshotIsAsNewAsItsSeq(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const n = 4 * freeAgents // the loop delays snapshots of so many agents
		var toml strings.Builder
		for i := range n {
			fmt.Fprintf(&toml, "[[agents]]\nname = \"a%d\"\nstart_command = \"run\"\n", i)
		}
		w := newTown(t, toml.String())
		defer w.begin()()
		time.Sleep(time.Minute)
		synctest.Wait()
		go func() {
			for i := range n {
				w.fake.Crash(fmt.Sprintf("a%d", i), 1, "")
				time.Sleep(time.Millisecond)
			}
		}()
		check := func(e events.Event, how string, s *city.Snapshot, err error) {
			if err != nil {
				t.Fatal(err)
			}
			a, ok := s.Agent(e.Subject)
			if !ok || s.Seq < e.Seq || a.Exit == nil {
				t.Errorf("%s after event %d: agent %s is %s, exit %v, at seq %d", how, e.Seq,
					e.Subject, a.State, a.Exit, s.Seq)
			}
		}
		crashes := 0
		for e, err := range w.Events(t.Context(), w.o.Log.Last()) {
			if err != nil {
				t.Fatal(err)
			}
			if e.Type != events.AgentCrashed {
				continue
			}
			s, err := w.Snapshot(t.Context())
			check(e, "snapshot", s, err)
			for s, err := range w.Snapshots(t.Context()) {
				check(e, "first snapshot of a stream", s, err)
				break
			}
			if crashes++; crashes == n {
				break
			}
		}
	})
}

// If the loop is stuck before it publishes a snapshot, a client waits for it only once.
func TestSnapshotOfStuckLoop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newTown(t, "[workspace]\nname = \"town\"\n", func(o *Options) { o.Pulse = time.Second })
		time.Sleep(time.Minute) // no loop is running
		w.unpublished.Store(true)
		began := time.Now()
		if _, err := w.Snapshot(t.Context()); err != nil {
			t.Error(err)
		}
		if waited := time.Since(began); waited != publishLimit {
			t.Errorf("waited for %s, want %s", waited, publishLimit)
		}
	})
}

// No result is lost if more results arrive at the same time than one iteration of the loop handles.
func TestManyAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const n = 3 * batch
		var toml strings.Builder
		for i := range n {
			fmt.Fprintf(&toml, "[[agents]]\nname = \"a%d\"\nstart_command = \"run\"\n", i)
		}
		w := newTown(t, toml.String())
		end := w.begin()
		time.Sleep(time.Second)
		synctest.Wait()
		s, err := w.Snapshot(t.Context())
		if err != nil || s.Count()[city.Running] != n {
			t.Errorf("%v, %v", s.Count(), err)
		}
		end()
		all, err := w.fake.List(t.Context())
		if err != nil || len(all) != 0 {
			t.Errorf("%d left, %v", len(all), err)
		}
	})
}
