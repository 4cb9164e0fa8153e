package citytest_test

import (
	"fmt"
	"strings"
	"testing"

	"gcity/city"
	"gcity/city/citytest"
)

// draw is a city in a line: its pools, rigs and agents, each with what it is.
func draw(t *testing.T, f *citytest.Fake) string {
	t.Helper()
	s, err := f.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, p := range s.Pools {
		line := fmt.Sprintf("%s %d/%d", p.Name, p.Size, p.Desired)
		if p.Suspended {
			line += " suspended " + p.SuspendedReason
		}
		if p.Override != nil {
			line += fmt.Sprintf(" override %d", *p.Override)
		}
		out = append(out, line)
	}
	for _, r := range s.Rigs {
		out = append(out, fmt.Sprintf("%s %d of %d", r.Name, r.Running, r.Agents))
	}
	for _, a := range s.Agents {
		line := a.Name + " " + string(a.State)
		if a.State == city.Suspended {
			line += " " + a.Reason
		}
		out = append(out, line)
	}
	return strings.Join(out, "; ")
}

// Pools inside a rig, and one of a single member, which goes by the pool's own name.
func TestFakePools(t *testing.T) {
	f := citytest.NewFake("town",
		city.Agent{Name: "solo", Pool: "solo", Running: true},
		city.Agent{Name: "yard/crew-1", Pool: "yard/crew", Rig: "yard", Running: true},
		city.Agent{Name: "yard/hand", Rig: "yard", Running: true},
	)
	f.Set(func(s *city.Snapshot) {
		s.Pools = []city.Pool{
			{Name: "solo", Max: 1, Size: 1, Desired: 1, Check: city.Check{Value: 9}},
			{Name: "yard/crew", Rig: "yard", Min: 1, Max: 12, Size: 1, Desired: 1},
		}
		s.Rigs = []city.Rig{{Name: "yard", Agents: 2, Running: 2}}
	})
	before, err := f.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		cmd  city.Command
		want string
	}{
		{city.Suspend{Agent: "solo"}, "solo 0/1 suspended by agent; yard/crew 1/1; yard 2 of 2; solo suspended by agent; yard/crew-1 running; yard/hand running"},
		{city.Resume{Agent: "solo"}, "solo 1/1; yard/crew 1/1; yard 2 of 2; solo running; yard/crew-1 running; yard/hand running"},
		{city.Scale{Pool: "solo"}, "solo 0/0 override 0; yard/crew 1/1; yard 2 of 2; solo draining; yard/crew-1 running; yard/hand running"},
		{city.Kill{Agent: "solo"}, "solo 0/0 override 0; yard/crew 1/1; yard 2 of 2; yard/crew-1 running; yard/hand running"},
		{city.Scale{Pool: "solo", Auto: true}, "solo 1/1; yard/crew 1/1; yard 2 of 2; solo running; yard/crew-1 running; yard/hand running"},
		{city.Suspend{Agent: "yard/hand"}, "solo 1/1; yard/crew 1/1; yard 1 of 2; solo running; yard/crew-1 running; yard/hand suspended by agent"},
		{city.SuspendRig{Rig: "yard"}, "solo 1/1; yard/crew 0/1 suspended by rig yard; yard 0 of 2; solo running; yard/crew-1 suspended by rig yard; yard/hand suspended by agent"},
		{city.Resume{Agent: "yard/hand"}, "solo 1/1; yard/crew 0/1 suspended by rig yard; yard 0 of 2; solo running; yard/crew-1 suspended by rig yard; yard/hand suspended by rig yard"},
		{city.Scale{Pool: "yard/crew", Size: 2}, "solo 1/1; yard/crew 0/2 suspended by rig yard override 2; yard 0 of 2; solo running; yard/crew-1 suspended by rig yard; yard/hand suspended by rig yard"},
		{city.Stop{Agent: "yard/crew"}, "solo 1/1; yard/crew 0/2 suspended by agent override 2; yard 0 of 2; solo running; yard/crew-1 suspended by agent; yard/hand suspended by rig yard"},
		{city.Resume{Agent: "yard/crew"}, "solo 1/1; yard/crew 0/2 suspended by rig yard override 2; yard 0 of 2; solo running; yard/crew-1 suspended by rig yard; yard/hand suspended by rig yard"},
		{city.ResumeRig{Rig: "yard"}, "solo 1/1; yard/crew 2/2 override 2; yard 3 of 3; solo running; yard/crew-1 running; yard/crew-2 running; yard/hand running"},
	} {
		if _, err := f.Do(t.Context(), c.cmd); err != nil {
			t.Errorf("%#v: %v", c.cmd, err)
		}
		if got := draw(t, f); got != c.want {
			t.Errorf("%#v:\n got %s\nwant %s", c.cmd, got, c.want)
		}
	}
	after, err := f.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for i, was := range before.Agents[:2] {
		if now := after.Agents[i]; now.Name != was.Name || now.Session.ID == was.Session.ID {
			t.Errorf("%s is still in its first life: %+v", was.Name, now.Session)
		}
	}
}

// What a test puts in is a city like any other, and numbers that no command is about stay as they were put.
func TestFakeSet(t *testing.T) {
	f := citytest.NewFake("town", city.Agent{Name: "worker", Running: true})
	f.Set(func(s *city.Snapshot) {
		s.Agents = append(s.Agents, city.Agent{Name: "zoe", State: city.Running, Running: true})
		s.Pools = []city.Pool{{Name: "crew", Max: 5, Size: 4, Desired: 5, Draining: []string{"crew-9"}}}
	})
	if _, err := f.Do(t.Context(), city.Nudge{Agent: "zoe", Text: "hello"}); err != nil || f.Typed("zoe") != "hello\r" {
		t.Errorf("%q was typed: %v", f.Typed("zoe"), err)
	}
	before, err := f.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Do(t.Context(), city.Drain{Agent: "worker"}); err != nil {
		t.Error(err)
	}
	if got := draw(t, f); got != "crew 4/5; worker draining; zoe running" {
		t.Error(got)
	}
	if a, _ := before.Agent("worker"); a.State != city.Running || a.Drain != nil {
		t.Errorf("a published snapshot has changed: %+v", a)
	}
}
