package citytest

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"gcity/city"
)

// Pool and rig of the city under test.
const (
	// at its minimum size; its drains have no time limit
	Crew    = "crew"
	CrewMin = 1
	CrewMax = 3

	Rig       = "yard"
	RigWorker = "yard/hand"
	RigLazy   = "yard/idler" // suspended by its own flag
)

func crew(i int) string { return fmt.Sprintf("%s-%d", Crew, i) }

const (
	// for agents that are not in a pool
	drainTimeout = 5 * time.Minute
)

func rig(s *city.Snapshot, name string) *city.Rig {
	for i := range s.Rigs {
		if s.Rigs[i].Name == name {
			return &s.Rigs[i]
		}
	}
	return nil
}

func testReload(t *testing.T, ctx context.Context, ctl city.Control) {
	before := worker(t, ctx, ctl)
	do(t, ctx, ctl, city.Reload{})
	// an ordinary reload, because no configuration is waiting
	do(t, ctx, ctl, city.Reload{Confirm: true})
	same(t, before, worker(t, ctx, ctl))
}

func worker(t *testing.T, ctx context.Context, ctl city.Control) city.Agent {
	t.Helper()
	s, err := ctl.Snapshot(ctx)
	if err != nil {
		t.Fatal(err)
	}
	a, ok := s.Agent(Worker)
	if !ok || a.Session == nil {
		t.Fatalf("agent worker: got %+v", a)
	}
	return *a
}

func same(t *testing.T, before, after city.Agent) {
	t.Helper()
	if before.Session == nil || after.Session == nil || before.Session.ID != after.Session.ID ||
		before.PID != after.PID {
		t.Errorf("%s has a new session: got %+v, then %+v", before.Name, before.Session,
			after.Session)
	}
}

func wantMention(t *testing.T, what string, err error, words ...string) {
	t.Helper()
	e, ok := errors.AsType[*city.Error](err)
	if !ok {
		t.Errorf("%s: %#v, want a *city.Error", what, err)
		return
	}
	for _, w := range words {
		if !strings.Contains(e.Message, w) {
			t.Errorf("%s: want %q in %q", what, w, e.Message)
		}
	}
}

// A drain can be canceled. An agent that acknowledges a drain restarts. (L2, L14)
func testDrain(t *testing.T, ctx context.Context, ctl city.Control) {
	before := worker(t, ctx, ctl)
	do(t, ctx, ctl, city.Drain{Agent: Worker})
	s := awaitAgent(t, ctx, ctl, Worker, func(a *city.Agent) bool {
		return a.State == city.Draining
	})
	do(t, ctx, ctl, city.Drain{Agent: Worker})
	a, _ := s.Agent(Worker)
	same(t, before, *a)
	if !a.Running || a.Reason == "" || a.Drain == nil || a.Drain.By != "operator" ||
		a.Drain.Acked || a.Drain.Deadline == nil || a.Until == nil {
		t.Fatalf("draining: %+v, %+v", a, a.Drain)
	}
	if d := a.Drain.Deadline.Sub(a.Drain.Since).Round(2 * time.Second); d != drainTimeout ||
		!a.Until.Equal(*a.Drain.Deadline) {
		t.Errorf("drain since %v, deadline %v: got Until %v", a.Drain.Since,
			a.Drain.Deadline, a.Until)
	}
	do(t, ctx, ctl, city.Nudge{Agent: Worker, Text: "still here"})
	seen(t, ctx, ctl, "still here")
	if again := worker(t, ctx, ctl).Drain; again == nil || again.Since.After(a.Drain.Since) {
		t.Errorf("a second request extended the deadline: got %+v, then %+v", a.Drain, again)
	}

	do(t, ctx, ctl, city.Undrain{Agent: Worker})
	s = awaitAgent(t, ctx, ctl, Worker, func(a *city.Agent) bool { return a.State == city.Running })
	a, _ = s.Agent(Worker)
	same(t, before, *a)
	if a.Drain != nil || a.Until != nil {
		t.Errorf("after the drain was canceled: got %+v, %+v", a, a.Drain)
	}

	do(t, ctx, ctl, city.Drain{Agent: Worker})
	do(t, ctx, ctl, city.DrainAck{Agent: Worker})
	s = awaitAgent(t, ctx, ctl, Worker, func(a *city.Agent) bool {
		return a.State == city.Running && a.Session != nil && a.Session.ID != before.Session.ID
	})
	if a, _ = s.Agent(Worker); a.Drain != nil {
		t.Errorf("drain of the new session: got %+v, want none", a.Drain)
	}
}

