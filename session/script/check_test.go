package script

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"gcity/session"
)

// Check reports a script that is missing, is not executable, cannot list its sessions, or hangs.
func TestCheck(t *testing.T) {
	path := filepath.Join(t.TempDir(), "mux")
	write := func(text string) {
		t.Helper()
		next := path + ".next" // a file that is open for writing cannot be executed
		if err := errors.Join(os.WriteFile(next, []byte("#!/bin/sh\n"+text), 0o755), os.Rename(next, path)); err != nil {
			t.Fatal(err)
		}
	}
	write("exit 0")
	h := open(t, path)
	if err := h.Check(t.Context()); err != nil {
		t.Errorf("a script without sessions: got %v", err)
	}
	write("exit 2")
	if err := h.Check(t.Context()); err == nil || !strings.Contains(err.Error(), "does not support list-running") {
		t.Errorf("a script without list-running: got %v", err)
	}
	write("echo the server is away >&2; exit 1")
	if err := h.Check(t.Context()); err == nil || !strings.Contains(err.Error(), "the server is away") {
		t.Errorf("a script that fails: got %v", err)
	}
	write("exec sleep 999")
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := h.Check(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a script that hangs: got %v", err)
	}
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := h.Check(t.Context()); !errors.Is(err, session.ErrMissing) || !strings.Contains(err.Error(), "chmod +x") {
		t.Errorf("a script that is not executable: got %v", err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := h.Check(t.Context()); !errors.Is(err, session.ErrMissing) {
		t.Errorf("a missing script: got %v", err)
	}
	if _, err := h.Start(t.Context(), h.spec("a", "exec sleep 999")); !errors.Is(err, session.ErrMissing) {
		t.Errorf("Start with a missing script: got %v", err)
	}
	if all, err := h.List(t.Context()); err != nil || len(all) != 0 {
		t.Errorf("left behind: got %+v, %v", all, err)
	}
}

// Look calls the script only if no process of the session is found on this machine.
func TestLook(t *testing.T) {
	h := open(t, muxScript(t))
	for _, name := range []string{"gc-a", "gc-b"} {
		start(t, h, name, forever)
	}
	if err := session.SetDrain(t.Context(), h, "gc-b", session.Drain{Since: time.Unix(1_790_000_000, 0)}); err != nil {
		t.Fatal(err)
	}
	h.asked(t)
	got, err := h.Look(t.Context(), "gc-a")
	if asked := h.asked(t); err != nil || !got.Alive || got.PID == 0 || len(asked) != 0 {
		t.Errorf("got %+v, %v, calls %q", got, err, asked)
	}
	if err := syscall.Kill(got.PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	until(t, "the exit of the session", func() bool {
		got, err = h.Look(t.Context(), "gc-a")
		return err == nil && !got.Alive
	})
	if asked := ops(h.asked(t)); got.Exit == nil || strings.Contains(asked, "list-running") || !strings.Contains(asked, "is-running") {
		t.Errorf("%+v, calls %s", got, asked)
	}
	if err := h.Acknowledge(t.Context(), "gc-a", got.ID); err != nil {
		t.Fatal(err)
	}
	if _, err := h.Look(t.Context(), "gc-a"); !errors.Is(err, session.ErrNotFound) {
		t.Errorf("acknowledged: %v", err)
	}
}

// An observer of a city without sessions creates nothing, until it must execute the script.
func TestObserverCreatesNothing(t *testing.T) {
	city := t.TempDir()
	p, err := New(Options{City: city, Script: muxScript(t), Dir: filepath.Join(city, ".gc", "records"), Environ: os.Environ(), Observe: true})
	if err != nil {
		t.Fatal(err)
	}
	if list, err := p.List(t.Context()); err != nil || len(list) > 0 {
		t.Errorf("got %v, %v", list, err)
	}
	if left, err := os.ReadDir(city); err != nil || len(left) > 0 {
		t.Errorf("the observer created %v, %v", left, err)
	}
	if err := p.Check(t.Context()); err != nil {
		t.Errorf("Check: got %v", err)
	}
}

// A script without attach cannot attach, even if a terminal was opened for it.
func TestAttachIsOptional(t *testing.T) {
	h := open(t, muxScript(t))
	if _, err := h.Start(t.Context(), h.spec("a", "exec sleep 999")); err != nil {
		t.Fatal(err)
	}
	term, err := h.Attach(t.Context(), "a", 80, 24)
	if err != nil {
		t.Fatal(err)
	}
	defer term.Close()
	if _, err := io.ReadAll(term); !errors.Is(err, session.ErrUnsupported) || !strings.Contains(err.Error(), "gcity agent peek") {
		t.Errorf("got %v", err)
	}
}
