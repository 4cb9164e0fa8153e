package perform

import (
	"context"
	"errors"
	"testing"
	"time"

	"gcity/automation"
	"gcity/beads"
	"gcity/beads/fake"
	"gcity/city"
	"gcity/controller/effect"
)

// tardy is a store whose next CreateAll reports a timeout after it has created the beads.
type tardy struct {
	*fake.Store
	late bool
}

func (s *tardy) CreateAll(ctx context.Context, all []beads.Bead) ([]beads.Bead, error) {
	made, err := s.Store.CreateAll(ctx, all)
	if s.late && len(all) > 1 && err == nil {
		s.late = false
		return nil, context.DeadlineExceeded
	}
	return made, err
}

// If a run fails although its molecule was created, its retry uses this molecule. Other runs create their own.
func TestARetryUsesTheMoleculeOfTheFailedAttempt(t *testing.T) {
	for _, c := range []struct {
		name  string
		retry automation.Run
		since func(t *testing.T, store beads.Store, molecule string)
		adopt bool
	}{
		{name: "a retry", retry: automation.Run{Retry: 1, Count: 1, Until: 7}, adopt: true},
		{name: "the molecule is done", retry: automation.Run{Retry: 1, Count: 1, Until: 7},
			since: changed(beads.Closing()), adopt: true},
		{name: "the record of a run that never started",
			retry: automation.Run{Retry: 1, Count: 1, Until: 7},
			since: func(t *testing.T, store beads.Store, _ string) {
				if _, err := store.Create(t.Context(), beads.Bead{Title: "void", Type: city.RunType,
					Status: beads.StatusClosed, Labels: []string{city.RunLabel + "nightly"},
					Metadata: map[string]string{city.RunOutcome: city.RunVoid}}); err != nil {
					t.Fatal(err)
				}
			}, adopt: true},
		{name: "no retry", retry: automation.Run{Count: 1, Until: 7}},
		{name: "newer events", retry: automation.Run{Retry: 1, Count: 2, Until: 8}},
		{name: "the molecule was made by another run",
			retry: automation.Run{Retry: 1, Count: 1, Until: 7},
			since: changed(beads.Patch{SetMetadata: map[string]string{city.MadeBy: "tw-99"}})},
		{name: "the molecule was closed as incomplete",
			retry: automation.Run{Retry: 1, Count: 1, Until: 7},
			since: changed(beads.Patch{Status: new(beads.StatusClosed), SetMetadata: map[string]string{
				beads.CloseReason: beads.PartlyCreated}})},
		{name: "a step is missing", retry: automation.Run{Retry: 1, Count: 1, Until: 7},
			since: func(t *testing.T, store beads.Store, molecule string) {
				steps, err := store.List(t.Context(), beads.Query{Parent: molecule})
				if err != nil || len(steps) != 3 {
					t.Fatalf("%+v, %v", steps, err)
				}
				changed(beads.Patch{ParentID: new("")})(t, store, steps[0].ID)
			}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w, own := workBench(t)
			store := &tardy{Store: own, late: true}
			w.r.Stores.open = func(string) (beads.Store, error) { return store, nil }
			attempt := func(run automation.Run) effect.RunEnded {
				t.Helper()
				run.Definition = automation.Definition{Name: "nightly", Formula: "review",
					Vars: map[string]string{"subject": "x"}, Timeout: time.Minute}
				in := w.r.automations.openRun(t.Context(), effect.OpenRun{Run: run}).(effect.RunOpened)
				if in.Err != nil {
					t.Fatal(in.Err)
				}
				return w.r.automations.carryOut(t.Context(), effect.Run{In: w.cfg, Run: run,
					Bead: in.Bead.ID})
			}
			first := attempt(automation.Run{Count: 1, Until: 7})
			if first.Outcome != automation.Failed || first.Created != "" {
				t.Fatalf("first attempt: got %+v", first)
			}
			molecules := beads.Query{Type: beads.TypeMolecule}
			before, err := store.List(t.Context(), molecules)
			if err != nil || len(before) != 1 {
				t.Fatalf("after %+v: %+v, %v", first, before, err)
			}
			if c.since != nil {
				c.since(t, store, before[0].ID)
			}
			in := attempt(c.retry)
			after, err := store.List(t.Context(), molecules)
			want := 2
			if c.adopt {
				want = 1
			}
			if err != nil || in.Outcome != automation.OK || (in.Created == before[0].ID) != c.adopt ||
				in.Title == "" || len(after) != want {
				t.Errorf("second attempt: got %+v and %d molecules, %v; want %d", in, len(after),
					err, want)
			}
		})
	}
}

