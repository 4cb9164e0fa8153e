package perform

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"gcity/beads"
	"gcity/beads/fake"
	"gcity/city"
	"gcity/controller/effect"
	"gcity/events"
)

// A bead is created in the requested store. Later it is found and changed by its ID, even if prefixes have changed
// since.
func TestWorkIsRoutedByItsPrefix(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newBench(t, bare+"[[rigs]]\nname = \"yard\"\npath = \""+t.TempDir()+"\"\n[[rigs]]\n"+
			"name = \"shop\"\npath = \""+t.TempDir()+"\"\n")
		stores := map[string]*fake.Store{"": fake.New("tw"), "yard": fake.New("ya"),
			"shop": fake.New("old")}
		w.r.Stores.open = func(rig string) (beads.Store, error) { return stores[rig], nil }
		do := func(c city.Command) (beads.Bead, *city.Error) {
			in := w.r.work.bead(t.Context(), effect.ChangeBead{Cmd: c}).(effect.BeadChanged)
			for _, e := range in.Events {
				rig := map[string]string{"ya": `"rig":"yard"`, "old": `"rig":"shop"`}[city.BeadPrefix(e.Subject)]
				if p := string(e.Payload); !strings.Contains(p, rig) || rig == "" && strings.Contains(p, "rig") {
					t.Errorf("%s %s: payload %s, want %s", e.Type, e.Subject, p, rig)
				}
			}
			return in.Bead, in.Err
		}
		for rig, id := range map[string]string{"": "tw-1", "yard": "ya-1", "shop": "old-1"} {
			if b, err := do(city.CreateBead{Rig: rig,
				Bead: beads.Bead{Title: cmp.Or(rig, "the") + " work"}}); err != nil || b.ID != id {
				t.Fatalf("%q: %+v, %v", rig, b, err)
			}
		}
		// The yard's prefix was once the city's, so this ID exists in both stores.
		if _, err := stores[""].Restore(t.Context(),
			[]beads.Bead{{ID: "ya-1", Title: "twin", Type: "task",
				Status: beads.StatusOpen}}); err != nil {
			t.Fatal(err)
		}
		for id, title := range map[string]string{"tw-1": "the work", "ya-1": "yard work",
			"old-1": "shop work"} {
			if b, err := w.r.Stores.Bead(t.Context(), id); err != nil || b.Title != title {
				t.Errorf("%s: %+v, %v", id, b, err)
			}
			if b, err := do(city.UpdateBead{ID: id, Patch: beads.Closing()}); err != nil ||
				b.Title != title {
				t.Errorf("closing %s: got %+v, %v", id, b, err)
			}
		}
		if twin, err := stores[""].Get(t.Context(), "ya-1"); err != nil ||
			twin.Status != beads.StatusOpen {
			t.Errorf("the other bead with this ID: got %+v, %v", twin, err)
		}
		for want, c := range map[string]city.Command{
			"old-1 is work of rig shop, and a link " +
				"cannot span two stores": city.CreateBead{Bead: beads.Bead{Title: "x",
				Needs: []string{"old-1"}}},
			"tw-1 is work of the city, and a link cannot span two stores": city.UpdateBead{ID: "ya-1",
				Patch: beads.Patch{ParentID: new("tw-1")}},
			"bead \"zz-1\" not found; run `gcity bead list` to see all; " + `bead IDs of this city start with `: city.UpdateBead{ID: "zz-1",
				Patch: beads.Closing()},
			`rig "nowhere" not found`: city.CreateBead{Rig: "nowhere",
				Bead: beads.Bead{Title: "x"}},
			`"tw-9"`: city.CreateBead{Bead: beads.Bead{Title: "x", Needs: []string{"tw-9"}}},
		} {
			if _, err := do(c); err == nil || !strings.Contains(err.Message, want) {
				t.Errorf("%+v: %v", c, err)
			}
		}
		_, err := w.r.Stores.Bead(t.Context(), "zz-1")
		if wrong, ok := errors.AsType[*city.Error](err); !ok || wrong.Code != city.NotFound ||
			!strings.Contains(wrong.Message, "ya- (rig yard)") {
			t.Errorf("%v", err)
		}
	})
}

