package machine

import (
	"slices"
	"testing"
	"time"

	"gcity/automation"
	"gcity/beads"
	"gcity/city"
	"gcity/controller/effect"
	"gcity/controller/step"
	"gcity/events"
)

// eachRunIsRecorded checks that the log has exactly one start and one end for each run record.
func (w *world) eachRunIsRecorded() {
	for _, id := range w.closedRuns() {
		if fired, ended := w.runEvents(id); fired != 1 || ended != 1 {
			w.breaks("the log has %d beginnings and %d ends of run %s", fired, ended, id)
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

// runEvents counts the start and end events of a run.
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

// A new controller logs each missing event of a completed run once, and nothing for old runs.
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
