package machine

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"gcity/agent"
	"gcity/automation"
	"gcity/city"
	"gcity/controller/effect"
)

// Without its saved state, a controller continues from the run records and handles the events since the last run.
func TestRunRecordsReplaceAutomationState(t *testing.T) {
	w := newWorld()
	w.stuck["scan"] = true
	if err := w.automate([]string{"a", "gate=event", "on=job.done"}); err != nil {
		t.Fatal(err)
	}
	w.m.runs.StateNotRead = "the file is damaged"
	w.declare("x")
	w.advance(time.Second)
	for range 9 {
		w.emit("job.done")
	}
	run := func(seq uint64, ago time.Duration) city.Run {
		return city.Run{Automation: "a", Opened: w.now.Add(-ago), Seq: seq,
			Outcome: string(automation.OK)}
	}
	clear(w.stuck)
	w.Step(effect.RunsSwept{Runs: []city.Run{run(5, time.Minute), run(3, time.Hour)}})
	if w.floor.after != 5 {
		t.Errorf("events are handed in from %d on", w.floor.after)
	}
	if m := w.m.runs.Schedule.Memory()["a"]; m.From != 3 || m.Cursor != 5 || m.On != "job.done" {
		t.Errorf("remembered: %+v", m)
	}
	w.advance(time.Minute)
	if d := w.m.Snapshot(w.now).Degraded; len(d) != 1 || d[0] != "the file is damaged" {
		t.Errorf("told: %q", d)
	}
	w.advance(2 * time.Hour)
	if d := w.m.Snapshot(w.now).Degraded; len(d) != 0 {
		t.Errorf("told for ever: %q", d)
	}
}

// A failure to read events is reported. The machine subscribes again, starting after the last handled event (L7).
func TestTheEndOfEventsIsNoticed(t *testing.T) {
	w := newWorld()
	if err := w.automate([]string{"a", "gate=event", "on=job.done"}); err != nil {
		t.Fatal(err)
	}
	w.declare("x")
	w.advance(time.Second)
	w.floor.types = nil // no events are delivered
	w.Step(effect.SubscriptionEnded{Subscription: w.m.runs.SubscriptionID, Err: errors.New("too many open files")})
	w.emit("job.done")
	degraded := func() string { return strings.Join(w.m.Snapshot(w.now).Degraded, "\n") }
	if want := "the events that trigger automations cannot be read: too many open files"; degraded() != want {
		t.Errorf("told: %q, want %q", degraded(), want)
	}
	w.advance(w.m.conf.Patrol)
	if degraded() == "" {
		t.Error("taken for well before it has shown")
	}
	w.hand()
	if w.floor.going["a"].Bead == "" {
		t.Errorf("the event is lost: %q", w.showAutomations())
	}
	w.advance(w.m.conf.Patrol)
	if degraded() != "" {
		t.Errorf("told for ever: %q", degraded())
	}
}

// A sweep requests the records of automations that have run before and are still declared.
func TestASweepNamesAutomationsThatRan(t *testing.T) {
	w := newWorld()
	w.m.runs.Inherited["rare"] = automation.Memory{Last: w.now}
	w.m.runs.Inherited["gone"] = automation.Memory{Last: w.now, Gone: w.now}
	w.m.runs.Inherited["new"] = automation.Memory{}
	w.m.runs.Sweep()
	if f, ok := w.m.step.Effects[len(w.m.step.Effects)-1].(effect.SweepRuns); !ok ||
		!slices.Equal(f.Of, []string{"rare"}) {
		t.Errorf("%+v", w.m.step.Effects)
	}
}

// A purge names all known automations and keeps their run records for two weeks.
func TestPurgeNamesAutomations(t *testing.T) {
	w := newWorld()
	w.m.conf = &effect.Configuration{}
	w.m.runs.RecordsRead = true
	for _, name := range []string{"often", "lately"} {
		w.m.runs.Schedule.Recall(map[string]automation.Memory{name: {}})
	}
	w.m.work.purge(w.now)
	f, ok := w.m.step.Effects[len(w.m.step.Effects)-1].(effect.Purge)
	if !ok || f.Runs != runsTTL || f.Wisps != 0 ||
		!slices.Equal(f.Of, []string{"lately", "often"}) {
		t.Errorf("%+v", w.m.step.Effects)
	}
}

// The snapshot shows the counted work of each rig and changes with the count.
func TestTheWorkOfEachRigIsShown(t *testing.T) {
	w := newWorld()
	w.m.conf = &effect.Configuration{Rigs: []agent.Rig{{Name: "shop"}, {Name: "yard"}}}
	in := effect.WorkCounted{Rigs: map[string]city.RigWork{"yard": {Open: 1},
		"shop": {InProgress: 1}}}
	w.m.step.Changed = false
	w.m.work.takeCount(w.now, in)
	for _, rig := range w.m.drawRigs() {
		if rig.Work == nil || *rig.Work != in.Rigs[rig.Name] || !w.m.step.Changed {
			t.Errorf("%s shows %+v, snapshot changed: %t", rig.Name, rig.Work, w.m.step.Changed)
		}
	}
}
