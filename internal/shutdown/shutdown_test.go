package shutdown_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"gcity/internal/shutdown"
)

// All work of a shutdown shares one deadline.
func TestOneDeadlineForAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		last := shutdown.New(6 * time.Second)
		ctx, cancel := context.WithCancel(shutdown.NewContext(t.Context(), last))
		cancel()
		long, free := shutdown.CleanupContext(ctx, time.Hour)
		defer free()
		time.Sleep(time.Minute) // before Begin, only the context's own limit applies
		if long.Err() != nil {
			t.Error(context.Cause(long))
		}
		began := time.Now()
		last.Begin()
		last.Begin()
		<-last.Begun()
		if a, b := last.Left(time.Hour), last.Left(time.Second); a != 4*time.Second || b != time.Second {
			t.Errorf("remaining times: got %s and %s", a, b)
		}
		short, free := shutdown.CleanupContext(ctx, time.Second)
		defer free()
		<-short.Done()
		shutdown.GiveUp(short, "work that had only a second anyway")
		<-long.Done()
		shutdown.GiveUp(long, "bead %d", 1)
		if at := time.Since(began); at != 4*time.Second || !errors.Is(context.Cause(long), shutdown.ErrTimeout) {
			t.Errorf("after %s: %v", at, context.Cause(long))
		}
		late, free := shutdown.CleanupContext(ctx, time.Hour)
		defer free()
		if synctest.Wait(); late.Err() == nil {
			t.Error("the cleanup context was not canceled at its deadline")
		}
		<-last.Context().Done()
		last.GiveUp("the goodbye")
		if at := time.Since(began); at != 6*time.Second {
			t.Errorf("the context was canceled after %s", at)
		}
		if left := last.End(); left != "bead 1; the goodbye" {
			t.Errorf("%q", left)
		}
	})
}

// Without a Deadline, cleanup has its own limit.
func TestWithoutDeadline(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	own, free := shutdown.CleanupContext(ctx, time.Hour)
	if own.Err() != nil {
		t.Error(own.Err())
	}
	free()
	shutdown.GiveUp(own, "nothing")
	if last := shutdown.New(time.Hour); last.End() != "" || last.Context().Err() == nil {
		t.Error("the context was not canceled by End")
	}
}
