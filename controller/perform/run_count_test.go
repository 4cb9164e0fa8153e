package perform

import (
	"context"
	"errors"
	"maps"
	"testing"
	"testing/synctest"
	"time"

	"gcity/beads"
	"gcity/beads/fake"
	"gcity/beads/guard"
	"gcity/city"
	"gcity/controller/effect"
	"gcity/mail"
)

// plain is a store with only the required methods, like the store of an external program.
type plain struct{ beads.Store }

func (plain) CallLimit() time.Duration { return time.Minute }

// held is a store whose open work is never ready, like work with bd's status blocked.
type held struct{ plain }

func (s held) List(ctx context.Context, q beads.Query) ([]beads.Bead, error) {
	if q.Ready {
		return nil, nil
	}
	return s.plain.List(ctx, q)
}

// The work of a store without counters is counted by queries. The store gets the time limit that it requests.
func TestAStoreThatCannotCount(t *testing.T) {
	own := fake.New("x")
	for _, b := range []beads.Bead{
		{Title: "approved", Type: city.GateType, Assignee: "bob"},
		{Title: "a", Labels: []string{city.PoolLabel + "w", city.PoolLabel + "other"}},
		{Title: "b", Status: beads.StatusInProgress, Assignee: "ann",
			Labels: []string{city.PoolLabel + "w"}, Needs: []string{"x-1"}},
		{Title: "c", Status: beads.StatusClosed, Labels: []string{city.PoolLabel + "w"}},
		{Title: "run", Type: city.RunType, Status: beads.StatusInProgress, Assignee: "bob",
			Labels: []string{city.PoolLabel + "w"}},
		{Title: "d", Status: beads.StatusInProgress},
		{Title: "e", Needs: []string{"x-3"}},
		{Title: "convoy", Type: city.ConvoyType, Labels: []string{city.PoolLabel + "w"}},
		mail.ToBead(mail.Message{To: "ann", Text: "x"}),
		mail.ToBead(mail.Message{To: "pool:w", Text: "y"}),
	} {
		if _, err := own.Create(t.Context(), b); err != nil {
			t.Fatal(err)
		}
	}
	gs := guard.New(func(guard.Report) {})
	pools := []string{"w", "empty"}
	want, err := countByCounters(t.Context(), gs.StoreFor("", own), pools)
	if err != nil {
		t.Fatal(err)
	}
	slow := gs.StoreFor("rig", plain{own})
	if _, err := countByCounters(t.Context(), slow, pools); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("it counts: %v", err)
	}
	got, err := countByQuery(t.Context(), slow, pools)
	if err != nil || got.work.Open != 2 || got.work.Ready != 1 || got.work.InProgress != 2 || got.work.Pools["w"] != 2 ||
		len(got.work.Pools) != 2 || len(got.tasks) != 1 {
		t.Errorf("%+v, %v", got, err)
	}
	if !want.work.Same(got.work) || want.tasks["ann"].ID != got.tasks["ann"].ID {
		t.Errorf("count without counters: got %+v", want)
	}
	if n, err := countByQuery(t.Context(), held{plain{own}}, pools); err != nil ||
		n.work.Open != 2 || n.work.Ready != 0 {
		t.Errorf("work that is held back: %+v, %v", n.work, err)
	}
	if gates := map[string]string{"x-3": "x-1 approved"}; !maps.Equal(got.gates, gates) ||
		!maps.Equal(want.gates, gates) {
		t.Errorf("gates %v and %v", got.gates, want.gates)
	}
	if letters := (city.MailTally{"ann": {Unread: 1, Total: 1},
		"pool:w": {Unread: 1, Total: 1}}); !maps.Equal(got.mail, letters) ||
		!maps.Equal(want.mail, letters) {
		t.Errorf("mail %+v and %+v", got.mail, want.mail)
	}
}

// busy is a store in which an agent starts a bead while the work of a pool is counted.
type busy struct {
	*fake.Store
	begins beads.Patch
	id     string
}

func (s *busy) Count(ctx context.Context, q beads.Query) (int, error) {
	n, err := s.Store.Count(ctx, q)
	if err == nil && len(q.Labels) > 0 {
		_, err = s.Update(ctx, s.id, s.begins)
	}
	return n, err
}

