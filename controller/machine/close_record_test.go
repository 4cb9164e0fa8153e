package machine

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"gcity/automation"
	"gcity/beads"
	"gcity/city"
	"gcity/controller/effect"
	"gcity/events"
)

// If a run record is missing or invalid for its store, the failure to close it is reported once and not retried.
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
			t.Errorf("%d records are tried still", n)
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
			t.Errorf("told %d times, %q", told, w.m.Snapshot(w.now).Degraded)
		}
	}
}

// A run waits until the end of the previous run is saved (L4). Otherwise, the next controller would treat both as
// interrupted.
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
			t.Fatalf("%d runs, while the end of the first is being written", w.floor.made)
		}
		w.release(0)
		if w.floor.made != 2 {
			t.Errorf("%d runs, when that is done (%q)", w.floor.made, problem)
		}
	}
}

// The event of a bead that a run created precedes the event of the run's end. It has the run's depth.
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
