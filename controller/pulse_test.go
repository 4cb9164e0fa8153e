package controller

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"gcity/config"
)

// An idle loop runs rarely, unless a client watches. The age in a snapshot is still current.
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
			time.Sleep(d) // on the bubble's clock
			synctest.Wait()
			return turns.Load() - before
		}
		pass(time.Minute)
		// one pulse every 10 s, and the results of patrols
		if n := pass(10 * time.Minute); n < 60 || n > 150 {
			t.Errorf("%d turns in ten idle minutes", n)
		}
		pass(8 * time.Second)
		s, err := w.Snapshot(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if age := s.Patrol.Age(time.Now()); age > time.Second {
			t.Errorf("the loop seems to have turned %s ago", age)
		}
		ctx, leave := context.WithCancel(t.Context())
		watching := make(chan struct{})
		go func() {
			defer close(watching)
			for range w.Snapshots(ctx) {
			}
		}()
		if n := pass(time.Minute); n < 59 {
			t.Errorf("%d turns in a minute of watching", n)
		}
		leave()
		<-watching
		pass(time.Second)
		if n := pass(time.Minute); n > 15 {
			t.Errorf("%d turns in the minute after", n)
		}
	})
}

// The snapshot of a hung loop shows the loop's true age, after a wait with a limit.
func TestSnapshotOfAHangingLoop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newTown(t, two)
		w.o.Pulse = time.Second // the loop is not running
		time.Sleep(time.Minute) // on the bubble's clock
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