// After a final drain, no session starts until the drain is canceled.
func testDrainFinal(t *testing.T, ctx context.Context, ctl city.Control) {
	before := worker(t, ctx, ctl)
	do(t, ctx, ctl, city.Drain{Agent: Worker, Final: true})
	s := awaitAgent(t, ctx, ctl, Worker, func(a *city.Agent) bool {
		return a.State == city.Draining
	})
	if a, _ := s.Agent(Worker); a.Drain == nil || !a.Drain.Final {
		t.Errorf("%+v", a.Drain)
	}
	do(t, ctx, ctl, city.DrainAck{Agent: Worker})
	s = awaitAgent(t, ctx, ctl, Worker, func(a *city.Agent) bool { return !a.Running })
	if a, _ := s.Agent(Worker); a.State != city.Exited || a.Reason == "" {
		t.Errorf("%s: %s", a.State, a.Reason)
	}
	do(t, ctx, ctl, city.Undrain{Agent: Worker})
	awaitAgent(t, ctx, ctl, Worker, func(a *city.Agent) bool {
		return a.State == city.Running && a.Drain == nil && a.Session != nil &&
			a.Session.ID != before.Session.ID
	})
}

// Only a draining agent can acknowledge a drain. Only a running agent can drain.
func testDrainRejected(t *testing.T, ctx context.Context, ctl city.Control) {
	before := worker(t, ctx, ctl)
	_, err := ctl.Do(ctx, city.Drain{Agent: Lazy})
	wantCode(t, "Drain of a suspended agent", err, city.Conflict)
	_, err = ctl.Do(ctx, city.DrainAck{Agent: Worker})
	wantCode(t, "DrainAck without a drain", err, city.Conflict)
	do(t, ctx, ctl, city.Nudge{Agent: Worker, Text: "still here"})
	seen(t, ctx, ctl, "still here")
	same(t, before, worker(t, ctx, ctl))
}

func awaitAgent(t *testing.T, ctx context.Context, ctl city.Control, name string,
	ok func(*city.Agent) bool) *city.Snapshot {
	t.Helper()
	return until(t, ctx, ctl, func(s *city.Snapshot) bool {
		a, found := s.Agent(name)
		return found && ok(a)
	})
}

func awaitCrew(t *testing.T, ctx context.Context, ctl city.Control, members ...int) *city.Snapshot {
	t.Helper()
	return until(t, ctx, ctl, func(s *city.Snapshot) bool {
		p, ok := s.Pool(Crew)
		if !ok || p.Desired != len(members) || p.Size != len(members) {
			return false
		}
		for i := 1; i <= CrewMax; i++ {
			a, ok := s.Agent(crew(i))
			if up := ok && a.State == city.Running && a.Drain == nil; up !=
				slices.Contains(members, i) {
				return false
			}
		}
		return true
	})
}

func lives(t *testing.T, s *city.Snapshot, members ...int) (out []city.Agent) {
	t.Helper()
	for _, i := range members {
		a, ok := s.Agent(crew(i))
		if !ok {
			t.Fatalf("%s is missing", crew(i))
		}
		out = append(out, *a)
	}
	return out
}

func testPool(t *testing.T, ctx context.Context, ctl city.Control) {
	s := awaitCrew(t, ctx, ctl, 1)
	p, _ := s.Pool(Crew)
	if p.Min != CrewMin || p.Max != CrewMax || p.Reason == "" || p.Since.IsZero() ||
		p.Override != nil || len(p.Draining) > 0 || p.Suspended || p.Timeout != 0 {
		t.Errorf("%+v", p)
	}
	if a, _ := s.Agent(crew(1)); a.Pool != Crew || a.Session == nil {
		t.Errorf("%+v", a)
	}
	before := ""
	for _, p := range s.Pools {
		if p.Name <= before {
			t.Errorf("pool %q comes after %q", p.Name, before)
		}
		before = p.Name
	}
}

