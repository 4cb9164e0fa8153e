package perform

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"gcity/automation"
	"gcity/beads"
	stores "gcity/beads/fake"
	"gcity/city"
	"gcity/config"
	"gcity/controller/effect"
	"gcity/events"
	"gcity/formula"
	"gcity/internal/eventually"
)

// If the log is closed while events are followed, the controller receives an input with the error.
func TestFollowersReportTheirEnd(t *testing.T) {
	w, _ := workBench(t)
	w.r.automations.followEvents(effect.Subscribe{Types: []string{"x"}})
	if err := w.log.Close(); err != nil {
		t.Fatal(err)
	}
	defer w.r.Finish(false)
	in := eventually.Receive(t, "something is told", w.inbox)
	if d, ok := in.(effect.SubscriptionEnded); !ok || d.Err == nil {
		t.Errorf("%T %+v", in, in)
	}
}

// Events from before the subscription arrive in one input, so that they cause one run.
func TestEarlierEventsAreDeliveredTogether(t *testing.T) {
	w, _ := workBench(t)
	defer w.r.Finish(false)
	from := w.log.Last()
	job, other := events.Event{Type: "job.done"}, events.Event{Type: "other"}
	if _, err := w.log.Append(job, other, job, job, other); err != nil {
		t.Fatal(err)
	}
	w.r.automations.followEvents(effect.Subscribe{After: from, Types: []string{"job.*"}})
	in := eventually.Receive(t, "the earlier events", w.inbox)
	if got, ok := in.(effect.EventsReceived); !ok || len(got.Events) != 3 {
		t.Errorf("%T %+v", in, in)
	}
	if _, err := w.log.Append(job, other); err != nil {
		t.Fatal(err)
	}
	in = eventually.Receive(t, "a later event", w.inbox)
	if got, ok := in.(effect.EventsReceived); !ok || len(got.Events) != 1 {
		t.Errorf("%T %+v", in, in)
	}
}

// The events file of a run contains all its events, even a large number.
func TestARunGetsAllItsEvents(t *testing.T) {
	w, _ := workBench(t)
	const all = events.MaxLimit + 2000
	batch := make([]events.Event, all)
	for i := range batch {
		batch[i] = events.Event{Type: "job.done", Actor: "a", Message: "x"}
	}
	first := w.log.Last() + 1
	last, err := w.log.Append(batch...)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.log.Append(batch[0]); err != nil { // not an event of the run
		t.Fatal(err)
	}
	d := automation.Definition{Name: "a", Gate: automation.Event, On: "job.*"}
	path, err := w.r.automations.eventsFile(t.Context(), effect.Run{Run: automation.Run{Definition: d,
		After: first - 1, Until: last, Count: all}, Bead: "tw-1"})
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
			t.Fatalf("line %d: got %+v, %v", n+1, e, err)
		}
	}
	if n != all {
		t.Errorf("got %d lines, want %d", n, all)
	}
}

// Events that do not start a run, because their chain is too long, are not in the events file.
func TestARunGetsNoSkippedEvents(t *testing.T) {
	w, _ := workBench(t)
	first := w.log.Last()
	last, err := w.log.Append(events.Event{Type: "x", Payload: []byte(`{"depth":7}`)},
		events.Event{Type: "x", Payload: []byte(`{"depth":8}`)}, events.Event{Type: "x"})
	if err != nil {
		t.Fatal(err)
	}
	var file strings.Builder
	err = w.r.automations.handOver(t.Context(), automation.Run{After: first, Until: last, Count: 2,
		Definition: automation.Definition{On: "x"}}, &file)
	if n := strings.Count(file.String(), "\n"); n != 2 || err != nil ||
		strings.Contains(file.String(), `"depth":8`) {
		t.Errorf("got %d lines, %v: %s", n, err, file.String())
	}
}

// Event files that a killed controller left behind are removed. Other files are kept.
func TestEventsOfRunsThatAreOverGo(t *testing.T) {
	w, _ := workBench(t)
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
	if in := w.r.automations.sweepRuns(t.Context(), effect.SweepRuns{}).(effect.RunsSwept); in.Err != nil {
		t.Fatal(in.Err)
	}
	if _, err := os.Stat(left); !os.IsNotExist(err) {
		t.Errorf("an old file still exists: %v", err)
	}
	if _, err := os.Stat(mine); err != nil {
		t.Errorf("a file that belongs to no run was removed: %v", err)
	}
}

// stubborn is a store that refuses to change some beads.
type stubborn struct {
	*stores.Store
	refuse map[string]error
}

