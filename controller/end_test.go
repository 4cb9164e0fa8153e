package controller

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"gcity/city"
	"gcity/controller/machine"
	"gcity/session"
	"gcity/session/fake"
)

// unheard is a provider that can be made to hang. Its call timeout is an hour.
type unheard struct {
	*fake.Provider
	hangs atomic.Bool
}

func (s *unheard) Patience(string) time.Duration { return time.Hour }

func (s *unheard) wait(ctx context.Context) error {
	if s.hangs.Load() {
		<-ctx.Done()
	}
	return context.Cause(ctx)
}

func (s *unheard) List(ctx context.Context) ([]session.Status, error) {
	if err := s.wait(ctx); err != nil {
		return nil, err
	}
	return s.Provider.List(ctx)
}

func (s *unheard) Stop(ctx context.Context, name string, grace time.Duration) error {
	if err := s.wait(ctx); err != nil {
		return err
	}
	return s.Provider.Stop(ctx, name, grace)
}

func newUnheardTown(t *testing.T) (*town, *unheard) {
	w := newTown(t, quickAndSlow)
	s := &unheard{Provider: fake.New()}
	w.runBy(s)
	return w, s
}

// Stopping a city takes a bounded time even if its sessions do not end. In the meantime, the snapshot shows the
// deadline of the stop and the reasons for the wait (L14). A second shutdown command ends the grace period.
func TestAStopIsBounded(t *testing.T) {
	for _, asked := range []int{1, 2} {
		synctest.Test(t, func(t *testing.T) {
			w, s := newUnheardTown(t)
			w.begin()
			synctest.Wait()
			if state := w.state("slow"); state != "running" {
				t.Fatalf("slow is %s", state)
			}
			s.hangs.Store(true)
			began := time.Now()
			replies := make(chan error, 2)
			for range asked {
				go func() { _, err := w.Do(t.Context(), city.Shutdown{}); replies <- err }()
				synctest.Wait()
			}
			by := began.Add(w.StopLimit())
			if asked > 1 {
				by = began.Add(machine.HurryLimit)
			}
			for hurried := false; ; time.Sleep(500 * time.Millisecond) {
				synctest.Wait()
				snap, err := w.Snapshot(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				if len(w.ended) > 0 {
					break
				}
				if time.Now().After(by.Add(ShutdownLimit)) {
					t.Fatalf("the city did not stop within %s: %+v", time.Since(began), snap.Ending)
				}
				if len(replies) > 0 { // the command has its reply, so this might be the last snapshot
					continue
				}
				e := snap.Ending
				if e == nil || !e.Since.Equal(began) || !e.Until.Equal(by) && !e.Hurried {
					t.Fatalf("after %s: %+v", time.Since(began), e)
				}
				hurried = hurried || e.Hurried
				if e.Hurried != (asked > 1 ||
					!time.Now().Before(began.Add(w.StopLimit()-machine.HurryLimit))) {
					t.Errorf("after %s: %+v", time.Since(began), e)
				}
				a, _ := snap.Agent("slow")
				if a.State != city.Stopping || a.Until == nil || a.Until.Before(time.Now()) ||
					a.Until.After(e.Until) {
					t.Errorf("after %s: %s, %s, until %v", time.Since(began), a.State, a.Reason,
						a.Until)
				}
			}
			for range asked {
				if err := <-replies; err == nil ||
					!strings.Contains(err.Error(), "slow (by tmux, session ") {
					t.Errorf("answered with %v", err)
				}
			}
			if err := <-w.ended; err == nil ||
				!strings.Contains(err.Error(), "slow (by tmux, session ") {
				t.Errorf("Run: %v", err)
			}
		})
	}
}

// If no agent is known to be running, a stop still waits for a list of the sessions, and the snapshot says so.
func TestStopCannotListSessions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, s := newUnheardTown(t)
		w.begin()
		synctest.Wait()
		// between two patrols, so that no list shows the end of the agent "slow"
		time.Sleep(45 * time.Second)
		s.Vanish("slow")
		if _, err := w.Do(t.Context(), city.Suspend{Agent: "slow"}); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		s.hangs.Store(true)
		go func() { _, _ = w.Do(t.Context(), city.Shutdown{}) }()
		time.Sleep(20 * time.Second)
		synctest.Wait()
		snap, err := w.Snapshot(t.Context())
		if err != nil || snap.Ending == nil || len(snap.Ending.Waits) != 1 ||
			!strings.Contains(snap.Ending.Waits[0], "sessions of tmux") {
			t.Errorf("%+v, %v", snap.Ending, err)
		}
		if err := <-w.ended; err == nil || !strings.Contains(err.Error(),
			"it is unknown whether agents are still running") {
			t.Errorf("Run: %v", err)
		}
	})
}

// If stopping an agent takes longer than the agent's grace period, the snapshot does not show a deadline in the past.
func TestAStoppingAgentShowsNoPast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, s := newUnheardTown(t)
		end := w.begin()
		synctest.Wait()
		s.hangs.Store(true)
		go func() { _, _ = w.Do(t.Context(), city.Stop{Agent: "slow"}) }()
		for range 20 {
			synctest.Wait()
			snap, err := w.Snapshot(t.Context())
			a, _ := snap.Agent("slow")
			if err != nil || a.State != city.Stopping || a.Until != nil &&
				a.Until.Before(time.Now()) {
				t.Fatalf("%s, %s, until %v; %v", a.State, a.Reason, a.Until, err)
			}
			time.Sleep(time.Second)
		}
		s.hangs.Store(false)
		w.Hurry() // has no effect, because the city is not being stopped
		time.Sleep(2 * time.Hour)
		end()
	})
}
