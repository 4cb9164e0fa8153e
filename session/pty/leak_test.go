package pty

import (
	"os"
	"testing"

	"go.uber.org/goleak"
)

// After a used provider is closed, no goroutine, file descriptor or child process is left (L10).
func TestCloseLeavesNothing(t *testing.T) {
	city := t.TempDir()
	round := func() {
		p, err := New(Options{City: city, Binary: os.Args[0]})
		if err != nil {
			t.Fatal(err)
		}
		p.launcher.env = append(p.launcher.env, "GORACE=atexit_sleep_ms=0")
		defer endAll(t, p)
		st := start(t, p, spec(city, "a", "echo up; exec cat"))
		shows(t, p, "a", "up")
		term, err := p.Attach(t.Context(), "a", 90, 30)
		if err != nil {
			t.Fatal(err)
		}
		defer term.Close()
		for range p.Watch(t.Context(), "a") {
			break
		}
		start(t, p, spec(city, "b", "exit 3"))
		nextExit(t, p)
		if err := p.Stop(t.Context(), st.Name, 0); err != nil {
			t.Fatal(err)
		}
	}
	idle := goleak.IgnoreCurrent()
	round()                    // the first round also opens files that stay open until the process exits
	goleak.VerifyNone(t, idle) // until its last goroutine exits, files of the round can be open
	before, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		round()
	}
	goleak.VerifyNone(t, idle)
	after, err := os.ReadDir("/proc/self/fd")
	// fewer are possible: the garbage collector closes files that earlier tests did not close
	if err != nil || len(after) > len(before) {
		t.Errorf("got %d file descriptors, %d before: %v", len(after), len(before), err)
	}
}
