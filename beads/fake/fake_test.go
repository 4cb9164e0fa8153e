package fake_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"gcity/beads"
	"gcity/beads/beadstest"
	"gcity/beads/fake"
)

func TestSuite(t *testing.T) {
	beadstest.Run(t, beadstest.Harness{New: func(*testing.T) beads.Store { return fake.New("gc") }})
}

// A broken store returns an error. A hung store blocks until the caller's deadline.
func TestBreakAndHang(t *testing.T) {
	s := fake.New("gc")
	if _, err := s.Create(t.Context(), beads.Bead{Title: "a"}); err != nil {
		t.Fatal(err)
	}
	broken := errors.New("the disk is gone")
	s.Break(broken)
	if all, err := s.List(t.Context(), beads.Query{}); !errors.Is(err, broken) {
		t.Errorf("%v, %v", all, err)
	}
	s.Break(nil)
	release := s.Hang()
	short, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	if all, err := s.List(short, beads.Query{}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v, %v", all, err)
	}
	release()
	if all, err := s.List(t.Context(), beads.Query{}); err != nil || len(all) != 1 {
		t.Errorf("%v, %v", all, err)
	}
}
