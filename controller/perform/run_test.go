package perform

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"gcity/config"
	"gcity/controller/effect"
	"gcity/internal/eventually"
	"gcity/session"
)

func TestIsNew(t *testing.T) {
	for _, tt := range []struct {
		name string
		load effect.Load
		want bool
	}{
		{"in force", effect.Load{Known: "r", Now: true}, false},
		{"refused before", effect.Load{Known: "q", RejectedRevision: "r", Now: true}, false},
		{"changed", effect.Load{Known: "q", RejectedRevision: "p", Now: true}, true},
		{"seen by a patrol for the first time", effect.Load{Known: "q", SeenAtPatrol: "p"}, false},
		{"seen by two patrols", effect.Load{Known: "q", SeenAtPatrol: "r"}, true},
	} {
		if got := isNew(tt.load, "r"); got != tt.want {
			t.Errorf("%s: %t", tt.name, got)
		}
	}
}

// A configuration that declares more agents than allowed is rejected.
func TestAllowedAgents(t *testing.T) {
	cfg := &config.City{Agents: []config.Agent{{Name: "a", StartCommand: "x"},
		{Name: "b", StartCommand: "x"}}}
	asked := 0
	r := New(World{Allow: func(_ context.Context, agents int) error {
		if asked = agents; agents > 1 {
			return errors.New("too many")
		}
		return nil
	}})
	if err := r.w.allow(cfg); err == nil || asked != 2 {
		t.Errorf("%d agents: %v", asked, err)
	}
	cfg.Agents = cfg.Agents[:1]
	if err := r.w.allow(cfg); err != nil || asked != 1 {
		t.Errorf("%d agents: %v", asked, err)
	}
}

type slow struct{ session.Provider }

func (slow) Patience(string) time.Duration { return time.Minute }

// An agent's last output is saved after its next session has started, unless that start is slow.
func TestCaptureDoesNotWaitForSlowStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		waits := func(p session.Provider) time.Duration {
			sr := &sessions{base: &base{w: World{Provider: p}},
				starts: map[string]*starting{"a": {forked: make(chan struct{})}}}
			began := time.Now()
			sr.awaitStart(t.Context(), "a", "gc-a")
			return time.Since(began)
		}
		if got := waits(slow{}); got != 0 {
			t.Errorf("wait before a slow provider's start: got %s, want 0", got)
		}
		if got := waits(nil); got != captureYield {
			t.Errorf("wait before another provider's start: got %s, want %s", got, captureYield)
		}
	})
}

// platform is a provider in which each start waits until all starts have begun.
type platform struct {
	session.Provider
	begun sync.WaitGroup
}

func (p *platform) Start(ctx context.Context, _ session.Spec) (session.Status, error) {
	session.Progress(ctx, "waits for a node")
	p.begun.Done()
	p.begun.Wait()
	session.Progress(ctx, "is being prepared")
	return session.Status{}, nil
}

// Starts that wait for their platform do not delay other starts, and their progress is still reported.
func TestWaitingStartsNeedNoSlot(t *testing.T) {
	const n = 5
	p, ends := &platform{}, make(chan error, n)
	p.begun.Add(n)
	pace := &limitedProvider{Provider: p, slots: make(chan struct{}, 1), forked: func(string) {}}
	var mu sync.Mutex
	reports := map[string]int{}
	ctx := session.WithProgress(t.Context(), func(why string) {
		mu.Lock()
		defer mu.Unlock()
		reports[why]++
	})
	for range n {
		go func() {
			_, err := pace.Start(ctx, session.Spec{})
			ends <- err
		}()
	}
	for range n {
		if err := eventually.Receive(t, "a start", ends); err != nil {
			t.Fatal(err)
		}
	}
	if reports["waits for a node"] != n || reports["is being prepared"] != n {
		t.Errorf("reports: %v", reports)
	}
	if len(pace.slots) != 0 {
		t.Errorf("got %d slots in use, want 0", len(pace.slots))
	}
}