// New members get the next higher numbers. The members with the highest numbers are removed first.
func testScale(t *testing.T, ctx context.Context, ctl city.Control) {
	awaitCrew(t, ctx, ctl, 1)
	do(t, ctx, ctl, city.Scale{Pool: Crew, Size: 3})
	s := awaitCrew(t, ctx, ctl, 1, 2, 3)
	full := lives(t, s, 1, 2, 3)
	if p, _ := s.Pool(Crew); p.Override == nil || *p.Override != 3 || p.Reason == "" {
		t.Errorf("pool after scaling up: got %+v", p)
	}
	do(t, ctx, ctl, city.Scale{Pool: Crew, Size: 3})

	do(t, ctx, ctl, city.Scale{Pool: Crew, Size: 1})
	s = awaitCrew(t, ctx, ctl, 1)
	p, _ := s.Pool(Crew)
	if told := slices.Sorted(slices.Values(p.Draining)); !slices.Equal(told,
		[]string{crew(2), crew(3)}) {
		t.Errorf("draining: %q", told)
	}
	for i, a := range lives(t, s, 1, 2, 3) {
		same(t, full[i], a)
		if i > 0 && (a.State != city.Draining || a.Drain == nil || a.Drain.By != "pool" ||
			a.Drain.Deadline != nil || a.Until != nil) {
			t.Errorf("%s: %+v, %+v", a.Name, a, a.Drain)
		}
	}
	_, err := ctl.Do(ctx, city.Undrain{Agent: crew(3)})
	wantCode(t, "Undrain of a surplus member", err, city.Conflict)

	do(t, ctx, ctl, city.Scale{Pool: Crew, Size: 2})
	s = awaitCrew(t, ctx, ctl, 1, 2)
	for i, a := range lives(t, s, 1, 2) {
		same(t, full[i], a)
	}
	do(t, ctx, ctl, city.DrainAck{Agent: crew(3)})
	until(t, ctx, ctl, func(s *city.Snapshot) bool {
		a, ok := s.Agent(crew(3))
		p, _ := s.Pool(Crew)
		return (!ok || !a.Running) && len(p.Draining) == 0 && p.Size == 2
	})

	do(t, ctx, ctl, city.Scale{Pool: Crew, Auto: true})
	s = awaitCrew(t, ctx, ctl, 1)
	if p, _ := s.Pool(Crew); p.Override != nil {
		t.Errorf("pool after scaling to auto: got %+v", p)
	}
}

func testScaleRejected(t *testing.T, ctx context.Context, ctl city.Control) {
	awaitCrew(t, ctx, ctl, 1)
	for _, size := range []int{-1, CrewMin - 1, CrewMax + 1, 1 << 30} {
		_, err := ctl.Do(ctx, city.Scale{Pool: Crew, Size: size})
		wantCode(t, "a size outside the limits", err, city.Invalid)
		wantMention(t, "a size outside the limits", err, "1", "3", "city.toml")
	}
	_, err := ctl.Do(ctx, city.Scale{Pool: Worker, Size: 1})
	wantCode(t, "an agent that is not a pool", err, city.NotFound)
	s := awaitCrew(t, ctx, ctl, 1)
	if p, _ := s.Pool(Crew); p.Override != nil {
		t.Errorf("%+v", p)
	}
}

// A wanted member restarts after a drain.
func testDrainMember(t *testing.T, ctx context.Context, ctl city.Control) {
	before := lives(t, awaitCrew(t, ctx, ctl, 1), 1)[0]
	do(t, ctx, ctl, city.Drain{Agent: crew(1)})
	s := awaitAgent(t, ctx, ctl, crew(1), func(a *city.Agent) bool {
		return a.State == city.Draining
	})
	if a, _ := s.Agent(crew(1)); a.Drain == nil || a.Drain.By != "operator" ||
		a.Drain.Deadline != nil {
		t.Errorf("%+v, %+v", a, a.Drain)
	}
	do(t, ctx, ctl, city.DrainAck{Agent: crew(1)})
	awaitAgent(t, ctx, ctl, crew(1), func(a *city.Agent) bool {
		return a.State == city.Running && a.Session != nil && a.Session.ID != before.Session.ID
	})
}

// A pool can only be suspended as a whole.
func testSuspendPool(t *testing.T, ctx context.Context, ctl city.Control) {
	before := lives(t, awaitCrew(t, ctx, ctl, 1), 1)[0]
	for _, c := range []city.Command{city.Suspend{Agent: crew(1)}, city.Stop{Agent: crew(1)}} {
		_, err := ctl.Do(ctx, c)
		wantCode(t, c.Verb()+" of a member", err, city.Conflict)
		if err != nil && !strings.Contains(strings.ReplaceAll(err.Error(), crew(1), ""), Crew) {
			t.Errorf("%s of a member: want the pool's name in %v", c.Verb(), err)
		}
	}
	for _, c := range []city.Command{city.Restart{Agent: Crew}, city.Kill{Agent: Crew},
		city.Drain{Agent: Crew}, city.Nudge{Agent: Crew, Text: "x"}} {
		if _, err := ctl.Do(ctx, c); err == nil {
			t.Errorf("%s of a pool was not rejected", c.Verb())
		} else {
			wantMention(t, c.Verb()+" of a pool", err, Crew)
		}
	}
	same(t, before, lives(t, awaitCrew(t, ctx, ctl, 1), 1)[0])

	for _, c := range []city.Command{city.Suspend{Agent: Crew}, city.Stop{Agent: Crew}} {
		do(t, ctx, ctl, c)
		s := until(t, ctx, ctl, func(s *city.Snapshot) bool {
			p, _ := s.Pool(Crew)
			return p.Suspended && p.Size == 0 &&
				!slices.ContainsFunc(s.Agents, func(a city.Agent) bool {
					return a.Pool == Crew && a.Running
				})
		})
		if p, _ := s.Pool(Crew); p.SuspendedReason != "in city.toml" ||
			p.SuspendedBy != city.AgentLevel {
			t.Errorf("suspended: %+v", p)
		}
		do(t, ctx, ctl, city.Resume{Agent: Crew})
		s = awaitCrew(t, ctx, ctl, 1)
		if p, _ := s.Pool(Crew); p.Suspended || p.SuspendedReason != "" {
			t.Errorf("resumed: %+v", p)
		}
	}
}

