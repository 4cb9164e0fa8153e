package depot

import (
	"context"
	"errors"
	"testing"

	"gcity/beads"
	"gcity/cli/env"
	"gcity/cli/workstore"
)

type closeCounter struct {
	workstore.Store
	closed int
	err    error
}

func (s *closeCounter) Get(context.Context, string) (beads.Bead, error) { return beads.Bead{}, nil }

func (s *closeCounter) Close() error { s.closed++; return s.err }

// A store that Find has opened is opened and closed once. An error from its Close does not fail the command, because
// the command's changes are already durable.
func TestCloseClosesStoresOpenedByFind(t *testing.T) {
	city, rig := workstore.Place{Prefix: "ci"}, workstore.Place{Rig: "yard", Prefix: "ya"}
	own, other := &closeCounter{}, &closeCounter{err: errors.New("disk full")}
	opened := 0
	e := &env.Env{Store: func(workstore.Place) (workstore.Store, error) { opened++; return other, nil }}
	d := &Store{Store: own, Place: city, Places: []workstore.Place{city, rig}}
	for range 2 {
		if _, has, err := Find(t.Context(), e, d, "ya-1"); err != nil || has.Place != rig {
			t.Fatalf("found in %v: %v", has.Place, err)
		}
	}
	if err := d.Close(); err != nil {
		t.Error(err)
	}
	if opened != 1 || own.closed != 1 || other.closed != 1 {
		t.Errorf("opened %d times, closed %d and %d times", opened, own.closed, other.closed)
	}
}