func (s stubborn) Update(ctx context.Context, id string, p beads.Patch) (beads.Bead, error) {
	if err := s.refuse[id]; err != nil {
		return beads.Bead{}, err
	}
	return s.Store.Update(ctx, id, p)
}

// A run record that is invalid or missing does not block automations. The other records are closed, and the invalid
// one is named.
func TestOddRecordsOfRuns(t *testing.T) {
	w, store := workBench(t)
	many := []string{city.RunLabel + "many"}
	for i := range beads.MaxLabels - 1 {
		many = append(many, strconv.Itoa(i))
	}
	var ids []string
	for _, labels := range [][]string{many, {city.RunLabel + "gone"}, {city.RunLabel + "odd"},
		{city.RunLabel + "well"}} {
		b, err := store.Create(t.Context(), beads.Bead{Title: "run", Type: city.RunType,
			Status: beads.StatusInProgress, Labels: labels})
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, b.ID)
	}
	refuse := map[string]error{ids[1]: beads.ErrNotFound,
		ids[2]: &beads.Invalid{Field: "title", Reason: "is odd"}}
	refusing := &stubborn{store, refuse}
	w.r.Stores.open = func(string) (beads.Store, error) { return refusing, nil }
	in := w.r.automations.sweepRuns(t.Context(), effect.SweepRuns{}).(effect.RunsSwept)
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
	if want := ids[2] + " (the bead: its title is odd)"; in.Unclosable != want {
		t.Errorf("problem: got %q, want %q", in.Unclosable, want)
	}
}

// The newest run of an automation is known after a restart, even if other automations have had many later runs.
func TestTheNewestRunIsKnownBehindManyOthers(t *testing.T) {
	w, store := workBench(t)
	for i := range runsShown + 20 {
		name := "busy"
		if i == 1 {
			name = "rare"
		}
		b := beads.Bead{Title: "run", Type: city.RunType, Status: beads.StatusClosed,
			Labels: []string{city.RunLabel + name}}
		if _, err := store.Create(t.Context(), b); err != nil {
			t.Fatal(err)
		}
	}
	in := w.r.automations.sweepRuns(t.Context(), effect.SweepRuns{Of: []string{"busy", "never", "rare"}}).(effect.RunsSwept)
	if in.Err != nil || len(in.Runs) != runsShown+1 || in.Runs[runsShown].ID != "tw-2" ||
		in.Runs[runsShown].Automation != "rare" {
		t.Errorf("got %d runs, the oldest %+v, %v", len(in.Runs), in.Runs[len(in.Runs)-1], in.Err)
	}
}

// The end of a run is written only to its own record, even if another bead has the same ID. Text that the store would
// reject is cleaned.
func TestOnlyTheRecordOfARunIsClosed(t *testing.T) {
	w, store := workBench(t)
	refuse := map[string]error{}
	odd := &stubborn{store, refuse}
	w.r.Stores.open = func(string) (beads.Store, error) { return odd, nil }
	make := func(b beads.Bead) city.Run {
		b.Title = "x"
		made, err := store.Create(t.Context(), b)
		if err != nil {
			t.Fatal(err)
		}
		return city.Run{ID: made.ID, Automation: "a", Outcome: string(automation.OK),
			Error: "a\abell\nand a line", Output: "\u202eback"}
	}
	label := []string{city.RunLabel + "a"}
	for _, other := range []city.Run{
		make(beads.Bead{Labels: label}), make(beads.Bead{Type: city.RunType,
			Labels: []string{city.RunLabel + "b"}}), {ID: "tw-99", Automation: "a"},
	} {
		if _, err := w.r.automations.closeRecord(t.Context(), effect.CloseRun{Run: other}); !errors.Is(err,
			beads.ErrNotFound) {
			t.Errorf("%s: %v", other.ID, err)
		}
	}
	open, err := store.List(t.Context(), beads.Query{Status: []beads.Status{beads.StatusOpen}})
	if err != nil || len(open) != 2 {
		t.Errorf("other work: got %+v, %v", open, err)
	}
	run := make(beads.Bead{Type: city.RunType, Labels: label})
	at, err := w.r.automations.closeRecord(t.Context(), effect.CloseRun{Run: run})
	if err != nil {
		t.Fatal(err)
	}
	b, err := store.Get(t.Context(), run.ID)
	if at == nil || b.ClosedAt == nil || !at.Equal(*b.ClosedAt) {
		t.Errorf("close time: got %v, the record has %v", at, b.ClosedAt)
	}
	if got := city.RunOf(b); err != nil || b.Status != beads.StatusClosed ||
		!strings.Contains(got.Error, "bell\nand a line") {
		t.Errorf("%+v, %v", got, err)
	}
	run = make(beads.Bead{Type: city.RunType, Labels: label})
	refuse[run.ID] = &beads.Invalid{Field: "title", Reason: "is odd"}
	if _, err := w.r.automations.closeRecord(t.Context(), effect.CloseRun{Run: run}); !effect.Unclosable(err) {
		t.Errorf("%v", err)
	}
}

