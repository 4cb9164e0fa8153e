package citytest

import (
	"bytes"
	"context"
	"errors"
	"io"
	"testing"
	"time"

	"gcity/city"
	"gcity/events"
)

// Agents of the city under test, and the text that Worker prints.
const (
	// runs; prints Ready and echoes its input
	Worker = "worker"
	Lazy   = "lazy" // suspended
	Ready  = "ready"
)

const patience = 2 * time.Minute

// Harness opens cities for Suite.
type Harness struct {
	// Open opens a city for one test. It has the agents Worker and Lazy, the pool Crew, the rig Rig with RigWorker and
	// RigLazy, an empty bead store, and the automations of WriteAutomations. Open must register its cleanup with t.
	// Several tests run at the same time.
	Open func(t *testing.T) city.Control

	// Hold writes a configuration that declares only the agent Lazy.
	Hold func(t *testing.T, ctl city.Control)

	Record func(t *testing.T, ctl city.Control, e events.Event)
}

// Suite checks that a city.Control fulfills its contract.
func Suite(t *testing.T, h Harness) {
	for _, c := range cases(h) {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			ctl := h.Open(t)
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			awaitAgent(t, ctx, ctl, Worker, func(a *city.Agent) bool {
				return a.State == city.Running
			})
			c.test(t, ctx, ctl)
		})
	}
}

type suiteCase struct {
	name string
	test func(*testing.T, context.Context, city.Control)
}

func cases(h Harness) []suiteCase {
	return []suiteCase{
		{"Snapshot", testSnapshot},
		{"SnapshotsFollow", testSnapshots},
		{"SnapshotsEndWithContext", testSnapshotsEnd},
		{"UnknownAgent", testUnknown},
		{"AgentWithoutSession", testLazy},
		{"Inspect", testInspect},
		{"InspectCrashes", testInspectCrashes(h.Record)},
		{"Output", testOutput},
		{"Watch", testWatch},
		{"SendKeys", testKeys},
		{"Send", testSend},
		{"SendQueued", testSendQueued},
		{"SendNow", testSendNow},
		{"Attach", testAttach},
		{"AttachEndsWithSession", testAttachEnd},
		{"SuspendAndResume", testSuspend},
		{"Reload", testReload},
		{"Emit", testEmit},
		{"EventsFollow", testEvents},
		{"EventsResume", testEventsResume},
		{"History", testHistory},
		{"Concurrent", testConcurrent},
		{"Drain", testDrain},
		{"DrainFinal", testDrainFinal},
		{"DrainRefused", testDrainRejected},
		{"Pool", testPool},
		{"Scale", testScale},
		{"ScaleRefused", testScaleRejected},
		{"DrainOfMember", testDrainMember},
		{"SuspendPool", testSuspendPool},
		{"Rig", testRig},
		{"Beads", testBeads},
		{"BeadChanges", testBeadChanges},
		{"BeadRefused", testBeadRejected},
		{"BeadEvents", testBeadEvents},
		{"WorkCounted", testWorkCounted},
		{"Task", testTask},
		{"OpenSteps", testOpenSteps},
		{"ConcurrentWork", testConcurrentWork},
		{"Mail", testMail},
		{"PoolMail", testPoolMail},
		{"MailRefused", testMailRejected},
		{"Sling", testSling},
		{"Automations", testAutomations},
		{"Fire", testFire},
		{"FireFails", testFireFails},
		{"FireFormula", testFireFormula},
		{"FireRefused", testFireRejected},
		{"RunOutput", testRunOutput},
		{"RunOutputUnknown", testRunOutputUnknown},
		{"RunOutputLive", testRunOutputLive},
		{"EndRun", testEndRun},
		{"EndRunRefused", testEndRunRejected},
		{"HeldConfiguration", func(t *testing.T, ctx context.Context, ctl city.Control) {
			testHeld(t, ctx, ctl, h.Hold)
		}},
	}
}

func until(t *testing.T, ctx context.Context, ctl city.Control,
	ok func(*city.Snapshot) bool) *city.Snapshot {
	t.Helper()
	for s, err := range ctl.Snapshots(ctx) {
		if err != nil {
			t.Fatalf("Snapshots: %v", err)
		}
		if ok(s) {
			return s
		}
	}
	t.Fatal("the snapshot did not reach the expected state in time")
	return nil
}

func seen(t *testing.T, ctx context.Context, ctl city.Control, text string) {
	t.Helper()
	var all []byte
	for f, err := range ctl.Watch(ctx, Worker) {
		if err != nil {
			t.Fatalf("Watch: %v", err)
		}
		if f.Reset {
			all = all[:0]
		}
		if all = append(all, f.Data...); bytes.Contains(all, []byte(text)) {
			return
		}
	}
	t.Fatalf("want output %q, got %q", text, all)
}

