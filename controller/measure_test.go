package controller

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"gcity/config"
	"gcity/session"
	"gcity/session/fake"
)

// metered is a fake provider with constant usage. While chatty is set, each List finds more output.
type metered struct {
	*fake.Provider
	asked   atomic.Int64
	chatty  atomic.Bool
	printed atomic.Uint64
}

func (p *metered) List(ctx context.Context) ([]session.Status, error) {
	all, err := p.Provider.List(ctx)
	if p.chatty.Load() {
		p.printed.Add(1)
	}
	for i := range all {
		all[i].Output = p.printed.Load()
		all[i].Activity = all[i].Started.Add(time.Duration(all[i].Output))
	}
	return all, err
}

func (p *metered) Usage(ctx context.Context) (map[string]session.Usage, error) {
	p.asked.Add(1)
	all, err := p.List(ctx)
	out := map[string]session.Usage{}
	for _, s := range all {
		out[s.Name] = session.Usage{RSS: 5 << 20, Procs: 2}
	}
	return out, err
}

// Usage is measured every two seconds while a client watches, once a minute while an agent prints, and otherwise every
// eight minutes. Measuring an unchanged city publishes no snapshot (L5).
func TestMeasuring(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newTown(t, two)
		cfg, err := config.Load(w.dir)
		if err != nil {
			t.Fatal(err)
		}
		p := &metered{Provider: w.fake}
		w.o.Provider, w.o.Pulse = p, time.Second
		if w.Controller, err = New(w.o, cfg); err != nil {
			t.Fatal(err)
		}
		defer w.begin()()
		pass := func(d time.Duration) (asked int64, rev uint64) {
			asked = p.asked.Load()
			time.Sleep(d)
			synctest.Wait()
			s, err := w.Snapshot(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			return p.asked.Load() - asked, s.Rev
		}
		pass(time.Minute)
		if s, err := w.Snapshot(t.Context()); err != nil || s.Agents[0].Usage == nil ||
			s.Agents[0].Usage.Procs != 2 || s.Agents[0].Usage.RSS != 5<<20 {
			t.Fatalf("%+v, %v", s.Agents, err)
		}
		_, before := pass(0)
		if asked, after := pass(time.Hour); asked < 7 || asked > 10 || after != before {
			t.Errorf("idle hour: got %d queries, %d new snapshots", asked, after-before)
		}
		p.chatty.Store(true)
		if asked, _ := pass(time.Hour); asked < 59 || asked > 60 {
			t.Errorf("hour of output: got %d queries", asked)
		}
		p.chatty.Store(false)
		_, before = pass(time.Hour)
		ctx, leave := context.WithCancel(t.Context())
		watching := make(chan struct{})
		go func() {
			defer close(watching)
			for range w.Snapshots(ctx) {
			}
		}()
		if asked, after := pass(time.Minute); asked < 29 || asked > 31 || after != before {
			t.Errorf("minute with a watcher: got %d queries, %d new snapshots", asked,
				after-before)
		}
		leave()
		<-watching
		if asked, _ := pass(time.Hour); asked < 7 || asked > 9 {
			t.Errorf("hour after watching: got %d queries", asked)
		}
	})
}

// An idle loop runs rarely, unless a client is watching. A requested snapshot still shows a recent iteration.
func TestPulse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newTown(t, two)
		cfg, err := config.Load(w.dir)
		if err != nil {
			t.Fatal(err)
		}
		var turns atomic.Int64
		w.o.Provider, w.o.Pulse = w.fake, time.Second
		w.o.Heartbeat = func(string) { turns.Add(1) }
		if w.Controller, err = New(w.o, cfg); err != nil {
			t.Fatal(err)
		}
		defer w.begin()()
		pass := func(d time.Duration) int64 {
			before := turns.Load()
			time.Sleep(d)
			synctest.Wait()
			return turns.Load() - before
		}
		pass(time.Minute)
		// one iteration every 10 s, plus some for the results of patrols
		if n := pass(10 * time.Minute); n < 60 || n > 150 {
			t.Errorf("got %d loop passes in ten idle minutes", n)
		}
		pass(8 * time.Second)
		s, err := w.Snapshot(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if age := s.Patrol.Age(time.Now()); age > time.Second {
			t.Errorf("age of the last patrol: got %s", age)
		}
		ctx, leave := context.WithCancel(t.Context())
		watching := make(chan struct{})
		go func() {
			defer close(watching)
			for range w.Snapshots(ctx) {
			}
		}()
		if n := pass(time.Minute); n < 59 {
			t.Errorf("got %d loop passes in a minute with a watcher", n)
		}
		leave()
		<-watching
		pass(time.Second)
		if n := pass(time.Minute); n > 15 {
			t.Errorf("got %d loop passes in the minute after", n)
		}
	})
}

// If the loop hangs, a snapshot shows the time since the loop's latest iteration. The wait for the snapshot is limited.
func TestSnapshotOfAHangingLoop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newTown(t, two)
		w.o.Pulse = time.Second // the loop is not running
		time.Sleep(time.Minute)
		begun := time.Now()
		s, err := w.Snapshot(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if took := time.Since(begun); took > time.Second {
			t.Errorf("it took %s", took)
		}
		if age := s.Patrol.Age(begun); age < 59*time.Second {
			t.Errorf("the age is %s", age)
		}
	})
}
