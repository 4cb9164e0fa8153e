package host

import (
	"context"
	"log/slog"
	"os"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"gcity/city"
	"gcity/session/fake"
)

// slow is a controller loop that does not stop on its own and records the calls of Hurry and GiveUp.
type slow struct {
	city.Control
	limit   atomic.Int64
	hurried chan struct{}
	gaveUp  chan struct{}
}

func (*slow) Run(context.Context) error     { return nil }
func (*slow) RunOnce(context.Context) error { return nil }
func (*slow) SetMode(string)                {}
func (*slow) FirstList() <-chan struct{}    { return nil }
func (s *slow) GiveUp()                     { close(s.gaveUp) }
func (s *slow) Hurry()                      { close(s.hurried) }
func (s *slow) StopLimit() time.Duration    { return time.Duration(s.limit.Load()) }

// All agents are killed shortly before the stop limit, which is longer for a chain of dependent agents.
func TestStopLimitCoversDependencyChain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &slow{hurried: make(chan struct{})}
		h := &City{parts: parts{Loop: l, sessions: fake.New()}, Logger: slog.New(slog.DiscardHandler), Done: make(chan struct{})}
		signals, obeyed := make(chan os.Signal, 1), make(chan error, 1)
		stopped := make(chan struct{})
		l.limit.Store(int64(35 * time.Second))
		go func() { obeyed <- h.HandleSignals(signals, func() { close(stopped) }, func() {}) }()
		synctest.Wait()
		const limit = 4*time.Minute + 30*time.Second
		l.limit.Store(int64(limit))
		began := time.Now()
		signals <- syscall.SIGTERM
		<-stopped
		<-l.hurried
		if took := time.Since(began); took != limit-stopMargin { // time in the synctest bubble
			t.Errorf("all agents were killed after %s", took)
		}
		close(h.Done)
		if err := <-obeyed; err != nil {
			t.Error(err)
		}
	})
}

// The controller gives up on agents that survive a kill, and stops.
func TestHungTaskIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &slow{hurried: make(chan struct{}), gaveUp: make(chan struct{})}
		l.limit.Store(int64(time.Hour))
		h := &City{parts: parts{Loop: l, sessions: fake.New()}, Logger: slog.New(slog.DiscardHandler), Done: make(chan struct{})}
		signals, obeyed := make(chan os.Signal, 1), make(chan error, 1)
		go func() { obeyed <- h.HandleSignals(signals, func() {}, func() {}) }()
		signals <- syscall.SIGTERM
		synctest.Wait()
		began := time.Now()
		signals <- syscall.SIGTERM
		<-l.hurried
		<-l.gaveUp
		if took := time.Since(began); took != killLimit { // time in the synctest bubble
			t.Errorf("Stop gave up after %s", took)
		}
		close(h.Done)
		if err := <-obeyed; err != nil {
			t.Error(err)
		}
	})
}
