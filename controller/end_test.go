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

// unheard is a provider that may come to answer nothing any more, and has all the time of the world for that.
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

// newUnheardTown is a town of which the agent "slow" runs by a provider that may come to answer nothing.
func newUnheardTown(t *testing.T) (*town, *unheard) {
	w := newTown(t, quickAndSlow)
	s := &unheard{Provider: fake.New()}
	w.runBy(s)
	return w, s
}

// A city whose sessions nobody ends has a bound all the same, whoever asked for the end, and says at any time what
// it waits for and until when at most. A second wish takes the grace away (L14).
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
			answers := make(chan error, 2)
			for range asked {
				go func() { _, err := w.Do(t.Context(), city.Shutdown{}); answers <- err }()
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
				if time.Now().After(by.Add(Farewell)) {
					t.Fatalf("it has not ended after %s: %+v", time.Since(began), snap.Ending)
				}
				if len(answers) > 0 { // the last words
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
				if err := <-answers; err == nil ||
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

// When nobody is known to live, it is still to be known that nobody does, and what the city waits for then is said too.
func TestAStopThatCannotLook(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, s := newUnheardTown(t)
		w.begin()
		synctest.Wait()
		time.Sleep(time.Minute)
		s.Vanish("slow")
		if _, err := w.Do(t.Context(), city.Suspend{Agent: "slow"}); err != nil {
			t.Fatal(err)
		}
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
			"it is unknown whether agents still run") {
			t.Errorf("Run: %v", err)
		}
	})
}

// A stop of one agent that takes longer than its grace does not show a time that has passed.
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
		w.Hurry() // nobody is being stopped but one agent: it means nothing
		time.Sleep(2 * time.Hour)
		end()
	})
}
