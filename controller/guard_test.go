package controller

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"gcity/agent"
	"gcity/beads"
	"gcity/beads/fake"
	"gcity/city"
	"gcity/config"
	"gcity/events"
	sessions "gcity/session/fake"
)

// asked counts the calls that come as far as the store.
type asked struct {
	*fake.Store
	mu sync.Mutex
	n  int
}

func (a *asked) note() { a.mu.Lock(); a.n++; a.mu.Unlock() }

func (a *asked) calls() int { a.mu.Lock(); defer a.mu.Unlock(); return a.n }

func (a *asked) Create(ctx context.Context, b beads.Bead) (beads.Bead, error) {
	a.note()
	return a.Store.Create(ctx, b)
}

func (a *asked) Get(ctx context.Context, id string) (beads.Bead, error) {
	a.note()
	return a.Store.Get(ctx, id)
}

func (a *asked) Version(ctx context.Context) (uint64, error) { a.note(); return a.Store.Version(ctx) }

func (a *asked) Probe(ctx context.Context) error { a.note(); return a.Store.Probe(ctx) }

// S11: who asks a store that hangs waits for the deadline of the call and no longer, and after three of them not at all.
func TestGuardOfAHungStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var told []inStores
		gs := newGuards(func(in inStores) { told = append(told, in) })
		store := &asked{Store: fake.New("gc")}
		g, other := gs.before("", store), gs.before("yard", fake.New("ya"))
		release := store.Hang()
		began := time.Now()
		create := func() error { _, err := g.Create(context.Background(), beads.Bead{Title: "x"}); return err }
		for i := range breakAfter {
			err := create()
			_, closed := errors.AsType[*beads.ClosedError](err)
			if !errors.Is(err, context.DeadlineExceeded) || closed != (i == breakAfter-1) {
				t.Errorf("call %d: %v", i, err)
			}
		}
		if took := time.Since(began); took != breakAfter*callLimit {
			t.Errorf("they took %v", took)
		}
		for range 100 {
			if err := create(); err == nil || !strings.HasPrefix(err.Error(), "the work of the city cannot be written since ") || !strings.Contains(err.Error(), "; tried again at ") {
				t.Error(err)
			}
		}
		if time.Since(began) != breakAfter*callLimit || store.calls() != breakAfter {
			t.Errorf("a closed store was asked: %d calls", store.calls())
		}
		if _, err := other.Create(t.Context(), beads.Bead{Title: "y"}); err != nil {
			t.Errorf("another store: %v", err)
		}
		if len(told) != 1 || len(told[0].troubles) != 1 || !told[0].troubles[0].writes || told[0].troubles[0].reads {
			t.Fatalf("told %+v", told)
		}
		if _, writes := gs.due(time.Now()); len(writes) != 0 {
			t.Error("it is due at once")
		}
		time.Sleep(minBroken)
		_, writes := gs.due(time.Now())
		if len(writes) != 1 {
			t.Fatal("it is not due")
		}
		release()
		writes[0].tryWrite(t.Context())
		if len(told) != 2 || len(told[1].troubles) != 0 || told[1].rev <= told[0].rev {
			t.Errorf("told %+v", told)
		}
		if err := create(); err != nil {
			t.Error(err)
		}
	})
}

// What a store refuses is an answer, and who had no time to wait has learnt nothing. What it cannot do is no trouble either.
func TestGuardKnowsRefusals(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gs := newGuards(func(in inStores) { t.Errorf("told %+v", in) })
		store := fake.New("gc")
		g := gs.before("", store)
		bare := gs.before("yard", struct{ beads.Store }{store})
		b, err := g.Create(t.Context(), beads.Bead{Title: "x"})
		if err != nil {
			t.Fatal(err)
		}
		for range 2 * breakAfter {
			if _, err := g.Get(t.Context(), "gc-99"); !errors.Is(err, beads.ErrNotFound) {
				t.Error(err)
			}
			if _, err := g.Create(t.Context(), beads.Bead{}); err == nil {
				t.Error("a bead of nothing was made")
			}
			if _, err := g.Update(t.Context(), b.ID, beads.Patch{IfRev: new(uint64(7))}); !errors.Is(err, beads.ErrConflict) {
				t.Error(err)
			}
			if _, err := bare.Version(t.Context()); !errors.Is(err, errors.ErrUnsupported) {
				t.Error(err)
			}
		}
		defer store.Hang()()
		for range 2 * breakAfter {
			short, cancel := context.WithTimeout(t.Context(), fair/2)
			if _, err := g.Get(short, b.ID); !errors.Is(err, context.DeadlineExceeded) {
				t.Error(err)
			}
			cancel()
		}
	})
}

