package controller

import (
	"errors"
	"testing"
	"testing/synctest"
)

// A platform that becomes unreachable or answers again changes the states of its agents without a patrol.
func TestLossNeedsNoPatrol(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newTown(t, two)
		defer w.begin()()
		synctest.Wait()
		w.fake.Lose(errors.New("no route to host"))
		synctest.Wait() // no time passes
		if a, b := w.state("a"), w.state("b"); a != "unknown" || b != "unknown" {
			t.Errorf("a is %s, b is %s", a, b)
		}
		w.fake.Lose(nil)
		synctest.Wait()
		if a, b := w.state("a"), w.state("b"); a != "running" || b != "running" {
			t.Errorf("a is %s, b is %s", a, b)
		}
		w.expectOneStart()
	})
}

// expectOneStart checks that no agent was restarted.
func (w *town) expectOneStart() {
	w.t.Helper()
	for _, name := range []string{"a", "b"} {
		if n := w.fake.Started(name); n != 1 {
			w.t.Errorf("%s was started %d times", name, n)
		}
	}
}
