package mixed_test

import (
	"errors"
	"os"
	"testing"
	"time"

	"gcity/internal/eventually"
	"gcity/internal/hungfs"
	"gcity/session"
)

// While the disk with the marks file hangs, only calls that write the file wait.
func TestMarksOnHungDisk(t *testing.T) {
	if !hungfs.InNamespace(t) {
		return
	}
	hung, asked, free := hungfs.Mount(t, true)
	h := newHouse(t, "pty", "other")
	p := h.mix(t, false)
	home := h.dir + "~"
	if err := errors.Join(os.Rename(h.dir, home), os.Symlink(hung, h.dir)); err != nil {
		t.Fatal(err)
	}
	started := make(chan error, 1)
	spec := session.Spec{Name: "gc-a", Agent: "a", Provider: "other", Command: "run"}
	go func() { _, err := p.Start(t.Context(), spec); started <- err }()
	eventually.Receive(t, "a write of the marks", asked)
	done := make(chan struct{})
	go func() {
		defer close(done)
		p.Patience("gc-a")
		p.Patience("")
		if _, err := p.List(t.Context()); err != nil {
			t.Error(err)
		}
		if _, err := p.Start(t.Context(), session.Spec{Name: "gc-b", Agent: "b", Command: "run"}); err != nil {
			t.Error(err)
		}
	}()
	select {
	case <-done:
	case <-time.After(30 * time.Second):
		t.Error("Patience waits for the disk")
	}
	free()
	if err := <-started; err == nil {
		t.Error("a session was started although its mark could not be written")
	}
	if err := errors.Join(os.Remove(h.dir), os.Rename(home, h.dir)); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Start(t.Context(), spec); err != nil {
		t.Error(err)
	}
	if got := h.marks(t); got != "other " {
		t.Errorf("marked: %q", got)
	}
}
