package tmux

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gcity/session"
)

// Look returns the same status as List, and calls tmux at most once.
func TestLook(t *testing.T) {
	t.Parallel()
	city := t.TempDir()
	p := newProvider(t, city)
	if _, err := p.Look(t.Context(), "a"); !errors.Is(err, session.ErrNotFound) {
		t.Errorf("a missing session: got %v", err)
	}
	for _, name := range []string{"a", "ab", "b"} {
		start(t, p, spec(city, name, "echo begun; exec sleep 999"))
		shows(t, p, name, "begun")
	}
	if err := p.SetMeta(t.Context(), "a", session.DrainMark, "1790000000"); err != nil {
		t.Fatal(err)
	}
	before := p.tmux.execs.Load()
	got, err := p.Look(t.Context(), "a")
	if n := p.tmux.execs.Load() - before; err != nil || n != 1 || !got.Alive || !got.Drain.On() || !got.Ready {
		t.Fatalf("got %+v, %v, after %d calls", got, err, n)
	}
	all, err := p.List(t.Context())
	if err != nil || len(all) != 3 {
		t.Fatalf("%+v, %v", all, err)
	}
	if diff := cmp.Diff(all[0], got); diff != "" {
		t.Errorf("Look and List differ:\n%s", diff)
	}
	if err := p.Stop(t.Context(), "a", 0); err != nil {
		t.Fatal(err)
	}
	x := nextExit(t, p)
	before = p.tmux.execs.Load()
	if got, err = p.Look(t.Context(), "a"); err != nil || got.Alive || got.Exit == nil || got.Exit.ID != x.ID || p.tmux.execs.Load() != before {
		t.Errorf("after the exit: got %+v, %v, %d calls", got, err, p.tmux.execs.Load()-before)
	}
	ack(t, p, x)
	if _, err := p.Look(t.Context(), "a"); !errors.Is(err, session.ErrNotFound) {
		t.Errorf("acknowledged: %v", err)
	}
	if got, err := p.Look(t.Context(), "ab"); err != nil || !got.Alive {
		t.Errorf("the next session: got %+v, %v", got, err)
	}
}
