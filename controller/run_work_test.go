package controller

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"gcity/automation"
	"gcity/beads"
	"gcity/beads/fake"
	"gcity/city"
	"gcity/controller/effect"
	"gcity/events"
)

// workTown is a town that never begins, with a store of work for its effects to be tried with.
func workTown(t *testing.T) (*town, *fake.Store) {
	w, store := newTown(t, two), fake.New("tw")
	w.o.Stores = func(string) (beads.Store, error) { return store, nil }
	return w, store
}

// A run gets all events that it is told of, however many waited.
func TestARunGetsAllItsEvents(t *testing.T) {
	w, _ := workTown(t)
	const all = events.MaxLimit + 2000
	batch := make([]events.Event, all)
	for i := range batch {
		batch[i] = events.Event{Type: "job.done", Actor: "a", Message: "x"}
	}
	first := w.o.Log.Last() + 1
	last, err := w.o.Log.Append(batch...)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.o.Log.Append(batch[0]); err != nil { // came later
		t.Fatal(err)
	}
	d := automation.Definition{Name: "a", Gate: automation.Event, On: "job.*"}
	path, err := w.runner.eventsFile(t.Context(), effect.Run{Run: automation.Run{Definition: d, After: first - 1, Until: last, Count: all}, Bead: "tw-1"})
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	n := uint64(0)
	for lines := bufio.NewScanner(f); lines.Scan(); n++ {
		var e events.Event
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil || e.Seq != first+n {
			t.Fatalf("line %d: %+v, %v", n+1, e, err)
		}
	}
	if n != all {
		t.Errorf("%d lines of %d events", n, all)
	}
}

// What a run under a controller that was killed left for its commands to read is of no more use, and goes.
func TestEventsOfRunsThatAreOverGo(t *testing.T) {
	w, _ := workTown(t)
	folder := filepath.Join(w.dir, ".gc", "runs")
	if err := os.MkdirAll(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	left, mine := filepath.Join(folder, "tw-7.events.jsonl"), filepath.Join(folder, "notes")
	for _, path := range []string{left, mine} {
		if err := os.WriteFile(path, []byte("{}\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if in := w.runner.sweepRuns(t.Context(), effect.SweepRuns{}).(effect.RunsSwept); in.Err != nil {
		t.Fatal(in.Err)
	}
	if _, err := os.Stat(left); !os.IsNotExist(err) {
		t.Errorf("it is there still: %v", err)
	}
	if _, err := os.Stat(mine); err != nil {
		t.Errorf("what is not of a run: %v", err)
	}
}

// stubborn is a store of work that refuses to change some beads.
type stubborn struct {
	*fake.Store
	refuse map[string]error
}

func (s stubborn) Update(ctx context.Context, id string, p beads.Patch) (beads.Bead, error) {
	if err := s.refuse[id]; err != nil {
		return beads.Bead{}, err
	}
	return s.Store.Update(ctx, id, p)
}

// One record that is odd, or gone, keeps no automation from running: the others are closed, and it is named.
func TestOddRecordsOfRuns(t *testing.T) {
	w, store := workTown(t)
	many := []string{city.RunLabel + "many"}
	for i := range beads.MaxLabels - 1 {
		many = append(many, strconv.Itoa(i))
	}
	var ids []string
	for _, labels := range [][]string{many, {city.RunLabel + "gone"}, {city.RunLabel + "odd"}, {city.RunLabel + "well"}} {
		b, err := store.Create(t.Context(), beads.Bead{Title: "run", Type: city.RunType, Status: beads.StatusInProgress, Labels: labels})
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, b.ID)
	}
	refuse := map[string]error{ids[1]: beads.ErrNotFound, ids[2]: &beads.Invalid{Field: "title", Reason: "is odd"}}
	w.o.Stores = func(string) (beads.Store, error) { return stubborn{store, refuse}, nil }
	in := w.runner.sweepRuns(t.Context(), effect.SweepRuns{}).(effect.RunsSwept)
	if in.Err != nil {
		t.Fatal(in.Err)
	}
	var closed []string
	for _, r := range in.Interrupted {
		if r.Outcome != string(automation.Interrupted) || r.Ended == nil {
			t.Errorf("%+v", r)
		}
		closed = append(closed, r.Automation)
	}
	if !slices.Equal(closed, []string{"many", "well"}) {
		t.Errorf("closed are %v", closed)
	}
	if want := ids[2] + " (the bead: its title is odd)"; in.Odd != want {
		t.Errorf("told: %q, want %q", in.Odd, want)
	}
}

// While the records cannot be read, the automations that there are can be seen, and why none of them runs.
func TestAutomationsAreListedBeforeTheyRun(t *testing.T) {
	w := newWorld()
	w.stuck["sweep"] = true
	if err := w.automate([]string{"a", "gate=manual"}); err != nil {
		t.Fatal(err)
	}
	w.declare("x")
	w.advance(time.Second)
	if got, want := w.showAutomations(), []string{"a is idle: the records of earlier runs are being read"}; !slices.Equal(got, want) {
		t.Errorf("shown: %q, want %q", got, want)
	}
	w.step(effect.RunsSwept{Err: errors.New("the disk is on fire")})
	want := "a is idle: the records of earlier runs are not known: work cannot be read: the disk is on fire"
	if got := w.showAutomations(); !slices.Equal(got, []string{want}) {
		t.Errorf("shown: %q, want %q", got, want)
	}
	w.step(effect.RunsSwept{Odd: "app-1 (odd)"})
	if got := w.showAutomations(); !slices.Equal(got, []string{"a is idle: manual"}) {
		t.Errorf("shown: %q", got)
	}
	degraded := w.m.snapshot(w.now).Degraded
	if len(degraded) != 1 || !strings.Contains(degraded[0], "app-1 (odd)") {
		t.Errorf("degraded: %q", degraded)
	}
}

// The newest run of an automation is known after a restart, however many runs others have had since.
func TestTheNewestRunIsKnownBehindManyOthers(t *testing.T) {
	w, store := workTown(t)
	for i := range runsShown + 20 {
		name := "busy"
		if i == 1 {
			name = "rare"
		}
		b := beads.Bead{Title: "run", Type: city.RunType, Status: beads.StatusClosed, Labels: []string{city.RunLabel + name}}
		if _, err := store.Create(t.Context(), b); err != nil {
			t.Fatal(err)
		}
	}
	in := w.runner.sweepRuns(t.Context(), effect.SweepRuns{Of: []string{"busy", "never", "rare"}}).(effect.RunsSwept)
	if in.Err != nil || len(in.Runs) != runsShown+1 || in.Runs[runsShown].ID != "tw-2" || in.Runs[runsShown].Automation != "rare" {
		t.Errorf("%d runs, the oldest %+v, %v", len(in.Runs), in.Runs[len(in.Runs)-1], in.Err)
	}
	// Who is asked about is who has run before.
	m := newWorld()
	m.m.work.deeds["rare"] = automation.Memory{Last: m.now}
	m.m.work.deeds["gone"] = automation.Memory{Last: m.now, Gone: m.now}
	m.m.work.deeds["new"] = automation.Memory{}
	m.m.sweepRuns()
	if f, ok := m.m.out[len(m.m.out)-1].(effect.SweepRuns); !ok || !slices.Equal(f.Of, []string{"rare"}) {
		t.Errorf("%+v", m.m.out)
	}
}
