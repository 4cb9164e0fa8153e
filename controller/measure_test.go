package controller

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"gcity/config"
	"gcity/controller/effect"
	"gcity/session"
	"gcity/session/fake"
)

// metered is a fake that says what its sessions take: the same, whenever it is asked.
type metered struct {
	*fake.Provider
	asked atomic.Int64
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

// Figures are taken once a minute, every two seconds while somebody watches, and a city that stays as it is publishes
// nothing because of them (L5).
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
			time.Sleep(d) // on the bubble's clock
			synctest.Wait()
			s, err := w.Snapshot(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			return p.asked.Load() - asked, s.Rev
		}
		pass(time.Minute)
		if s, err := w.Snapshot(t.Context()); err != nil || s.Agents[0].Usage == nil || s.Agents[0].Usage.Procs != 2 || s.Agents[0].Usage.RSS != 5<<20 {
			t.Fatalf("%+v, %v", s.Agents, err)
		}
		_, before := pass(0)
		if asked, after := pass(time.Hour); asked != 60 || after != before {
			t.Errorf("asked %d times in an hour, and %d snapshots published", asked, after-before)
		}
		ctx, leave := context.WithCancel(t.Context())
		watching := make(chan struct{})
		go func() {
			defer close(watching)
			for range w.Snapshots(ctx) {
			}
		}()
		if asked, after := pass(time.Minute); asked < 29 || asked > 31 || after != before {
			t.Errorf("asked %d times in a minute of watching, and %d snapshots published", asked, after-before)
		}
		leave()
		<-watching
		if asked, _ := pass(time.Hour); asked < 59 || asked > 60 {
			t.Errorf("asked %d times in the hour after", asked)
		}
	})
}

// What is shown changes by steps that can be seen, and no sooner.
func TestFiguresChangeInSteps(t *testing.T) {
	w := newWorld()
	w.m.gauge.able = true
	w.declare("a")
	w.advance(0)
	u := session.Usage{CPU: 0, RSS: 10_000_000, Procs: 1}
	for i, c := range []struct {
		cpu     time.Duration // more than before
		rss     int64
		changes bool
	}{
		{0, 0, true},
		{0, 0, false},
		{4 * time.Millisecond, 0, false}, // of 10 s: 0.04 %
		{6 * time.Millisecond, 0, true},
		{9 * time.Millisecond, 99_999, false},
		{9 * time.Millisecond, 1, true},
		{time.Second, 0, true},
	} {
		u.CPU, u.RSS = u.CPU+c.cpu, u.RSS+c.rss
		w.uses = map[string]session.Usage{"a": u}
		w.now = w.now.Add(10 * time.Second)
		w.m.changed = false
		w.step(effect.Watched{})
		if w.m.changed != c.changes {
			t.Errorf("sample %d, %+v: shown anew: %t, want %t: %+v", i, u, w.m.changed, c.changes, w.m.agents["a"].usage())
		}
	}
	if got := w.m.agents["a"].usage().CPU; got != 10 {
		t.Errorf("a second of ten is %v %%", got)
	}
}

// BenchmarkMeasured is a sample of a city at rest. Aim: no allocation.
func BenchmarkMeasured(b *testing.B) {
	for _, n := range []int{100, 1000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			w := newWorld()
			w.uses = map[string]session.Usage{}
			names := make([]string, n)
			for i := range names {
				names[i] = fmt.Sprintf("agent-%04d", i)
				w.uses[names[i]] = session.Usage{CPU: time.Second, RSS: 5 << 20, Procs: 2}
			}
			w.m.gauge.able = true
			w.declare(names...)
			w.advance(time.Minute)
			w.m.measured(w.measure().(effect.Measured))
			in := w.measure().(effect.Measured)
			w.m.changed = false
			b.ReportAllocs()
			for b.Loop() {
				w.now = w.now.Add(30 * time.Second)
				in.At = w.now
				w.m.step(w.now, in)
			}
			if w.m.changed {
				b.Fatal("something was shown anew")
			}
		})
	}
}
