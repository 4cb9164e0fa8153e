package registry

import (
	"context"
	"log/slog"
	"testing"

	"gcity/internal/eventually"
	"gcity/session"
)

type state struct{ name string }

func fresh(name string) *state { return &state{name} }

// Forget removes only the given state, and only if it is unused.
func TestForget(t *testing.T) {
	r := New(fresh, slog.New(slog.DiscardHandler), nil)
	first := r.Entry("a")
	r.Forget("a", first, func() bool { return false })
	if r.Find("a") != first || r.Entry("a") != first || len(r.All()) != 1 {
		t.Error("an entry in use was removed")
	}
	r.Forget("a", first, func() bool { return true })
	next := r.Entry("a")
	r.Forget("a", first, func() bool { return true })
	if r.Find("a") != next || next == first {
		t.Error("the entry of a newer session was removed")
	}
}

// After Close, no goroutine starts, and a full exit channel does not block (L10).
func TestClose(t *testing.T) {
	r := New(fresh, slog.New(slog.DiscardHandler), nil)
	ran, held := make(chan bool, 1), make(chan struct{})
	r.Async(func() { <-held; ran <- true })
	if !r.Close() || r.Close() || r.Async(func() { t.Error("started after Close") }) {
		t.Error("Close returned the wrong value, or Async still works")
	}
	for range exitsKept + 1 {
		r.Report(session.Exit{Name: "a"})
	}
	close(held)
	r.Wait()
	eventually.Receive(t, "the goroutine", ran)
	n := 0
	for range r.Exits() {
		n++
	}
	if n != exitsKept {
		t.Errorf("%d exits, want %d", n, exitsKept)
	}
}

// A stop that outlasts the provider can still report an exit.
func TestReportAfterWait(t *testing.T) {
	r := New(fresh, slog.New(slog.DiscardHandler), nil)
	r.Close()
	r.Wait()
	r.Report(session.Exit{Name: "a"})
	if x, open := <-r.Exits(); open {
		t.Errorf("got %+v, want a closed channel", x)
	}
}

// Only one call at a time holds the lock.
func TestNameLock(t *testing.T) {
	turn := NewNameLock()
	release, err := turn.Lock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := turn.TryLock(); ok {
		t.Error("two calls held the lock")
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(session.ErrBusy)
	if _, err := turn.Lock(ctx); err != session.ErrBusy {
		t.Errorf("end of the wait: got %v", err)
	}
	release()
	if release, ok := turn.TryLock(); !ok {
		t.Error("the lock was not released")
	} else {
		release()
	}
}
