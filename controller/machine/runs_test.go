package machine

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"gcity/agent"
	"gcity/automation"
	"gcity/beads"
	"gcity/city"
	"gcity/controller/effect"
	"gcity/controller/runs"
	"gcity/controller/step"
	"gcity/events"
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
		t.Errorf("first event to hand in: got %d, want 5", w.floor.after)
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
		t.Errorf("degraded: got %q, want none", d)
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
		t.Errorf("degraded: got %q, want %q", degraded(), want)
	}
	w.advance(w.m.conf.Patrol)
	if degraded() == "" {
		t.Error("the problem ended before an event was read")
	}
	w.hand()
	if w.floor.going["a"].Bead == "" {
		t.Errorf("no run was started for the event: %q", w.showAutomations())
	}
	w.advance(w.m.conf.Patrol)
	if degraded() != "" {
		t.Errorf("degraded: got %q, want none", degraded())
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

// A purge names all agents, also those that have no record, and all known automations. It keeps run records for two
// weeks.
func TestPurgeNamesAutomations(t *testing.T) {
	w := newWorld()
	w.m.agents["left"] = &record{} // removed from the configuration, but its session exists
	w.m.conf = &effect.Configuration{Wants: []agent.Want{{Name: "pool-2", Pool: "pool"},
		{Name: "rig/worker"}}}
	w.m.runs.RecordsRead = true
	for _, name := range []string{"often", "lately"} {
		w.m.runs.Schedule.Recall(map[string]automation.Memory{name: {}})
	}
	w.m.work.purge(w.now)
	f, ok := w.m.step.Effects[len(w.m.step.Effects)-1].(effect.Purge)
	if !ok || f.Runs != runsTTL || f.Wisps != 0 ||
		!slices.Equal(f.Of, []string{"lately", "often"}) ||
		!slices.Equal(f.Agents, []string{"left", "pool-2", "rig/worker"}) {
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
			t.Errorf("work of %s: got %+v, snapshot changed: %t",
				rig.Name, rig.Work, w.m.step.Changed)
		}
	}
}

// A missing or rejected run record is given up. This is reported once, without a retry.
func TestMissingRunRecordIsGivenUp(t *testing.T) {
	for _, err := range []error{beads.ErrNotFound,
		&beads.Invalid{Field: "title", Reason: "is odd"}} {
		w := newWorld()
		if err := w.automate([]string{"a", "gate=manual"}); err != nil {
			t.Fatal(err)
		}
		w.declare()
		w.advance(time.Second)
		w.floor.trials.forgone = fmt.Errorf("closing: %w", err)
		w.Step(effect.Command{ID: 1, Cmd: city.Fire{Automation: "a"}})
		w.Step(effect.RunEnded{Scoped: "a", Bead: "app-1", Outcome: automation.OK})
		if n := len(w.m.runs.OpenRecords); n > 0 {
			t.Errorf("got %d open records, want 0", n)
		}
		told := 0
		for _, line := range w.log {
			if strings.Contains(line, "app-1 can never be closed") {
				told++
			}
		}
		if told != 1 || slices.ContainsFunc(w.m.Snapshot(w.now).Degraded, func(s string) bool {
			return strings.Contains(s, "record")
		}) {
			t.Errorf("reported %d times, %q", told, w.m.Snapshot(w.now).Degraded)
		}
	}
}

// A run waits until the end of the previous run is saved (L4). Without this wait, the next controller would treat both
// runs as interrupted.
func TestTheEndIsOnRecordBeforeTheNextRun(t *testing.T) {
	// a record that currently cannot be closed does not block the next run
	for _, problem := range []string{"", "disk full"} {
		w := newWorld()
		if err := w.automate([]string{"a", "gate=manual"}); err != nil {
			t.Fatal(err)
		}
		w.declare()
		w.advance(time.Second)
		w.Step(effect.Command{ID: 1, Cmd: city.Fire{Automation: "a"}})
		w.floor.trials.late["shut"], w.floor.trials.unshut = true, problem
		w.Step(effect.RunEnded{Scoped: "a", Bead: "app-1", Outcome: automation.OK})
		w.Step(effect.Command{ID: 2, Cmd: city.Fire{Automation: "a"}})
		if w.floor.made != 1 {
			t.Fatalf("got %d runs while the first run's end was being recorded, want 1",
				w.floor.made)
		}
		w.release(0)
		if w.floor.made != 2 {
			t.Errorf("got %d runs after the end was recorded, want 2 (%q)", w.floor.made, problem)
		}
	}
}