// A store that is another one than before has a clean slate, and one that is gone no trouble.
func TestGuardOfAnotherStore(t *testing.T) {
	var told []inStores
	gs := newGuards(func(in inStores) { told = append(told, in) })
	broken := fake.New("gc")
	broken.Break(errors.New("no such disk"))
	spoil := func(scope string) {
		for range breakAfter {
			if _, err := gs.before(scope, broken).Get(t.Context(), "gc-1"); err == nil {
				t.Fatal("a broken store answered")
			}
		}
	}
	spoil("yard")
	if n := len(told); n != 1 || !strings.Contains(told[0].troubles[0].text, "the work of rig yard cannot be read since ") {
		t.Fatalf("told %+v", told)
	}
	if _, err := gs.before("yard", fake.New("gc")).Get(t.Context(), "gc-1"); !errors.Is(err, beads.ErrNotFound) || len(told) != 2 || len(told[1].troubles) != 0 {
		t.Errorf("%v, told %+v", err, told)
	}
	spoil("shed")
	gs.keep([]string{"", "yard"})
	if len(told) != 4 || len(told[2].troubles) != 1 || len(told[3].troubles) != 0 {
		t.Errorf("told %+v", told)
	}
}

// S11: a city whose store hangs is a city all the same: agents are restarted at once, status says what is wrong, nobody
// hammers the store, the size of a pool stays, and all is well when the store is.
func TestCityWithAHungStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, yard := &asked{Store: fake.New("tw")}, fake.New("ya")
		w := &town{t: t, dir: t.TempDir(), fake: sessions.New(), ended: make(chan error, 1)}
		w.write(two + "[[agents]]\nname = \"w\"\nstart_command = \"w\"\n[agents.pool]\nmax = 3\n[[rigs]]\nname = \"yard\"\npath = \"" + t.TempDir() + "\"\n")
		cfg, err := config.Load(w.dir)
		if err != nil {
			t.Fatal(err)
		}
		log, err := events.Open(filepath.Join(w.dir, ".gc"), events.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer log.Close()
		w.Controller, err = New(Options{Dir: w.dir, Provider: w.fake, Log: log, Host: agent.Host{BinDir: "/gc/bin"}, Pulse: time.Hour,
			Stores: func(rig string) (beads.Store, error) {
				return map[string]beads.Store{"": store, "yard": yard}[rig], nil
			}}, cfg)
		if err != nil {
			t.Fatal(err)
		}
		here, err := store.Store.Create(t.Context(), beads.Bead{Title: "one", Labels: []string{"pool:w"}})
		if err != nil {
			t.Fatal(err)
		}
		there, err := yard.Create(t.Context(), beads.Bead{Title: "two", Labels: []string{"pool:w"}})
		if err != nil {
			t.Fatal(err)
		}
		defer w.begin()()
		pool := func() int {
			s, _ := w.Snapshot(t.Context())
			return s.Pools[0].Desired
		}
		synctest.Wait()
		if n := pool(); n != 2 {
			t.Fatalf("the pool wants %d", n)
		}
		release := store.Hang()
		before := store.calls()
		time.Sleep(time.Hour)
		if n := store.calls() - before; n > 70 { // three, and a probe a minute
			t.Errorf("a store that hangs was asked %d times within an hour", n)
		}
		s, _ := w.Snapshot(t.Context())
		if len(s.Degraded) != 1 || !strings.HasPrefix(s.Degraded[0], "the work of the city cannot be read since ") {
			t.Errorf("degraded: %q", s.Degraded)
		}
		w.fake.Crash("a", 3, "")
		began := time.Now()
		synctest.Wait()
		if n := w.fake.Started("a"); n != 2 || w.state("a") != "running" {
			t.Errorf("a was started %d times and is %s", n, w.state("a"))
		}
		if _, err := w.Beads(t.Context(), beads.Query{}); err == nil || !strings.HasPrefix(err.Error(), "the work of the city cannot be read") {
			t.Errorf("a list: %v", err)
		}
		if _, err := w.Bead(t.Context(), here.ID); err == nil {
			t.Error("a bead came out of a store that hangs")
		}
		if b, err := w.Bead(t.Context(), there.ID); err != nil || b.ID != there.ID {
			t.Errorf("the other store: %v", err)
		}
		if r, err := w.Do(t.Context(), city.UpdateBead{ID: there.ID, Patch: beads.Closing()}); err != nil || r.Bead.Status != beads.StatusClosed {
			t.Errorf("a change in the other store: %+v, %v", r, err)
		}
		if took := time.Since(began); took != 0 {
			t.Errorf("somebody waited %v for a store that was known to hang", took)
		}
		time.Sleep(time.Minute)
		if n := pool(); n != 1 { // what the store that hangs had counts still
			t.Errorf("the pool wants %d", n)
		}
		release()
		time.Sleep(maxBroken + probeLimit)
		if s, _ := w.Snapshot(t.Context()); len(s.Degraded) != 0 {
			t.Errorf("degraded: %q", s.Degraded)
		}
		for _, says := range []string{"closed " + here.ID, here.ID + " is so already"} {
			if r, err := w.Do(t.Context(), city.UpdateBead{ID: here.ID, Patch: beads.Closing()}); err != nil || r.Message != says || r.Bead.Status != beads.StatusClosed {
				t.Errorf("%+v, %v", r, err)
			}
		}
		synctest.Wait()
		if n := pool(); n != 0 {
			t.Errorf("the pool wants %d", n)
		}
		told := slices.DeleteFunc(strings.Split(w.types(), "\n"), func(line string) bool { return !strings.HasPrefix(line, "store.") && !strings.HasPrefix(line, "bead.") })
		if !slices.Equal(told, []string{"store.failing", "bead.closed " + there.ID, "store.healed", "bead.closed " + here.ID}) {
			t.Errorf("told %q", told)
		}
	})
}