// A bead that an agent starts during a count counts for the pool and for the agent. A shrinking pool therefore keeps
// the agent.
func TestBusyMembersAreCountedLast(t *testing.T) {
	own := &busy{Store: fake.New("x"), begins: beads.Patch{Status: new(beads.StatusInProgress),
		Assignee: new("w-3")}}
	b, err := own.Create(t.Context(), beads.Bead{Title: "a",
		Labels: []string{city.PoolLabel + "w"}})
	if err != nil {
		t.Fatal(err)
	}
	own.id = b.ID
	got, err := countByCounters(t.Context(), guard.New(func(guard.Report) {}).StoreFor("", own), []string{"w"})
	if err != nil || got.work.Pools["w"] != 1 || got.tasks["w-3"].ID != b.ID {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestAllMailIsCounted(t *testing.T) {
	t.Parallel()
	own := fake.New("x")
	const most = 1500
	var all []beads.Bead
	for i := range most {
		m := mail.ToBead(mail.Message{To: []string{"ann", "pool:w", mail.Person}[i%3], Text: "x"})
		if i%2 == 0 {
			m.Labels = append(m.Labels, mail.ReadPatch().AddLabels...)
		}
		all = append(all, m)
	}
	if _, err := own.CreateAll(t.Context(), all); err != nil {
		t.Fatal(err)
	}
	gs := guard.New(func(guard.Report) {})
	got, err := countByCounters(t.Context(), gs.StoreFor("", own), nil)
	n := most / 3
	if want := (city.MailTally{"ann": {Unread: n / 2, Total: n},
		"pool:w": {Unread: n / 2, Total: n}, mail.Person: {Unread: n / 2, Total: n}}); err != nil ||
		!maps.Equal(got.mail, want) {
		t.Errorf("got %+v, %v, want %+v", got.mail, err, want)
	}
}

// Each rig has its own count. Work that moves between rigs changes both counts.
func TestTheWorkOfEachRigIsCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newBench(t, bare+"[[rigs]]\nname = \"yard\"\npath = \""+t.TempDir()+"\"\n[[rigs]]\n"+
			"name = \"shop\"\npath = \""+t.TempDir()+"\"\n")
		stores := map[string]beads.Store{"": fake.New("tw"), "yard": fake.New("ya"),
			"shop": fake.New("sh")}
		w.r.Stores.open = func(rig string) (beads.Store, error) { return stores[rig], nil }
		change := func(_ beads.Bead, err error) {
			if err != nil {
				t.Fatal(err)
			}
		}
		count := func() effect.WorkCounted {
			return w.r.work.count(t.Context(), effect.CountWork{}).(effect.WorkCounted)
		}
		change(stores["yard"].Create(t.Context(), beads.Bead{Title: "x"}))
		change(stores["shop"].Create(t.Context(),
			beads.Bead{Title: "y", Status: beads.StatusInProgress}))
		in := count()
		if want := map[string]city.RigWork{"yard": {Open: 1},
			"shop": {InProgress: 1}}; !maps.Equal(in.Rigs, want) || in.Unchanged {
			t.Errorf("%+v", in)
		}
		if in = count(); !in.Unchanged {
			t.Errorf("count without a change: got %+v", in)
		}
		change(stores["yard"].Update(t.Context(), "ya-1", beads.Closing()))
		change(stores["shop"].Create(t.Context(), beads.Bead{Title: "x"}))
		if in = count(); in.Unchanged || in.Work.Open != 1 || in.Rigs["yard"].Open != 0 ||
			in.Rigs["shop"].Open != 1 {
			t.Errorf("%+v", in)
		}
	})
}

// counted is a store that counts its List and Count calls.
type counted struct {
	*fake.Store
	n int
}

func (c *counted) List(ctx context.Context, q beads.Query) ([]beads.Bead, error) {
	c.n++
	return c.Store.List(ctx, q)
}

func (c *counted) Count(ctx context.Context, q beads.Query) (int, error) {
	c.n++
	return c.Store.Count(ctx, q)
}

// An unchanged store is not queried again (L5). Reading a message is a change.
func TestCountOfUnchangedWork(t *testing.T) {
	store := &counted{Store: fake.New("x")}
	r := counting(func(string) (beads.Store, error) { return store, nil })
	look := func() effect.WorkCounted {
		t.Helper()
		in, ok := r.work.count(t.Context(), effect.CountWork{}).(effect.WorkCounted)
		if !ok || in.Err != nil || in.Unknown {
			t.Fatalf("%+v", in)
		}
		return in
	}
	b, err := store.Create(t.Context(), mail.ToBead(mail.Message{To: "ann", Text: "x"}))
	if err != nil {
		t.Fatal(err)
	}
	if in := look(); in.Unchanged || in.Mail["ann"] != (city.MailCount{Unread: 1, Total: 1}) {
		t.Errorf("%+v", in)
	}
	asked := store.n
	if in := look(); !in.Unchanged || store.n != asked {
		t.Errorf("got %d more queries, want none: %+v", store.n-asked, in)
	}
	if _, err := store.Update(t.Context(), b.ID, mail.ReadPatch()); err != nil {
		t.Fatal(err)
	}
	if in := look(); in.Unchanged || in.Mail["ann"] != (city.MailCount{Total: 1}) {
		t.Errorf("%+v", in)
	}
}

// A store that has never answered does not hide the work in other stores.
func TestCountWithoutOneStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newBench(t, bare+"[[rigs]]\nname = \"yard\"\npath = \""+t.TempDir()+"\"\n[[rigs]]\n"+
			"name = \"shop\"\npath = \""+t.TempDir()+"\"\n")
		stores := map[string]beads.Store{"": fake.New("tw"), "yard": fake.New("ya"),
			"shop": fake.New("sh")}
		lost := true
		w.r.Stores.open = func(rig string) (beads.Store, error) {
			if lost && rig == "shop" {
				return nil, errors.New("nobody answers")
			}
			return stores[rig], nil
		}
		if _, err := stores["yard"].Create(t.Context(),
			beads.Bead{Title: "dig", Status: beads.StatusInProgress, Assignee: "a"}); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			in := w.r.work.count(t.Context(), effect.CountWork{}).(effect.WorkCounted)
			if !in.Unknown || in.Err == nil || in.Unchanged || in.Tasks["a"] != "ya-1 dig" ||
				in.Held["a"].N != 1 {
				t.Errorf("%+v", in)
			}
		}
		lost = false
		before := w.r.work.count(t.Context(), effect.CountWork{}).(effect.WorkCounted)
		lost = true
		delete(w.r.work.tally.by, "shop") // as if the rig was removed and added again
		w.r.work.count(t.Context(), effect.CountWork{})
		lost = false
		in := w.r.work.count(t.Context(), effect.CountWork{}).(effect.WorkCounted)
		if before.Unknown || before.Unchanged || in.Unknown || in.Unchanged {
			t.Errorf("got %+v, then %+v, want two complete counts with changes", before, in)
		}
	})
}