// An agent with its own suspended flag stays suspended when the rig resumes.
func testRig(t *testing.T, ctx context.Context, ctl city.Control) {
	s := awaitRig(t, ctx, ctl, city.Running, "")
	r := rig(s, Rig)
	if r == nil || !filepath.IsAbs(r.Path) || r.Suspended || r.Agents != 2 || r.Running != 1 ||
		r.Problem != "" {
		t.Fatalf("%+v", r)
	}
	if a, _ := s.Agent(RigWorker); a.Rig != Rig {
		t.Errorf("%+v", a)
	}
	for range 2 {
		do(t, ctx, ctl, city.SuspendRig{Rig: Rig})
		s = awaitRig(t, ctx, ctl, city.Suspended, "with rig "+Rig)
		if r := rig(s, Rig); !r.Suspended || r.Running != 0 {
			t.Errorf("suspended: %+v", r)
		}
	}
	if a, _ := s.Agent(RigLazy); a.State != city.Suspended || a.SuspendedBy != city.AgentLevel {
		t.Errorf("agent with its own suspended flag: got %+v", a)
	}
	if a, _ := s.Agent(Worker); a.State != city.Running {
		t.Errorf("agent outside the rig: got %+v", a)
	}
	for range 2 {
		do(t, ctx, ctl, city.ResumeRig{Rig: Rig})
		s = awaitRig(t, ctx, ctl, city.Running, "")
		if r := rig(s, Rig); r.Suspended {
			t.Errorf("resumed: %+v", r)
		}
	}
	if a, _ := s.Agent(RigLazy); a.State != city.Suspended || a.SuspendedBy != city.AgentLevel {
		t.Errorf("agent with its own suspended flag: got %+v", a)
	}
}

func awaitRig(t *testing.T, ctx context.Context, ctl city.Control, state city.State,
	reason string) *city.Snapshot {
	t.Helper()
	return until(t, ctx, ctl, func(s *city.Snapshot) bool {
		a, ok := s.Agent(RigWorker)
		r := rig(s, Rig)
		return ok && a.State == state && (reason == "" || a.Reason == reason) && r != nil &&
			r.Suspended == (state == city.Suspended) &&
			a.Running == (state == city.Running)
	})
}

// A configuration that would remove most of the running agents waits for confirmation.
func testHeld(t *testing.T, ctx context.Context, ctl city.Control,
	hold func(*testing.T, city.Control)) {
	before := worker(t, ctx, ctl)
	hold(t, ctl)
	_, err := ctl.Do(ctx, city.Reload{})
	wantCode(t, "a reload while a configuration is held", err, city.Conflict)
	wantMention(t, "a reload while a configuration is held", err, Worker, "reload --confirm")
	s := until(t, ctx, ctl, func(s *city.Snapshot) bool { return s.Config.Held != nil })
	h := s.Config.Held
	if h.Revision == "" || h.Revision == s.Config.Revision || h.Since.IsZero() ||
		!slices.Contains(h.Removes, Worker) || 2*len(h.Removes) <= h.Running || len(h.Plan) == 0 {
		t.Errorf("held configuration: got %+v while %s is in force", h, s.Config.Revision)
	}
	same(t, before, worker(t, ctx, ctl))
	do(t, ctx, ctl, city.Reload{Confirm: true})
	until(t, ctx, ctl, func(s *city.Snapshot) bool {
		a, ok := s.Agent(Worker)
		return s.Config.Held == nil && s.Config.Revision == h.Revision && (!ok || !a.Running)
	})
}
