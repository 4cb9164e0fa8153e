package perform

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"gcity/formula"
	"gcity/internal/deadline"
)

// Every caller gets the result, even if the call was started by another caller.
func TestCallersShareACallInTheBackground(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &base{looks: deadline.New[any](maxHung)}
		release := make(chan struct{})
		var callers sync.WaitGroup
		call := func() {
			callers.Go(func() {
				found, ok := inBackground(t.Context(), b, "formula x", 0, func() *formula.Formula {
					<-release
					return &formula.Formula{Name: "x"}
				})
				if !ok || found == nil || found.Name != "x" {
					t.Errorf("got %+v, %v", found, ok)
				}
			})
		}
		call()
		synctest.Wait()
		time.Sleep(time.Second) // on the bubble's clock: the first call is too old for the others
		call()
		call()
		synctest.Wait()
		release <- struct{}{}
		synctest.Wait()
		release <- struct{}{} // one call for both
		callers.Wait()
		if n := b.looks.Pending(); n != 0 {
			t.Errorf("got %d pending calls, want 0", n)
		}
	})
}

// A result can be the nil value of an interface.
func TestACallInTheBackgroundReturnsNil(t *testing.T) {
	b := &base{looks: deadline.New[any](maxHung)}
	err, ok := inBackground(t.Context(), b, "x", 0, func() error { return nil })
	if err != nil || !ok {
		t.Errorf("got %v, %v", err, ok)
	}
}