func do(t *testing.T, ctx context.Context, ctl city.Control, c city.Command) city.Receipt {
	t.Helper()
	r, err := ctl.Do(ctx, c)
	if err != nil {
		t.Fatalf("%s %s: %v", c.Verb(), c.Target(), err)
	}
	return r
}

func wantCode(t *testing.T, what string, err error, code city.Code) {
	t.Helper()
	e, ok := errors.AsType[*city.Error](err)
	if !ok || e.Code != code || e.Message == "" {
		t.Errorf("%s: %#v, want a *city.Error with code %s and a message", what, err, code)
	}
}

// Every state has a reason and a start time (L14).
func testSnapshot(t *testing.T, ctx context.Context, ctl city.Control) {
	s, err := ctl.Snapshot(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if s.Name == "" || s.Rev == 0 || s.Patrol.Last.IsZero() || s.PID == 0 {
		t.Errorf("incomplete: %+v", s)
	}
	before := ""
	for _, a := range s.Agents {
		if a.Name <= before {
			t.Errorf("%q comes after %q", a.Name, before)
		}
		before = a.Name
		if a.State == "" || a.Reason == "" || a.Since.IsZero() {
			t.Errorf("%s: got state %q, reason %q, since %v", a.Name, a.State, a.Reason, a.Since)
		}
	}
	worker, _ := s.Agent(Worker)
	if worker == nil || !worker.Running || worker.Session == nil || worker.Session.ID == "" ||
		worker.PID == 0 {
		t.Errorf("agent worker: got %+v", worker)
	}
	if lazy, _ := s.Agent(Lazy); lazy == nil || lazy.State != city.Suspended || lazy.Running ||
		lazy.Session != nil {
		t.Errorf("suspended agent: got %+v", lazy)
	}
}

func testSnapshots(t *testing.T, ctx context.Context, ctl city.Control) {
	var rev uint64
	told := false
	for s, err := range ctl.Snapshots(ctx) {
		if err != nil {
			t.Fatal(err)
		}
		if s.Rev <= rev {
			t.Fatalf("got revision %d after revision %d", s.Rev, rev)
		}
		rev = s.Rev
		if a, _ := s.Agent(Worker); told && a.State == city.Suspended {
			return
		}
		if !told {
			told = true
			do(t, ctx, ctl, city.Suspend{Agent: Worker})
		}
	}
	t.Error("no snapshot contains the change")
}

func testSnapshotsEnd(t *testing.T, ctx context.Context, ctl city.Control) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	for s, err := range ctl.Snapshots(ctx) {
		if ctx.Err() == nil && (err != nil || s == nil) {
			t.Fatal(s, err)
		}
		cancel()
	}
}

func testUnknown(t *testing.T, ctx context.Context, ctl city.Control) {
	for _, name := range []string{"nobody", "rig/nobody", "..", "no body", "../worker"} {
		_, err := ctl.Output(ctx, name, 0)
		wantCode(t, "Output of "+name, err, city.NotFound)
		_, err = ctl.Attach(ctx, name, city.Viewer{Cols: 80, Rows: 24})
		wantCode(t, "Attach to "+name, err, city.NotFound)
		for _, c := range []city.Command{
			city.Restart{Agent: name}, city.Kill{Agent: name}, city.Stop{Agent: name},
			city.Suspend{Agent: name},
			city.Release{Agent: name}, city.Nudge{Agent: name, Text: "x"},
			city.SendKeys{Agent: name, Keys: []string{"x"}},
			city.Drain{Agent: name}, city.Undrain{Agent: name}, city.DrainAck{Agent: name},
			city.Scale{Pool: name, Size: 1}, city.Scale{Pool: name, Auto: true},
			city.SuspendRig{Rig: name}, city.ResumeRig{Rig: name},
		} {
			_, err = ctl.Do(ctx, c)
			wantCode(t, c.Verb()+" of "+name, err, city.NotFound)
		}
		n := 0
		for _, err := range ctl.Watch(ctx, name) {
			n++
			wantCode(t, "Watch of "+name, err, city.NotFound)
		}
		if n != 1 {
			t.Errorf("Watch of %s: got %d results, want one error", name, n)
		}
	}
}

func testLazy(t *testing.T, ctx context.Context, ctl city.Control) {
	_, err := ctl.Attach(ctx, Lazy, city.Viewer{Cols: 80, Rows: 24})
	wantCode(t, "Attach", err, city.Conflict)
	_, err = ctl.Do(ctx, city.Nudge{Agent: Lazy, Text: "wake up"})
	wantCode(t, "Nudge", err, city.Conflict)
	for _, err := range ctl.Watch(ctx, Lazy) {
		wantCode(t, "Watch", err, city.Conflict)
	}
}

