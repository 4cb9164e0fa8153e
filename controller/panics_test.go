package controller

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"gcity/agent"
	"gcity/beads"
	"gcity/beads/sqlite"
	"gcity/city"
	"gcity/config"
	"gcity/controller/effect"
	"gcity/events"
	"gcity/internal/recovery"
	"gcity/session/pty"
)

type crashingCity struct {
	t   *testing.T
	dir string
}

func (h *crashingCity) run(ctx context.Context, between func(any) bool, faults chan error,
	settled func(*Controller, map[string]int)) error {
	h.t.Helper()
	cfg, err := config.Load(h.dir)
	if err != nil {
		h.t.Fatal(err)
	}
	hold, err := Acquire(h.dir)
	if err != nil {
		h.t.Fatal(err)
	}
	defer hold.Release()
	log, err := events.Open(filepath.Join(h.dir, ".gc"), events.Options{})
	if err != nil {
		h.t.Fatal(err)
	}
	defer log.Close()
	exe, err := os.Executable()
	if err != nil {
		h.t.Fatal(err)
	}
	p, err := pty.New(pty.Options{City: h.dir, Binary: exe})
	if err != nil {
		h.t.Fatal(err)
	}
	defer p.Close()
	store, err := sqlite.Open(h.dir, "to")
	if err != nil {
		h.t.Fatal(err)
	}
	defer store.Close()
	c, err := New(Options{
		Dir: h.dir, Mode: "headless", Version: "test", Provider: p, Log: log, Faults: faults,
		Stores: func(string) (beads.Store, error) { return store, nil },
		Host:   agent.Host{Environ: os.Environ(), BinDir: "/gc/bin"},
	}, cfg)
	if err != nil {
		h.t.Fatal(err)
	}
	c.runner.Intercept = between
	ended := make(chan error, 1)
	go func() { ended <- c.Run(ctx) }()
	looking, enough := context.WithTimeout(h.t.Context(), time.Minute)
	defer enough()
	for s, err := range c.Snapshots(looking) {
		if err != nil {
			break // the controller has already ended
		}
		if pids := pidsOf(s); len(pids) == 2 {
			settled(c, pids)
			break
		}
	}
	return <-ended
}

func pidsOf(s *city.Snapshot) map[string]int {
	pids := map[string]int{}
	for _, a := range s.Agents {
		if a.State == city.Running && a.PID > 0 {
			pids[a.Name] = a.PID
		}
	}
	return pids
}

// A panic in any goroutine ends the controller and is reported, but does not end any agent. The next controller has the
// same agent processes.
func TestAPanicEndsTheControllerAlone(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	err = os.WriteFile(filepath.Join(dir, "city.toml"), []byte(`[workspace]
name = "town"
[[agents]]
name = "a"
start_command = "exec sleep 1000"
[[agents]]
name = "b"
start_command = "exec sleep 1000"
[daemon]
patrol_interval = "100ms"
`), 0o644)
	if err != nil {
		t.Fatal(err)
	}
	h := &crashingCity{t, dir}
	pids := map[string]int{}
	same := func(_ *Controller, now map[string]int) {
		for name, pid := range now {
			if was, known := pids[name]; known && was != pid {
				t.Errorf("pid of %s: got %d, want %d", name, pid, was)
			}
			pids[name] = pid
		}
	}
	stop := func() {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		if err := h.run(ctx, nil, nil, func(c *Controller, now map[string]int) {
			same(c, now)
			cancel()
		}); err != nil {
			t.Error(err)
		}
	}
	defer func() {
		if t.Failed() {
			stop()
		}
	}()
	before := goleak.IgnoreCurrent()
	for _, at := range []struct {
		what string
		step func(any) bool // matches the effect or input at which the controller panics
	}{
		{"in the loop", func(step any) bool { _, ok := step.(effect.List); return ok }},
		{"in an effect", func(step any) bool { _, ok := step.(effect.Listed); return ok }},
		{"beside the controller", nil},
		{"while it holds a lock", func(step any) bool { _, ok := step.(effect.List); return ok }},
	} {
		t.Run(at.what, func(t *testing.T) {
			if at.what == "while it holds a lock" && testing.Short() {
				t.Skip("waits for a timeout")
			}
			h.t = t
			var armed atomic.Bool
			var broken *Controller
			faults := make(chan error, 1)
			between := func(step any) bool {
				if armed.Load() && at.step != nil && at.step(step) {
					if at.what == "with a lock in its hand" {
						broken.runner.Sessions.Mu.Lock()
					}
					panic("an unexpected state")
				}
				return true
			}
			err := h.run(t.Context(), between, faults, func(c *Controller, now map[string]int) {
				same(c, now)
				broken = c
				armed.Store(true)
				if at.step == nil {
					faults <- recovery.Catch(func() { panic("an unexpected state") })
				}
				// Do returns an error at the latest when the controller ends, and does not block forever.
				if _, err := c.Do(t.Context(), city.Release{Agent: "nobody"}); err == nil {
					t.Error("released")
				}
			})
			if at.what == "with a lock in its hand" {
				broken.runner.Sessions.Mu.Unlock()
			}
			if p, ok := errors.AsType[*recovery.Panic](err); !ok || len(p.Stack()) == 0 {
				t.Errorf("Run: %v", err)
			}
			r, err := events.OpenReader(filepath.Join(dir, ".gc"))
			if err != nil {
				t.Fatal(err)
			}
			found, err := r.Find(t.Context(), events.Query{Limit: 1})
			if err != nil || len(found) != 1 || found[0].Type != events.CityCrashed ||
				!strings.Contains(found[0].Message, "an unexpected state") {
				t.Errorf("the newest event: got %+v, %v", found, err)
			}
		})
	}
	h.t = t
	stop() // the next controller stops all agents
	goleak.VerifyNone(t, before)
	for name, pid := range pids {
		if runs(pid) {
			t.Errorf("%s is still running, pid %d", name, pid)
		}
	}
	clear(pids)
}