// If a run creates a bead, the bead's event precedes the event for the run's end and has the run's depth.
func TestCreatedBeadsOfARunAreShown(t *testing.T) {
	w := newWorld()
	if err := w.automate([]string{"brew", "gate=manual"}); err != nil {
		t.Fatal(err)
	}
	w.declare()
	w.advance(time.Second)
	w.Step(effect.Command{ID: 1, Cmd: city.Fire{Automation: "brew"}})
	w.Step(effect.RunEnded{Scoped: "brew", Bead: "app-1", Outcome: automation.OK, Created: "app-2",
		Title: "Brew tea"})
	i := slices.IndexFunc(w.events, func(e events.Event) bool {
		return e.Type == events.BeadCreated
	})
	if i < 0 || i+1 >= len(w.events) || w.events[i+1].Type != events.AutomationCompleted {
		t.Fatalf("told: %+v", w.events)
	}
	if e := w.events[i]; e.Subject != "app-2" || e.Message != "Brew tea" ||
		automation.Depth(e) != 1 {
		t.Errorf("%+v of depth %d", e, automation.Depth(e))
	}
}

// If the controller exits during a run, the event of the run's end has the same position in the chain as its start.
func TestAnInterruptedRunKeepsItsDepth(t *testing.T) {
	w := newWorld()
	if err := w.automate([]string{"brew", "gate=event", "on=tea"}); err != nil {
		t.Fatal(err)
	}
	w.declare()
	w.advance(time.Second)
	w.Step(effect.Command{ID: 1, Cmd: city.Emit{Event: events.Event{Type: "tea", Actor: "a",
		Payload: step.Payload(map[string]any{"depth": 3})}}})
	w.hand()
	w.succeed()
	w.advance(time.Second)
	var depths []int
	for _, e := range w.events {
		if e.Subject == "brew" {
			depths = append(depths, automation.Depth(e))
		}
	}
	if want := []int{4, 4}; !slices.Equal(depths, want) {
		t.Errorf("the events have the depths %v, want %v", depths, want)
	}
}

func (w *world) eachRunIsRecorded() {
	for _, id := range w.closedRuns() {
		if fired, ended := w.runEvents(id); fired != 1 || ended != 1 {
			w.breaks("the log has %d start events and %d end events of run %s", fired, ended, id)
		}
	}
}