// If the controller exited while a run created its molecule bead by bead, the next controller closes these beads. It does
// not close a complete molecule.
func TestPartlyCreatedMoleculesAreClosed(t *testing.T) {
	for name, steps := range map[string]string{"partly": "3", "complete": "2", "by hand": ""} {
		w, store := workBench(t)
		labels := []string{city.RunLabel + "nightly"}
		record, err := store.Create(t.Context(), beads.Bead{Title: "run", Type: city.RunType,
			Status: beads.StatusInProgress, Labels: labels})
		if err != nil {
			t.Fatal(err)
		}
		made, err := store.CreateAll(t.Context(), []beads.Bead{
			{ID: "$root", Title: "root", Type: beads.TypeMolecule, Labels: labels,
				Metadata: map[string]string{city.MadeBy: record.ID, city.MadeSteps: steps}},
			{Title: "one", ParentID: "$root"}, {Title: "two", ParentID: "$root"}})
		if err != nil {
			t.Fatal(err)
		}
		in := w.r.automations.sweepRuns(t.Context(), effect.SweepRuns{}).(effect.RunsSwept)
		if in.Err != nil || len(in.Interrupted) != 1 {
			t.Fatalf("%+v", in)
		}
		for _, b := range made {
			b, err := store.Get(t.Context(), b.ID)
			if err != nil || (b.Metadata[beads.CloseReason] == beads.PartlyCreated) != (name == "partly") ||
				(b.Status == beads.StatusClosed) != (name == "partly") {
				t.Errorf("%s: %+v, %v", name, b, err)
			}
		}
	}
}

// The beads are closed even if the first attempt to close the records fails after the first record.
func TestPartlyCreatedMoleculesAreClosedBeforeTheRecords(t *testing.T) {
	w, store := workBench(t)
	var records []string
	for _, name := range []string{"nightly", "other"} {
		record, err := store.Create(t.Context(), beads.Bead{Title: "run", Type: city.RunType,
			Status: beads.StatusInProgress, Labels: []string{city.RunLabel + name}})
		if err != nil {
			t.Fatal(err)
		}
		records = append(records, record.ID)
	}
	root, err := store.Create(t.Context(), beads.Bead{Title: "root", Type: beads.TypeMolecule,
		Labels:   []string{city.RunLabel + "nightly"},
		Metadata: map[string]string{city.MadeBy: records[0], city.MadeSteps: "1"}})
	if err != nil {
		t.Fatal(err)
	}
	refusing := &stubborn{store, map[string]error{records[1]: errors.New("disk full")}}
	w.r.Stores.open = func(string) (beads.Store, error) { return refusing, nil }
	in := w.r.automations.sweepRuns(t.Context(), effect.SweepRuns{}).(effect.RunsSwept)
	if in.Err == nil || len(in.Interrupted) != 1 || in.Interrupted[0].ID != records[0] {
		t.Fatalf("first attempt: %+v", in)
	}
	delete(refusing.refuse, records[1])
	if in = w.r.automations.sweepRuns(t.Context(), effect.SweepRuns{}).(effect.RunsSwept); in.Err != nil {
		t.Fatal(in.Err)
	}
	if root, err = store.Get(t.Context(), root.ID); err != nil || root.Status != beads.StatusClosed {
		t.Errorf("%+v, %v", root, err)
	}
}

func changed(p beads.Patch) func(*testing.T, beads.Store, string) {
	return func(t *testing.T, store beads.Store, id string) {
		t.Helper()
		if _, err := store.Update(t.Context(), id, p); err != nil {
			t.Fatal(err)
		}
	}
}
