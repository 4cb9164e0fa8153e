package controller

import (
	"errors"
	"fmt"
	"log/slog"
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

// A run's end is written into its own record and no other, whatever has its id by now, and without words that no record keeps.
func TestOnlyTheRecordOfARunIsClosed(t *testing.T) {
	w, store := workTown(t)
	refuse := map[string]error{}
	odd := &stubborn{store, refuse}
	w.o.Stores = func(string) (beads.Store, error) { return odd, nil }
	make := func(b beads.Bead) city.Run {
		b.Title = "x"
		made, err := store.Create(t.Context(), b)
		if err != nil {
			t.Fatal(err)
		}
		return city.Run{ID: made.ID, Automation: "a", Outcome: string(automation.OK), Error: "a\abell\nand a line", Output: "\u202eback"}
	}
	label := []string{city.RunLabel + "a"}
	for _, other := range []city.Run{
		make(beads.Bead{Labels: label}), make(beads.Bead{Type: city.RunType, Labels: []string{city.RunLabel + "b"}}), {ID: "tw-99", Automation: "a"},
	} {
		if err := w.runner.shutRun(t.Context(), effect.CloseRun{Run: other}); !errors.Is(err, beads.ErrNotFound) {
			t.Errorf("%s: %v", other.ID, err)
		}
	}
	open, err := store.List(t.Context(), beads.Query{Status: []beads.Status{beads.StatusOpen}})
	if err != nil || len(open) != 2 {
		t.Errorf("other work: %+v, %v", open, err)
	}
	run := make(beads.Bead{Type: city.RunType, Labels: label})
	if err := w.runner.shutRun(t.Context(), effect.CloseRun{Run: run}); err != nil {
		t.Fatal(err)
	}
	b, err := store.Get(t.Context(), run.ID)
	if got := city.RunOf(b); err != nil || b.Status != beads.StatusClosed || !strings.Contains(got.Error, "bell\nand a line") {
		t.Errorf("%+v, %v", got, err)
	}
	run = make(beads.Bead{Type: city.RunType, Labels: label})
	refuse[run.ID] = &beads.Invalid{Field: "title", Reason: "is odd"}
	if err := w.runner.shutRun(t.Context(), effect.CloseRun{Run: run}); !unclosable(err) {
		t.Errorf("%v", err)
	}
}

// A record that is gone, or that no store takes, is told of once and not tried again.
func TestARecordThatIsGoneIsGivenUp(t *testing.T) {
	for _, err := range []error{beads.ErrNotFound, &beads.Invalid{Field: "title", Reason: "is odd"}} {
		w := newWorld()
		if err := w.automate([]string{"a", "gate=manual"}); err != nil {
			t.Fatal(err)
		}
		w.declare()
		w.advance(time.Second)
		w.floor.trials.forgone = fmt.Errorf("closing: %w", err)
		w.step(effect.Command{ID: 1, Cmd: city.Fire{Automation: "a"}})
		w.step(effect.RunEnded{Scoped: "a", Bead: "app-1", Outcome: automation.OK})
		if n := len(w.m.work.unshut); n > 0 {
			t.Errorf("%d records are tried still", n)
		}
		told := 0
		for _, line := range w.log {
			if strings.Contains(line, "app-1 cannot be closed, and is given up") {
				told++
			}
		}
		if told != 1 || slices.ContainsFunc(w.m.snapshot(w.now).Degraded, func(s string) bool { return strings.Contains(s, "record") }) {
			t.Errorf("told %d times, %q", told, w.m.snapshot(w.now).Degraded)
		}
	}
}

// A run waits until the end of the last one is on record (L4): the next controller would take both for interrupted.
func TestTheEndIsOnRecordBeforeTheNextRun(t *testing.T) {
	for _, problem := range []string{"", "disk full"} { // that which cannot be closed for now holds up nothing
		w := newWorld()
		if err := w.automate([]string{"a", "gate=manual"}); err != nil {
			t.Fatal(err)
		}
		w.declare()
		w.advance(time.Second)
		w.step(effect.Command{ID: 1, Cmd: city.Fire{Automation: "a"}})
		w.floor.trials.late["shut"], w.floor.trials.unshut = true, problem
		w.step(effect.RunEnded{Scoped: "a", Bead: "app-1", Outcome: automation.OK})
		w.step(effect.Command{ID: 2, Cmd: city.Fire{Automation: "a"}})
		if w.floor.made != 1 {
			t.Fatalf("%d runs, while the end of the first is being written", w.floor.made)
		}
		w.release(0)
		if w.floor.made != 2 {
			t.Errorf("%d runs, when that is done (%q)", w.floor.made, problem)
		}
	}
}

// What a run has made is told of before its end is, with how deep within runs it is.
func TestWhatARunMadeIsTold(t *testing.T) {
	w := newWorld()
	if err := w.automate([]string{"brew", "gate=manual"}); err != nil {
		t.Fatal(err)
	}
	w.declare()
	w.advance(time.Second)
	w.step(effect.Command{ID: 1, Cmd: city.Fire{Automation: "brew"}})
	w.step(effect.RunEnded{Scoped: "brew", Bead: "app-1", Outcome: automation.OK, Made: "app-2", Title: "Brew tea"})
	i := slices.IndexFunc(w.events, func(e events.Event) bool { return e.Type == events.BeadCreated })
	if i < 0 || i+1 >= len(w.events) || w.events[i+1].Type != events.AutomationCompleted {
		t.Fatalf("told: %+v", w.events)
	}
	if e := w.events[i]; e.Subject != "app-2" || e.Message != "Brew tea" || automation.Depth(e) != 1 {
		t.Errorf("%+v of depth %d", e, automation.Depth(e))
	}
}

// Who reads only the log hears of runs that fail and of what becomes of the configuration, and not of the rest.
func TestTheLogTellsWhatFailed(t *testing.T) {
	var text strings.Builder
	c := &Controller{o: Options{Logger: slog.New(slog.NewTextHandler(&text, nil))}}
	for _, kind := range []string{events.AutomationFailed, events.ConfigRejected, events.ConfigReloaded, events.AutomationCompleted, events.BeadCreated} {
		c.journal(events.Event{Type: kind, Subject: "a", Message: "because of " + kind})
	}
	lines := strings.Split(strings.TrimSpace(text.String()), "\n")
	if len(lines) != 3 {
		t.Fatalf("%q", lines)
	}
	for i, want := range []string{"level=WARN", "level=WARN", "level=INFO"} {
		if !strings.Contains(lines[i], want) || !strings.Contains(lines[i], "because of ") {
			t.Errorf("%s is not told as %s", lines[i], want)
		}
	}
}
