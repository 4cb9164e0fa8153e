package machine

import (
	"errors"
	"strings"
	"testing"
	"time"

	"gcity/city"
	"gcity/controller/effect"
)

// If work changes during a count, it is counted again immediately, not at the next patrol.
func TestCountOfWhatChangesMeanwhile(t *testing.T) {
	m := newMachine()
	m.conf = &effect.Configuration{}
	counts := func() (n int) {
		for _, f := range m.step.Effects {
			if _, ok := f.(effect.CountWork); ok {
				n++
			}
		}
		m.step.Effects = nil
		return n
	}
	m.work.count()
	if counts() != 1 {
		t.Fatal("work was not counted")
	}
	m.work.count()
	m.work.count()
	if counts() != 0 {
		t.Error("a second count started during the first")
	}
	m.work.takeCount(time.Time{}, effect.WorkCounted{Unchanged: true})
	if counts() != 1 {
		t.Error("work that changed during the count was not counted")
	}
	m.work.takeCount(time.Time{}, effect.WorkCounted{Unchanged: true})
	if counts() != 0 {
		t.Error("work was counted without a change")
	}
}

// A pool without a check shows the counted work.
func TestCountedPoolsShowTheirCount(t *testing.T) {
	w := newWorld()
	if err := w.automate([]string{"a", "gate=manual"}); err != nil {
		t.Fatal(err)
	}
	w.declare("crew:pool=0-8,nocheck")
	w.advance(time.Second)
	shown := func() city.Check { return w.m.Snapshot(w.now).Pools[0].Check }
	if c := shown(); c.Good != nil {
		t.Errorf("check before the first count: got %+v", c)
	}
	for _, n := range []int{4, 0} {
		w.m.step.Changed = false
		w.Step(effect.WorkCounted{Work: city.Work{Open: 9, Pools: map[string]int{"crew": n}}})
		if c := shown(); c.Value != n || c.Good == nil || !c.Good.Equal(w.now) ||
			!w.m.step.Changed {
			t.Errorf("check for %d beads: got %+v, snapshot changed: %t", n, c, w.m.step.Changed)
		}
	}
}

func TestUncountedPoolsSayWhy(t *testing.T) {
	w := newWorld()
	if err := w.automate([]string{"a", "gate=manual"}); err != nil {
		t.Fatal(err)
	}
	w.declare("crew:pool=2-8,nocheck")
	w.advance(time.Second)
	reason := func() string { return w.m.Snapshot(w.now).Pools[0].Reason }
	if got := reason(); got != "the minimum, because the work has not been counted yet" {
		t.Errorf("at first: %s", got)
	}
	w.m.step.Changed = false
	w.Step(effect.WorkCounted{Unknown: true, Err: errors.New("beads.db: permission denied")})
	if got := reason(); got != "the minimum, because work cannot be counted: beads.db: permission denied" ||
		!w.m.step.Changed {
		t.Errorf("reason while the store cannot be read: got %s, snapshot changed: %t",
			got, w.m.step.Changed)
	}
	w.Step(effect.WorkCounted{Work: city.Work{Open: 3, Pools: map[string]int{"crew": 3}}})
	if got := reason(); got != "open work: 3" {
		t.Errorf("reason after the count: got %s", got)
	}
}

// A member of a pool shows its command, even if it joins after the configuration was loaded.
func TestMembersShowTheirCommand(t *testing.T) {
	w := newWorld()
	w.declare("crew:pool=2-4", "alone")
	w.advance(time.Second)
	w.command(1, city.Scale{Pool: "crew", Size: 3})
	w.advance(time.Second)
	all := w.m.Snapshot(w.now).Agents
	for _, a := range all {
		if want := w.m.agents[a.Name].want.Spec.Command; a.Command != want || want == "" {
			t.Errorf("%s runs %q, want %q", a.Name, a.Command, want)
		}
	}
	if len(all) != 4 {
		t.Errorf("%d agents, want 4", len(all))
	}
}

// A reason that contains the pool's size has the right plural: "1 member", "2 members".
func TestAbsentMemberNamesTheSize(t *testing.T) {
	w := newWorld()
	if err := w.automate([]string{"a", "gate=manual"}); err != nil {
		t.Fatal(err)
	}
	w.declare("crew:pool=0-8,nocheck")
	w.advance(time.Second)
	for n, want := range []string{"wants 0 members", "wants 1 member", "wants 2 members"} {
		w.Step(effect.WorkCounted{Work: city.Work{Open: n, Pools: map[string]int{"crew": n}}})
		if why, _ := w.m.work.whyAbsent("crew-8"); !strings.HasSuffix(why, want) {
			t.Errorf("size %d: %s", n, why)
		}
	}
}

// Due backups are checked every ten minutes, one check at a time. A failure is shown until a check succeeds.
func TestBackUp(t *testing.T) {
	m := newMachine()
	m.conf = &effect.Configuration{Backups: true}
	now := time.Now()
	orders := func() (n int) {
		m.step.Effects = nil
		m.work.backUp(now)
		return len(m.step.Effects)
	}
	if orders() != 1 || orders() != 0 {
		t.Error("the backup was not requested exactly once")
	}
	m.Step(now, effect.BackedUp{Err: errors.New("the disk is full")})
	if m.work.unbacked != "work cannot be backed up: the disk is full" || orders() != 0 {
		t.Error(m.work.unbacked)
	}
	if now = now.Add(backupCheckEvery); orders() != 1 {
		t.Error("the failed backup was not retried")
	}
	m.Step(now, effect.BackedUp{})
	if m.work.unbacked != "" {
		t.Error(m.work.unbacked)
	}
}
