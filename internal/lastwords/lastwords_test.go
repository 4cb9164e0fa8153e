package lastwords_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"gcity/internal/lastwords"
)

// However much is to be said and taken back at the end, it has one time together; of what was not done by then everybody
// hears.
func TestOneTimeForAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		last := lastwords.New(6 * time.Second)
		ctx, cancel := context.WithCancel(lastwords.In(t.Context(), last))
		cancel()
		long, free := lastwords.Amend(ctx, time.Hour)
		defer free()
		time.Sleep(time.Minute) // the program goes on: it has the time that it was given
		if long.Err() != nil {
			t.Error(context.Cause(long))
		}
		began := time.Now()
		last.Begin()
		last.Begin()
		<-last.Begun()
		if a, b := last.Left(time.Hour), last.Left(time.Second); a != 4*time.Second || b != time.Second {
			t.Errorf("%s and %s are left", a, b)
		}
		short, free := lastwords.Amend(ctx, time.Second)
		defer free()
		<-short.Done()
		lastwords.GiveUp(short, "what had no more than a second anyway")
		<-long.Done()
		lastwords.GiveUp(long, "bead %d", 1)
		if at := time.Since(began); at != 4*time.Second || !errors.Is(context.Cause(long), lastwords.ErrOver) { // by the bubble's clock
			t.Errorf("after %s: %v", at, context.Cause(long))
		}
		late, free := lastwords.Amend(ctx, time.Hour)
		defer free()
		if synctest.Wait(); late.Err() == nil {
			t.Error("there is time for amends after it is over")
		}
		<-last.Context().Done()
		last.GiveUp("the goodbye")
		if at := time.Since(began); at != 6*time.Second {
			t.Errorf("all was over after %s", at)
		}
		if left := last.End(); left != "bead 1; the goodbye" {
			t.Errorf("%q", left)
		}
	})
}

// Without last words an amendment has its own time, and nobody is told.
func TestWithoutLastWords(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	own, free := lastwords.Amend(ctx, time.Hour)
	if own.Err() != nil {
		t.Error(own.Err())
	}
	free()
	lastwords.GiveUp(own, "nothing")
	if last := lastwords.New(time.Hour); last.End() != "" || last.Context().Err() == nil {
		t.Error("it goes on")
	}
}
