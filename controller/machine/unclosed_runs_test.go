package machine

import (
	"errors"
	"slices"
	"testing"
	"time"

	"gcity/city"
	"gcity/controller/effect"
	"gcity/controller/runs"
)

// Stray records are searched once, some time after the last record that could not be created. No search runs while
// a record is being created.
func TestRemainingProcessesAreSearchedAfterAFault(t *testing.T) {
	w := newWorld()
	if err := w.automate([]string{"a", "gate=manual"}); err != nil {
		t.Fatal(err)
	}
	w.declare()
	w.advance(time.Second)
	sought := func() (n int) {
		w.m.step.Effects = nil
		w.m.runs.CheckUnclosedRuns(w.now)
		for _, f := range w.m.step.Effects {
			if _, ok := f.(effect.CloseUnclosedRuns); ok {
				n++
			}
		}
		return n
	}
	if sought() > 0 {
		t.Error("sought without a reason")
	}
	w.floor.refuse = "the store is slow"
	w.Step(effect.Command{ID: 1, Cmd: city.Fire{Automation: "a"}})
	if w.floor.refuse = ""; sought() > 0 {
		t.Error("sought at once")
	}
	w.now = w.now.Add(runs.UnclosedWait)
	w.m.runs.Current["b"] = &city.Run{}
	if sought() > 0 {
		t.Error("sought while a record is being made")
	}
	w.m.runs.Current["b"] = &city.Run{ID: "app-9"}
	w.m.step.Effects = nil
	w.m.runs.CheckUnclosedRuns(w.now)
	if len(w.m.step.Effects) != 1 || !slices.Equal(w.m.step.Effects[0].(effect.CloseUnclosedRuns).
		Known,
		[]string{"app-9"}) {
		t.Errorf("%+v", w.m.step.Effects)
	}
	if sought() > 0 {
		t.Error("sought twice")
	}
	w.m.runs.UnclosedRunsClosed(w.now, effect.UnclosedRunsClosed{Err: errors.New("slow")})
	if w.now = w.now.Add(runs.UnclosedWait); sought() != 1 {
		t.Error("a look that failed is not tried again")
	}
}
