package machine

import (
	"errors"
	"slices"
	"testing"
	"time"

	"gcity/city"
	"gcity/controller/effect"
)

// They are looked for once, a while after the last record that could not be made, and not while one is being made.
func TestStraysAreSoughtAfterATrouble(t *testing.T) {
	w := newWorld()
	if err := w.automate([]string{"a", "gate=manual"}); err != nil {
		t.Fatal(err)
	}
	w.declare()
	w.advance(time.Second)
	sought := func() (n int) {
		w.m.out = nil
		w.m.seekStrays(w.now)
		for _, f := range w.m.out {
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
	w.now = w.now.Add(strayWait)
	w.m.work.goes["b"] = &city.Run{}
	if sought() > 0 {
		t.Error("sought while a record is being made")
	}
	w.m.work.goes["b"] = &city.Run{ID: "app-9"}
	w.m.out = nil
	w.m.seekStrays(w.now)
	if len(w.m.out) != 1 || !slices.Equal(w.m.out[0].(effect.CloseUnclosedRuns).Known,
		[]string{"app-9"}) {
		t.Errorf("%+v", w.m.out)
	}
	if sought() > 0 {
		t.Error("sought twice")
	}
	w.m.strayed(w.now, effect.UnclosedRunsClosed{Err: errors.New("slow")})
	if w.now = w.now.Add(strayWait); sought() != 1 {
		t.Error("a look that failed is not tried again")
	}
}