// A record that was written after its run had been given up is closed later. Records of current runs stay open.
func TestRecordsOfRunsThatNeverWereAreClosed(t *testing.T) {
	w, store := workBench(t)
	var ids []string
	for range 3 {
		b, err := store.Create(t.Context(), beads.Bead{Title: "run", Type: city.RunType,
			Status: beads.StatusInProgress, Labels: []string{city.RunLabel + "a"}})
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, b.ID)
	}
	young, err := store.Get(t.Context(), ids[2])
	if err != nil {
		t.Fatal(err)
	}
	if in := w.r.automations.closeUnclosedRuns(t.Context(), effect.CloseUnclosedRuns{
		Before: young.CreatedAt.Add(-time.Hour)}).(effect.UnclosedRunsClosed); in.Err != nil {
		t.Fatal(in.Err)
	}
	if in := w.r.automations.closeUnclosedRuns(t.Context(), effect.CloseUnclosedRuns{Known: []string{ids[0]},
		Before: young.CreatedAt.Add(time.Nanosecond)}).(effect.UnclosedRunsClosed); in.Err != nil {
		t.Fatal(in.Err)
	}
	for i, id := range ids {
		b, err := store.Get(t.Context(), id)
		if closed := b.Status == beads.StatusClosed; err != nil || closed == (i == 0) {
			t.Errorf("%s: %+v, %v", id, b, err)
		}
	}
}

// Assigned work is counted in every store, with or without counters. Beads in progress come first.
func TestWorkOfPeopleIsCounted(t *testing.T) {
	own, yard := stores.New("tw"), stores.New("ya")
	r := counting(func(rig string) (beads.Store, error) {
		if rig == "yard" {
			return plain{yard}, nil
		}
		return own, nil
	}, "yard")
	put := func(s beads.Store, all ...beads.Bead) {
		t.Helper()
		for _, b := range all {
			b.Title = "x"
			if _, err := s.Create(t.Context(), b); err != nil {
				t.Fatal(err)
			}
		}
	}
	begun, done := beads.StatusInProgress, beads.StatusClosed
	put(own, beads.Bead{Assignee: "a", Status: begun}, beads.Bead{Assignee: "a"},
		beads.Bead{Assignee: "a", Status: done}, beads.Bead{},
		beads.Bead{Assignee: "b", Type: city.RunType, Status: begun})
	put(yard, beads.Bead{Assignee: "c"}, beads.Bead{Assignee: "a"},
		beads.Bead{Assignee: "a", Status: begun})
	want := map[string]effect.Holding{"a": {IDs: []string{"tw-1", "tw-2", "ya-3"}, N: 4},
		"c": {IDs: []string{"ya-1"}, N: 1}}
	in := r.work.count(t.Context(), effect.CountWork{}).(effect.WorkCounted)
	if in.Err != nil || !maps.EqualFunc(in.Held, want, effect.Holding.Same) {
		t.Errorf("%+v, %v", in.Held, in.Err)
	}
	put(own, beads.Bead{Assignee: "c"})
	if in = r.work.count(t.Context(), effect.CountWork{}).(effect.WorkCounted); in.Unchanged ||
		in.Held["c"].N != 2 {
		t.Errorf("one more: %+v", in.Held)
	}
}