// Closing what is closed, and any change that changes nothing, is done and no event; who changes it besides counts as himself.
func TestChangeOfNothingIsNoEvent(t *testing.T) {
	store := fake.New("gc")
	b, err := store.Create(t.Context(), beads.Bead{Title: "x"})
	if err != nil {
		t.Fatal(err)
	}
	label := func(l string) beads.Patch { return beads.Patch{AddLabels: []string{l}} }
	for i, c := range []struct {
		patch beads.Patch
		kind  string
	}{
		{label("a"), events.BeadUpdated}, {label("a"), ""}, {beads.Closing(), events.BeadClosed}, {beads.Closing(), ""},
		{beads.Patch{Status: new(beads.StatusClosed), AddLabels: []string{"b"}}, events.BeadUpdated}, {beads.Patch{IfRev: new(uint64(4))}, ""},
	} {
		was, got, err := swap(t.Context(), store, city.UpdateBead{ID: b.ID, Patch: c.patch})
		if kind := city.BeadEvent(&was, got, "", 0).Type; err != nil || kind != c.kind || got.ID != b.ID {
			t.Errorf("%d: %q of %+v, %v", i, kind, got, err)
		}
	}
	if _, _, err := swap(t.Context(), store, city.UpdateBead{ID: b.ID, Patch: beads.Patch{IfRev: new(uint64(1))}}); !errors.Is(err, beads.ErrConflict) {
		t.Error(err)
	}
	var all sync.WaitGroup
	for i := range 30 {
		all.Go(func() {
			was, got, err := swap(t.Context(), store, city.UpdateBead{ID: b.ID, Patch: label("by" + string(rune('a'+i)))})
			if kind := city.BeadEvent(&was, got, "", 0).Type; err != nil || kind != events.BeadUpdated {
				t.Errorf("%q, %v", kind, err)
			}
		})
	}
	all.Wait()
}

// Work that changes while it is being counted is counted once more, not at the next patrol.
func TestCountOfWhatChangesMeanwhile(t *testing.T) {
	m := newMachine()
	m.conf = &conf{}
	counts := func() (n int) {
		for _, f := range m.out {
			if _, ok := f.(fxCount); ok {
				n++
			}
		}
		m.out = nil
		return n
	}
	m.count()
	if counts() != 1 {
		t.Fatal("work is not counted")
	}
	m.count()
	m.count()
	if counts() != 0 {
		t.Error("it is counted twice at once")
	}
	m.countedWork(time.Time{}, inCounted{unchanged: true})
	if counts() != 1 {
		t.Error("what came meanwhile is not counted")
	}
	m.countedWork(time.Time{}, inCounted{unchanged: true})
	if counts() != 0 {
		t.Error("it is counted for ever")
	}
}

// patient is a store that takes its time, and asks for it.
type patient struct {
	beads.Store
	down bool
}

func (*patient) CallLimit() time.Duration { return 30 * time.Second }

func (s *patient) List(ctx context.Context, _ beads.Query) ([]beads.Bead, error) {
	if s.down {
		return nil, errors.New("down")
	}
	select {
	case <-time.After(20 * time.Second):
		return nil, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// A store that is slow when it is well is found to be well again.
func TestASlowStoreHeals(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &patient{down: true}
		g := newGuards(func(inStores) {}).before("", store)
		for range breakAfter {
			if _, err := g.List(t.Context(), beads.Query{}); err == nil {
				t.Error("a store that is down was read")
			}
		}
		store.down = false
		time.Sleep(minBroken)
		g.tryRead(t.Context())
		if _, err := g.List(t.Context(), beads.Query{}); err != nil {
			t.Error(err)
		}
	})
}
