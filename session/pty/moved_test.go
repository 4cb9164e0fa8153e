package pty

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"gcity/internal/eventually"
)

// The sessions of a moved city belong to the city at its new path, even if another city is now at the old path (L3).
func TestMovedCity(t *testing.T) {
	for name, make := range map[string]func(to, from string) error{
		"new":  func(to, _ string) error { return os.Mkdir(to, 0o755) },
		"copy": func(to, from string) error { return exec.Command("cp", "-a", from, to).Run() },
	} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			was, is := filepath.Join(root, "town"), filepath.Join(root, "village")
			if err := os.Mkdir(was, 0o755); err != nil {
				t.Fatal(err)
			}
			first := newProvider(t, was)
			a := start(t, first, spec(was, "a", "cat"))
			first.Close()
			if err := os.Rename(was, is); err != nil {
				t.Fatal(err)
			}
			if err := make(was, is); err != nil {
				t.Fatal(err)
			}
			other := newProvider(t, was)
			if list, err := other.List(t.Context()); err != nil || len(list) > 0 {
				t.Fatalf("sessions of the new city: got %+v, %v", list, err)
			}
			b := start(t, other, spec(was, "a", "cat"))
			moved := newProvider(t, is)
			list, err := moved.List(t.Context())
			if err != nil || len(list) != 1 || list[0].ID != a.ID || !list[0].Alive || list[0].City != is {
				t.Fatalf("sessions of the moved city: got %+v, %v", list, err)
			}
			if err := other.Stop(t.Context(), "a", eventually.Timeout); err != nil {
				t.Error(err)
			}
			if x := nextExit(t, other); x.ID != b.ID {
				t.Errorf("%+v", x)
			}
			if err := moved.Send(t.Context(), "a", "typed"); err != nil || !alive(a.PID) {
				t.Errorf("%v", err)
			}
			shows(t, moved, "a", "typed\ntyped")
		})
	}
}

// If a city is moved while its controller is running, the controller can still reach its sessions.
func TestMovedWhileRunning(t *testing.T) {
	root := t.TempDir()
	was, is := filepath.Join(root, "town"), filepath.Join(root, "village")
	if err := os.Mkdir(was, 0o755); err != nil {
		t.Fatal(err)
	}
	p := newProvider(t, was)
	start(t, p, spec(was, "a", "cat"))
	if err := os.Rename(was, is); err != nil {
		t.Fatal(err)
	}
	if err := p.Send(t.Context(), "a", "typed"); err != nil {
		t.Fatal(err)
	}
	shows(t, p, "a", "typed\ntyped")
	if err := p.Stop(t.Context(), "a", eventually.Timeout); err != nil {
		t.Fatal(err)
	}
	if x := nextExit(t, p); !x.Asked {
		t.Errorf("%+v", x)
	}
	if _, err := os.Stat(was); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the old path exists: %v", err)
	}
}