func TestConvoyCloses(t *testing.T) {
	s := fake.New("tw")
	convoy := put(t, s, beads.Bead{Title: "c", Type: city.ConvoyType})
	one := put(t, s, beads.Bead{Title: "1", ParentID: convoy.ID})
	two := put(t, s, beads.Bead{Title: "2", ParentID: convoy.ID})
	for i, id := range []string{one.ID, one.ID, two.ID, two.ID} {
		was, now, err := swap(t.Context(), s, city.UpdateBead{ID: id, Patch: beads.Closing()})
		if err != nil {
			t.Fatal(err)
		}
		var want []string
		if i == 2 {
			want = []string{"bead.closed " + convoy.ID}
		}
		if got := kinds(convoyEvents(t.Context(), s, was, city.Located{Bead: now})); !slices.Equal(got, want) {
			t.Errorf("%d: got %q, want %q", i, got, want)
		}
	}
	if b, err := s.Get(t.Context(), convoy.ID); err != nil || b.Status != beads.StatusClosed ||
		b.Metadata[beads.CloseReason] != "all beads are closed: 2 of 2 closed" {
		t.Errorf("%+v, %v", b, err)
	}
}

// A reopened step reopens its molecule, and so the convoy that contains the molecule. A molecule does not close with its
// last step.
func TestStepReopensItsMolecule(t *testing.T) {
	s := fake.New("tw")
	convoy := put(t, s, beads.Bead{Title: "c", Type: city.ConvoyType})
	root := put(t, s, beads.Bead{Title: "m", Type: beads.TypeMolecule, ParentID: convoy.ID})
	step := put(t, s, beads.Bead{Title: "1", ParentID: root.ID})
	reopen := beads.Patch{Status: new(beads.StatusOpen)}
	for i, c := range []struct {
		id    string
		patch beads.Patch
		want  []string
	}{
		{step.ID, beads.Closing(), nil}, {root.ID, beads.Closing(), []string{"bead.closed " + convoy.ID}},
		{step.ID, reopen, []string{"bead.updated " + root.ID, "bead.updated " + convoy.ID}},
		{step.ID, beads.Closing(), nil}, {step.ID, reopen, nil},
	} {
		was, now, err := swap(t.Context(), s, city.UpdateBead{ID: c.id, Patch: c.patch})
		if err != nil {
			t.Fatal(err)
		}
		if got := kinds(convoyEvents(t.Context(), s, was, city.Located{Bead: now})); !slices.Equal(got, c.want) {
			t.Errorf("%d: got %q, want %q", i, got, c.want)
		}
	}
}

// A convoy is also closed if its last open bead moves to another convoy, or if its beads were closed before. An empty
// convoy stays open.
func TestConvoyClosesByMoves(t *testing.T) {
	s := fake.New("tw")
	first, second, third := put(t, s, beads.Bead{Title: "a", Type: city.ConvoyType}),
		put(t, s, beads.Bead{Title: "b", Type: city.ConvoyType}),
		put(t, s, beads.Bead{Title: "c", Type: city.ConvoyType})
	done, open := put(t, s, beads.Bead{Title: "1", Status: beads.StatusClosed}),
		put(t, s, beads.Bead{Title: "2", ParentID: second.ID})
	for i, c := range []struct {
		bead, to string
		want     []string
	}{
		{done.ID, first.ID, []string{"bead.closed " + first.ID}}, {open.ID, third.ID, nil},
		{done.ID, third.ID, nil},
		{open.ID, second.ID, []string{"bead.closed " + third.ID}}, {done.ID, "", nil},
	} {
		was, now, err := swap(t.Context(), s,
			city.UpdateBead{ID: c.bead, Patch: beads.Patch{ParentID: &c.to}})
		if err != nil {
			t.Fatal(err)
		}
		if got := kinds(convoyEvents(t.Context(), s, was, city.Located{Bead: now})); !slices.Equal(got, c.want) {
			t.Errorf("%d: got %q, want %q", i, got, c.want)
		}
	}
}