func (w *world) closedRuns() (ids []string) {
	for id, b := range w.floor.beads {
		if run := city.RunOf(b); b.Type == city.RunType && b.Status == beads.StatusClosed &&
			run.Outcome != city.RunVoid {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}

func (w *world) runEvents(id string) (fired, ended int) {
	for i := range w.events {
		t := effect.RunsIn(w.events[i : i+1])
		if t.Fired[id] {
			fired++
		}
		if t.Ended[id] {
			ended++
		}
	}
	return fired, ended
}

// A new controller logs each missing event of a completed run once. It logs nothing for old runs.
func TestEventsOfRunsAreCompleted(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	at := func(d time.Duration) *time.Time { t := now.Add(d); return &t }
	code := 3
	runs := []city.Run{ // newest run first
		{ID: "r-6", Automation: "void", Opened: *at(6 * time.Second), Ended: at(7 * time.Second),
			Outcome: city.RunVoid},
		{ID: "r-5", Automation: "cut", Opened: *at(5 * time.Second), Ended: at(9 * time.Second),
			Outcome: "interrupted", Error: effect.Abandoned},
		{ID: "r-4", Automation: "bad", Opened: *at(4 * time.Second), Ended: at(5 * time.Second),
			Outcome: "failed", Error: "exit 3", Code: &code},
		{ID: "r-3", Automation: "good", Opened: *at(3 * time.Second), Ended: at(4 * time.Second),
			Outcome: "ok"},
		{ID: "r-2", Automation: "done", Opened: *at(2 * time.Second), Ended: at(3 * time.Second),
			Outcome: "ok"},
		{ID: "r-1", Automation: "old", Opened: *at(-time.Hour), Ended: at(-time.Minute),
			Outcome: "ok"},
	}
	fired := func(id string) events.Event {
		return events.Event{TS: now, Type: events.AutomationFired,
			Payload: step.Payload(map[string]any{"run": id})}
	}
	newest := []events.Event{
		{TS: now, Type: events.AutomationCompleted,
			Payload: step.Payload(map[string]any{"run": "r-2"})},
		fired("r-4"), fired("r-3"), fired("r-2"),
	}
	w := newWorld()
	w.floor.defs = []automation.Definition{}
	w.declare()
	from := len(w.events)
	w.Step(effect.RunsSwept{Runs: runs, Interrupted: runs[1:2], Logged: effect.RunsIn(newest)})
	want := []string{"automation.completed good", "automation.failed bad", "automation.fired cut",
		"automation.failed cut"}
	if got := w.subjects(from); !slices.Equal(got, want) {
		t.Errorf("recorded %v, want %v", got, want)
	}
}

// If closing the records fails halfway, the next attempt reads a log that might not contain the new events yet. It
// records no event a second time (L4).
func TestRepeatedSweepRecordsRunsOnce(t *testing.T) {
	w := newWorld()
	w.stuck["sweep"] = true
	w.floor.defs = []automation.Definition{}
	w.declare()
	ended := w.now
	cut := city.Run{ID: "r-1", Automation: "cut", Opened: w.now.Add(-time.Second), Ended: &ended,
		Outcome: "interrupted"}
	from := len(w.events)
	log := effect.RunsIn([]events.Event{{TS: w.now.Add(-time.Hour)}})
	w.Step(effect.RunsSwept{Interrupted: []city.Run{cut}, Logged: log,
		Err: errors.New("the disk is full")})
	w.Step(effect.RunsSwept{Runs: []city.Run{cut}, Logged: log})
	want := []string{"automation.fired cut", "automation.failed cut"}
	if got := w.subjects(from); !slices.Equal(got, want) {
		t.Errorf("recorded %v, want %v", got, want)
	}
}

// If creating a record fails, the machine later checks once whether it exists anyway.
func TestRemainingProcessesAreSearchedAfterAFault(t *testing.T) {
	w := newWorld()
	if err := w.automate([]string{"a", "gate=manual"}); err != nil {
		t.Fatal(err)
	}
	w.declare()
	w.advance(time.Second)
	sought := func() (n int) {
		w.m.step.Effects = nil
		w.m.runs.CheckUnclosedRuns(w.now)
		for _, f := range w.m.step.Effects {
			if _, ok := f.(effect.CloseUnclosedRuns); ok {
				n++
			}
		}
		return n
	}
	if sought() > 0 {
		t.Error("a search started without a reason")
	}
	w.floor.refuse = "the store is slow"
	w.Step(effect.Command{ID: 1, Cmd: city.Fire{Automation: "a"}})
	if w.floor.refuse = ""; sought() > 0 {
		t.Error("a search started immediately")
	}
	w.now = w.now.Add(runs.UnclosedWait)
	w.m.runs.Current["b"] = &city.Run{}
	if sought() > 0 {
		t.Error("a search started while a record was being created")
	}
	w.m.runs.Current["b"] = &city.Run{ID: "app-9"}
	w.m.step.Effects = nil
	w.m.runs.CheckUnclosedRuns(w.now)
	if len(w.m.step.Effects) != 1 || !slices.Equal(w.m.step.Effects[0].(effect.CloseUnclosedRuns).
		Known,
		[]string{"app-9"}) {
		t.Errorf("%+v", w.m.step.Effects)
	}
	if sought() > 0 {
		t.Error("sought twice")
	}
	w.m.runs.UnclosedRunsClosed(w.now, effect.UnclosedRunsClosed{Err: errors.New("slow")})
	if w.now = w.now.Add(runs.UnclosedWait); sought() != 1 {
		t.Error("a failed search was not repeated")
	}
}

// While the run records cannot be read, automations are listed with the reason why they do not run.
func TestAutomationsAreListedBeforeTheyRun(t *testing.T) {
	w := newWorld()
	w.stuck["sweep"] = true
	if err := w.automate([]string{"a", "gate=manual"}); err != nil {
		t.Fatal(err)
	}
	w.declare("x")
	w.advance(time.Second)
	if got, want := w.showAutomations(), []string{"a is idle: the records of earlier runs " +
		"are being read; last unknown"}; !slices.Equal(got, want) {
		t.Errorf("shown: got %q, want %q", got, want)
	}
	w.Step(effect.RunsSwept{Err: errors.New("the disk failed")})
	want := "a is idle: the records of earlier runs are not available: work cannot be read: the " +
		"disk failed; last unknown"
	if got := w.showAutomations(); !slices.Equal(got, []string{want}) {
		t.Errorf("shown: got %q, want %q", got, want)
	}
	w.Step(effect.RunsSwept{Unclosable: "app-1 (odd)"})
	if got := w.showAutomations(); !slices.Equal(got, []string{"a is idle: manual"}) {
		t.Errorf("shown: %q", got)
	}
	degraded := w.m.Snapshot(w.now).Degraded
	if len(degraded) != 1 || !strings.Contains(degraded[0], "app-1 (odd)") {
		t.Errorf("degraded: %q", degraded)
	}
}