// A change that has no effect succeeds without an event. Concurrent changes of one bead each cause their own event.
func TestChangeOfNothingIsNoEvent(t *testing.T) {
	store := stores.New("gc")
	b, err := store.Create(t.Context(), beads.Bead{Title: "x"})
	if err != nil {
		t.Fatal(err)
	}
	label := func(l string) beads.Patch { return beads.Patch{AddLabels: []string{l}} }
	for i, c := range []struct {
		patch beads.Patch
		kind  string
	}{
		{label("a"), events.BeadUpdated}, {label("a"), ""}, {beads.Closing(), events.BeadClosed},
		{beads.Closing(), ""},
		{beads.Patch{Status: new(beads.StatusClosed), AddLabels: []string{"b"}},
			events.BeadUpdated}, {beads.Patch{IfRev: new(uint64(4))}, ""},
	} {
		was, got, err := swap(t.Context(), store, city.UpdateBead{ID: b.ID, Patch: c.patch})
		if kind := city.BeadEvent(&was, city.Located{Bead: got}, "", 0).Type; err != nil || kind != c.kind ||
			got.ID != b.ID {
			t.Errorf("%d: %q of %+v, %v", i, kind, got, err)
		}
	}
	if _, _, err := swap(t.Context(), store, city.UpdateBead{ID: b.ID,
		Patch: beads.Patch{IfRev: new(uint64(1))}}); !errors.Is(err, beads.ErrConflict) {
		t.Error(err)
	}
	var all sync.WaitGroup
	for i := range 30 {
		all.Go(func() {
			was, got, err := swap(t.Context(), store,
				city.UpdateBead{ID: b.ID, Patch: label("by" + string(rune('a'+i)))})
			if kind := city.BeadEvent(&was, city.Located{Bead: got}, "", 0).Type; err != nil ||
				kind != events.BeadUpdated {
				t.Errorf("%q, %v", kind, err)
			}
		})
	}
	all.Wait()
}

// By default, old run records are removed, except the newest of each automation. Wisps are kept.
func TestOldRecordsOfRunsGo(t *testing.T) {
	w, store := workBench(t)
	var all []beads.Bead
	add := func(kind, label string, n int, age time.Duration, open bool) {
		for i := range n {
			at := time.Now().Add(-age).Add(time.Duration(i-n) * time.Minute)
			b := beads.Bead{ID: fmt.Sprintf("tw-%d", len(all)+1), Title: "x", Type: kind,
				Status: beads.StatusClosed, Labels: []string{label}, CreatedAt: at, UpdatedAt: at,
				ClosedAt: &at}
			if open {
				b.Status, b.ClosedAt = beads.StatusInProgress, nil
			}
			all = append(all, b)
		}
	}
	day := 24 * time.Hour
	add(city.RunType, city.RunLabel+"often", 150, 20*day, false)
	add(city.RunType, city.RunLabel+"often", 1, 20*day, true)
	add(city.RunType, city.RunLabel+"often", 70, day, false)
	add(city.RunType, city.RunLabel+"seldom", 30, 400*day, false)
	add(city.RunType, city.RunLabel+"lately", 150, day, false)
	add(beads.TypeMolecule, wispLabel, 5, 400*day, false)
	if _, err := store.Restore(t.Context(), all); err != nil {
		t.Fatal(err)
	}
	f := effect.Purge{Runs: 14 * day, Of: []string{"lately", "often", "seldom"}}
	if in := w.r.work.purge(t.Context(), f).(effect.Purged); in.Err != nil || in.N != 120 {
		t.Errorf("%+v", in)
	}
	for label, want := range map[string]int{city.RunLabel + "often": 101,
		city.RunLabel + "seldom": 30, city.RunLabel + "lately": 150, wispLabel: 5} {
		if n, err := store.Count(t.Context(), beads.Query{Labels: []string{label}}); err != nil ||
			n != want {
			t.Errorf("%s: got %d beads, want %d: %v", label, n, want, err)
		}
	}
}

// A scan checks the configuration that names its layers. Until the first check succeeds, no automation counts as
// removed.
func TestScanOfUntrustedAutomations(t *testing.T) {
	w, _ := workBench(t)
	own := filepath.Join(w.dir, "own")
	file := filepath.Join(own, automation.Folder, "a", automation.FileName)
	if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755),
		os.WriteFile(file, []byte("[automation]\ngate = \"manual\"\nexec = \"true\"\n"), 0o644)); err != nil {
		t.Fatal(err)
	}
	answer := errors.New("is not trusted")
	w.r.w.CheckTrust = func(c, inForce *config.City) error {
		if c != w.cfg || inForce != w.cfg {
			t.Errorf("checked %p with %p in force, want %p", c, inForce, w.cfg)
		}
		return answer
	}
	f := effect.Scan{Source: w.cfg, Layers: []formula.Layer{{Dir: own, Title: "rig r", Rig: "r"}}}
	in := w.r.automations.scan(t.Context(), f).(effect.Scanned)
	if len(in.Catalog.Automations) > 0 || !slices.Contains(in.Catalog.Unread, "") ||
		!slices.Contains(in.Catalog.Unread, "r") || !strings.Contains(in.Trouble, "is not trusted") {
		t.Errorf("untrusted: %+v", in)
	}
	answer = nil
	in = w.r.automations.scan(t.Context(), f).(effect.Scanned)
	if len(in.Catalog.Automations) != 1 || len(in.Catalog.Unread) > 0 || in.Trouble != "" {
		t.Errorf("trusted: %+v", in)
	}
}