// A closed convoy is reopened by an open bead: a new one, a reopened one or one that moves into it. A change to a bead
// that was open before does not reopen it, because a user might have closed it.
func TestConvoyReopens(t *testing.T) {
	s := fake.New("tw")
	convoy := put(t, s, beads.Bead{Title: "c", Type: city.ConvoyType, Status: beads.StatusClosed})
	done := put(t, s, beads.Bead{Title: "1", ParentID: convoy.ID, Status: beads.StatusClosed})
	outside := put(t, s, beads.Bead{Title: "2"})
	shut := []string{"bead.closed " + convoy.ID}
	opened := []string{"bead.updated " + convoy.ID}
	for i, c := range []struct {
		id    string
		patch beads.Patch
		want  []string
	}{
		{done.ID, beads.Patch{Status: new(beads.StatusOpen)}, opened},
		{done.ID, beads.Closing(), shut},
		{outside.ID, beads.Patch{ParentID: &convoy.ID}, opened},
		{convoy.ID, beads.Closing(), nil},
		{outside.ID, beads.Patch{Status: new(beads.StatusInProgress)}, nil},
	} {
		was, now, err := swap(t.Context(), s, city.UpdateBead{ID: c.id, Patch: c.patch})
		if err != nil {
			t.Fatal(err)
		}
		if got := kinds(convoyEvents(t.Context(), s, was, city.Located{Bead: now})); !slices.Equal(got, c.want) {
			t.Errorf("%d: got %q, want %q", i, got, c.want)
		}
	}
	added := put(t, s, beads.Bead{Title: "3", ParentID: convoy.ID})
	if got := kinds(convoyEvents(t.Context(), s, beads.Bead{}, city.Located{Bead: added})); !slices.Equal(got, opened) {
		t.Errorf("a new bead: got %q, want %q", got, opened)
	}
}

// busyStore calls between before the next update, and after once it is done.
type busyStore struct {
	*fake.Store
	between, after func()
}

func (b *busyStore) Update(ctx context.Context, id string, p beads.Patch) (beads.Bead, error) {
	if between := b.between; between != nil {
		b.between = nil
		between()
	}
	if after := b.after; after != nil {
		b.after = nil
		defer after()
	}
	return b.Store.Update(ctx, id, p)
}

// A molecule that another process closes as soon as it has been reopened stays closed.
func TestReopenedMoleculeCloses(t *testing.T) {
	s := &busyStore{Store: fake.New("tw")}
	root := put(t, s.Store, beads.Bead{Title: "m", Type: beads.TypeMolecule, Status: beads.StatusClosed})
	step := put(t, s.Store, beads.Bead{Title: "1", ParentID: root.ID})
	s.after = func() {
		if _, err := s.Store.Update(t.Context(), root.ID, beads.Closing()); err != nil {
			t.Error(err)
		}
	}
	got := convoyEvents(t.Context(), s, beads.Bead{}, city.Located{Bead: step})
	if b, err := s.Get(t.Context(), root.ID); err != nil || b.Status != beads.StatusClosed || len(got) != 1 {
		t.Errorf("got %v, %+v, %v", got, b, err)
	}
}

