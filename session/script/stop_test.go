package script

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"gcity/session"
)

func (h *home) put(t *testing.T, name string) (path string) {
	t.Helper()
	path = filepath.Join(h.city, "records", "state", name)
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func (h *home) heard(t *testing.T, op string) {
	t.Helper()
	until(t, op, func() bool {
		return strings.Contains(read(filepath.Join(h.city, "records", "state", "log")), `["`+op+`"`)
	})
}

// soon waits for a result that must arrive before any time limit of the operation.
func soon(t *testing.T, what string, done <-chan error) error {
	t.Helper()
	select {
	case err := <-done:
		return err
	case <-time.After(opLimit * 5 / 6):
		t.Fatalf("the stop is still in progress: %s", what)
		return nil
	}
}

// A second stop can shorten the grace period of a stop in progress.
func TestSecondStopKills(t *testing.T) {
	for _, deaf := range []bool{false, true} {
		h := open(t, muxScript(t))
		st := start(t, h, "gc-a", `trap "" INT; `+forever)
		if deaf {
			h.put(t, "deaf")
		}
		done := make(chan error, 1)
		go func() { done <- h.Stop(t.Context(), "gc-a", time.Hour) }()
		h.heard(t, "interrupt")
		if err := syscall.Kill(st.PID, 0); err != nil {
			t.Fatal(err)
		}
		if err := h.Stop(t.Context(), "gc-a", 0); err != nil {
			t.Errorf("deaf %v: %v", deaf, err)
		}
		if err := soon(t, "the stop", done); err != nil {
			t.Errorf("deaf %v: %v", deaf, err)
		}
		if st, _ := status(t, h, "gc-a"); st.Alive || !st.Exit.Asked {
			t.Errorf("deaf %v: %+v", deaf, st)
		}
		if got := strings.Count(ops(h.asked(t)), "stop"); got != 1 {
			t.Errorf("deaf %v: got %d calls of stop, want 1", deaf, got)
		}
	}
}

func TestStopDoesNotWaitForText(t *testing.T) {
	h := open(t, muxScript(t))
	start(t, h, "gc-a", forever)
	deaf := h.put(t, "deaf")
	sent := make(chan error, 1)
	go func() { sent <- h.Send(t.Context(), "gc-a", "x") }()
	h.heard(t, "nudge")
	if err := os.Remove(deaf); err != nil {
		t.Fatal(err)
	}
	stopped := make(chan error, 1)
	go func() { stopped <- h.Stop(t.Context(), "gc-a", time.Hour) }()
	if err := soon(t, "the text", sent); !errors.Is(err, errEnding) {
		t.Errorf("%v", err)
	}
	if err := soon(t, "the stop", stopped); err != nil {
		t.Error(err)
	}
}

// After a failed stop, a later exit of the session does not count as requested.
func TestExitAfterFailedStop(t *testing.T) {
	h := open(t, muxScript(t))
	for _, died := range []bool{false, true} {
		st := start(t, h, "gc-a", `trap "" INT; `+forever)
		stuck := h.put(t, "stuck")
		if err := h.Stop(t.Context(), "gc-a", time.Millisecond); err == nil {
			t.Fatal("Stop succeeded although the script failed")
		}
		if died {
			h.mu.Lock()
			rec := h.sessions["gc-a"].rec
			h.mu.Unlock()
			rec.Asked = true
			if err := h.write(rec); err != nil {
				t.Fatal(err)
			}
			h.reopen(t)
			if st, _ := status(t, h, "gc-a"); !st.Alive {
				t.Fatalf("%+v", st)
			}
		}
		h.reopen(t)
		if err := os.Remove(stuck); err != nil {
			t.Fatal(err)
		}
		if err := syscall.Kill(-st.PID, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		var last session.Status
		until(t, "the exit of the session", func() bool { last, _ = status(t, h, "gc-a"); return !last.Alive })
		if last.Exit.Asked {
			t.Errorf("died %v: the exit counts as requested", died)
		}
	}
}

func TestListCallsScriptConcurrently(t *testing.T) {
	h := open(t, muxScript(t))
	for _, name := range []string{"gc-a", "gc-b", "gc-c"} {
		s := h.spec(name, forever)
		s.Idle = true
		if _, err := h.Start(t.Context(), s); err != nil {
			t.Fatal(err)
		}
	}
	h.put(t, "together")
	all, err := h.List(t.Context())
	if err != nil || len(all) != 3 {
		t.Fatalf("%+v, %v", all, err)
	}
	for _, st := range all {
		if st.Activity.IsZero() {
			t.Errorf("the call for %s was not concurrent", st.Name)
		}
	}
}