func testOutput(t *testing.T, ctx context.Context, ctl city.Control) {
	seen(t, ctx, ctl, Ready)
	do(t, ctx, ctl, city.Nudge{Agent: Worker, Text: "größer 世界"})
	seen(t, ctx, ctl, "größer 世界")
	for _, lines := range []int{0, 100} {
		text, err := ctl.Output(ctx, Worker, lines)
		if err != nil || !bytes.Contains([]byte(text), []byte(Ready)) ||
			!bytes.Contains([]byte(text), []byte("größer 世界")) {
			t.Errorf("%d lines: %q, %v", lines, text, err)
		}
	}
	text, err := ctl.Output(ctx, Worker, 1)
	if err != nil || bytes.Contains([]byte(text), []byte("\n")) {
		t.Errorf("Output of the last line: got %q, %v", text, err)
	}
}

func testWatch(t *testing.T, ctx context.Context, ctl city.Control) {
	seen(t, ctx, ctl, Ready)
	var all []byte
	first, told := true, false
	for f, err := range ctl.Watch(ctx, Worker) {
		if err != nil {
			t.Fatal(err)
		}
		if first && (!f.Reset || f.Cols < 1 || f.Rows < 1) {
			t.Errorf("first frame: got %+v", f)
		}
		if f.Reset {
			all = all[:0]
		}
		first = false
		if all = append(all, f.Data...); bytes.Contains(all, []byte("over there")) {
			if !bytes.Contains(all, []byte(Ready)) {
				t.Errorf("the earlier output is missing: %q", all)
			}
			return
		}
		if !told {
			told = true
			do(t, ctx, ctl, city.Nudge{Agent: Worker, Text: "over there"})
		}
	}
	t.Errorf("the nudge is not in the output %q", all)
}

func testKeys(t *testing.T, ctx context.Context, ctl city.Control) {
	seen(t, ctx, ctl, Ready)
	do(t, ctx, ctl, city.SendKeys{Agent: Worker, Keys: []string{"k", "e", "y", "s", "Enter"}})
	seen(t, ctx, ctl, "keys\r\n")
}

func testAttach(t *testing.T, ctx context.Context, ctl city.Control) {
	seen(t, ctx, ctl, Ready)
	term, err := ctl.Attach(ctx, Worker, city.Viewer{Cols: 100, Rows: 30})
	if err != nil {
		t.Fatal(err)
	}
	defer term.Close()
	if err := term.Resize(90, 20); err != nil {
		t.Error(err)
	}
	if _, err := io.WriteString(term, "typed by hand\r"); err != nil {
		t.Fatal(err)
	}
	readUntil(t, term, "typed by hand")
	if err := term.Close(); err != nil {
		t.Error(err)
	}
	s, err := ctl.Snapshot(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if a, _ := s.Agent(Worker); a.State != city.Running {
		t.Errorf("worker after detaching: got state %s", a.State)
	}
}

func readUntil(t *testing.T, term io.Reader, text string) {
	t.Helper()
	var all []byte
	buf := make([]byte, 4096)
	for !bytes.Contains(all, []byte(text)) {
		n, err := term.Read(buf)
		if all = append(all, buf[:n]...); err != nil {
			t.Fatalf("%v after %q", err, all)
		}
	}
}

func testAttachEnd(t *testing.T, ctx context.Context, ctl city.Control) {
	seen(t, ctx, ctl, Ready)
	before, err := ctl.Snapshot(ctx)
	if err != nil {
		t.Fatal(err)
	}
	term, err := ctl.Attach(ctx, Worker, city.Viewer{Cols: 80, Rows: 24})
	if err != nil {
		t.Fatal(err)
	}
	defer term.Close()
	do(t, ctx, ctl, city.Kill{Agent: Worker})
	if _, err := io.Copy(io.Discard, term); err != nil {
		t.Errorf("end of the terminal: got %v, want io.EOF", err)
	}
	if n, err := term.Read(make([]byte, 1)); n != 0 || err != io.EOF {
		t.Errorf("Read after the end: got %d, %v", n, err)
	}
	old, _ := before.Agent(Worker)
	until(t, ctx, ctl, func(s *city.Snapshot) bool {
		a, _ := s.Agent(Worker)
		return a.State == city.Running && a.Session != nil && a.Session.ID != old.Session.ID
	})
}

func testSuspend(t *testing.T, ctx context.Context, ctl city.Control) {
	do(t, ctx, ctl, city.Suspend{Agent: Worker})
	s := until(t, ctx, ctl, func(s *city.Snapshot) bool {
		a, _ := s.Agent(Worker)
		return a.State == city.Suspended
	})
	if a, _ := s.Agent(Worker); !a.Suspended || a.Running || a.Reason == "" {
		t.Errorf("suspended: %+v", a)
	}
	do(t, ctx, ctl, city.Resume{Agent: Worker})
	until(t, ctx, ctl, func(s *city.Snapshot) bool {
		a, _ := s.Agent(Worker)
		return a.State == city.Running && a.Running
	})
}