// A molecule stays open if another process reopens a step while the molecule is being closed.
func TestMoleculeClosesWhileAStepReopens(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, s := newBench(t, bare), &busyStore{Store: fake.New("tw")}
		w.r.Stores.open = func(string) (beads.Store, error) { return s, nil }
		root := put(t, s.Store, beads.Bead{Title: "m", Type: beads.TypeMolecule})
		step := put(t, s.Store, beads.Bead{Title: "1", ParentID: root.ID, Status: beads.StatusClosed})
		s.between = func() {
			p := beads.Patch{Status: new(beads.StatusOpen)}
			if _, err := s.Store.Update(t.Context(), step.ID, p); err != nil {
				t.Error(err)
			}
		}
		in := w.r.work.bead(t.Context(), effect.ChangeBead{
			Cmd: city.UpdateBead{ID: root.ID, Patch: beads.Closing()}}).(effect.BeadChanged)
		if in.Err == nil || in.Err.Code != city.Conflict || len(in.Events) > 0 {
			t.Errorf("got %v, %v", in.Err, in.Events)
		}
		if b, err := s.Get(t.Context(), root.ID); err != nil || b.Status != beads.StatusOpen {
			t.Errorf("%+v, %v", b, err)
		}
	})
}

// An open bead that another process adds while a convoy is being closed keeps the convoy open. The event about the last
// change of the convoy says so.
func TestConvoyClosesDuringAnAddition(t *testing.T) {
	s := &busyStore{Store: fake.New("tw")}
	convoy := put(t, s.Store, beads.Bead{Title: "c", Type: city.ConvoyType})
	last := put(t, s.Store, beads.Bead{Title: "1", ParentID: convoy.ID})
	was, now, err := swap(t.Context(), s, city.UpdateBead{ID: last.ID, Patch: beads.Closing()})
	if err != nil {
		t.Fatal(err)
	}
	s.between = func() {
		put(t, s.Store, beads.Bead{Title: "2", ParentID: convoy.ID})
	}
	got := convoyEvents(t.Context(), s, was, city.Located{Bead: now})
	if b, err := s.Get(t.Context(), convoy.ID); err != nil || b.Status != beads.StatusOpen {
		t.Errorf("%+v, %v", b, err)
	}
	if len(got) != 1 || got[0].Type != events.BeadUpdated ||
		!strings.Contains(string(got[0].Payload), `"status":"open"`) {
		t.Errorf("got %v", got)
	}
}

func put(t *testing.T, s *fake.Store, b beads.Bead) beads.Bead {
	t.Helper()
	b, err := s.Create(t.Context(), b)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func kinds(all []events.Event) (out []string) {
	for _, e := range all {
		out = append(out, e.Type+" "+e.Subject)
	}
	return out
}

// shortLists is a store that must not return more beads than a page contains.
type shortLists struct {
	*fake.Store
	t *testing.T
}

func (s shortLists) List(ctx context.Context, q beads.Query) ([]beads.Bead, error) {
	all, err := s.Store.List(ctx, q)
	if len(all) > 2 {
		s.t.Errorf("%+v: %d beads", q, len(all))
	}
	return all, err
}

// Pages of work from several stores contain each bead once, also if beads have the same age. A page is not read from
// the whole history of the other stores.
func TestPagesOfSeveralStores(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newBench(t, bare+"[[rigs]]\nname = \"yard\"\npath = \""+t.TempDir()+"\"\n")
		stores := map[string]shortLists{"": {fake.New("tw"), t}, "yard": {fake.New("ya"), t}}
		w.r.Stores.open = func(rig string) (beads.Store, error) { return stores[rig], nil }
		want := map[string]bool{}
		for i := range 12 {
			b, err := stores[[]string{"", "yard"}[i%2]].Create(t.Context(), beads.Bead{Title: "x"})
			if err != nil {
				t.Fatal(err)
			}
			if want[b.ID] = true; i%3 == 0 {
				time.Sleep(time.Second)
			}
		}
		for q := (beads.Query{Limit: 2}); ; {
			page, err := w.r.Stores.Beads(t.Context(), q)
			if err != nil {
				t.Fatal(err)
			}
			for _, b := range page {
				if !want[b.ID] {
					t.Errorf("%s is on two pages", b.ID)
				}
				delete(want, b.ID)
				q.Before = b.ID
			}
			if len(page) < q.Limit {
				break
			}
		}
		if len(want) > 0 {
			t.Errorf("missing: %v", want)
		}
	})
}
