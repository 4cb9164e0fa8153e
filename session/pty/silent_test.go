package pty

import (
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"gcity/internal/eventually"
)

// If a signal has stopped the holder, Stop continues it, so that the agent can exit by itself.
func TestStopContinuesTheHolder(t *testing.T) {
	p := newProvider(t, t.TempDir())
	start(t, p, spec(p.files.city, "a", "exec cat"))
	syscall.Kill(holderOf(t, p, "a"), syscall.SIGSTOP)
	until(t, "the holder to stop", func() bool { return p.files.stopped(p.reg.Find("a").record) })
	if err := p.Stop(t.Context(), "a", eventually.Timeout); err != nil {
		t.Fatal(err)
	}
	if x := nextExit(t, p); x.Signal != "SIGINT" || !x.Asked {
		t.Errorf("%+v", x)
	}
}

// If a signal has stopped an idle holder, Start continues it.
func TestStartContinuesTheHolder(t *testing.T) {
	t.Parallel()
	p := newProvider(t, t.TempDir())
	start(t, p, spec(p.files.city, "a", "exec cat"))
	holder := holderOf(t, p, "a")
	if err := p.Stop(t.Context(), "a", 0); err != nil {
		t.Fatal(err)
	}
	syscall.Kill(holder, syscall.SIGSTOP)
	until(t, "the holder to stop", func() bool { return p.files.stopped(p.reg.Find("a").record) })
	start(t, p, spec(p.files.city, "a", "exec cat"))
	if again := holderOf(t, p, "a"); again != holder {
		t.Errorf("holder: want %d, got %d", holder, again)
	}
}

// Stop kills a holder that never responds. No process of the session is left (L10).
func TestStopWithSilentHolder(t *testing.T) {
	t.Parallel()
	p := newProvider(t, t.TempDir())
	p.responseLimit = 300 * time.Millisecond
	s := spec(p.files.city, "a",
		`trap '' HUP INT TERM; (trap '' HUP; setsid sleep 1000) & while :; do sleep 1000; done`)
	start(t, p, s)
	holder := holderOf(t, p, "a")
	until(t, "the agent's child", func() bool { return len(marked(t, s.ID)) >= 3 })
	var over atomic.Bool
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		for !over.Load() && syscall.Kill(holder, syscall.SIGSTOP) == nil {
			time.Sleep(time.Millisecond) // interval between signals, not a wait for something
		}
	}()
	err := p.Stop(t.Context(), "a", 0)
	over.Store(true)
	<-stopped
	syscall.Kill(holder, syscall.SIGCONT) // the last SIGSTOP may have stopped the holder again
	if err != nil {
		t.Fatal(err)
	}
	if left := marked(t, s.ID); len(left) > 0 {
		t.Errorf("processes left: %v", left)
	}
	if x := nextExit(t, p); x.ID != s.ID {
		t.Errorf("%+v", x)
	}
	start(t, p, spec(p.files.city, "a", "exec cat"))
}

// A silent holder is reported from the second List on, until it responds again.
func TestSilentHolderIsReported(t *testing.T) {
	p := newProvider(t, t.TempDir())
	p.silentEvery = 0
	st := start(t, p, spec(p.files.city, "a", "exec cat"))
	if named(t, p, "a").Silent != (time.Time{}) {
		t.Error("got a silent session after its start")
	}
	before := time.Now()
	syscall.Kill(holderOf(t, p, "a"), syscall.SIGSTOP)
	until(t, "the holder to stop", func() bool { return p.files.stopped(p.reg.Find("a").record) })
	if one := named(t, p, "a"); !one.Silent.IsZero() {
		t.Errorf("silent after one List: got %+v", one)
	}
	if two := named(t, p, "a"); two.Silent.Before(before) || !two.Alive || two.PID != st.PID {
		t.Errorf("%+v", two)
	}
	syscall.Kill(holderOf(t, p, "a"), syscall.SIGCONT)
	until(t, "a response", func() bool { return named(t, p, "a").Silent.IsZero() })
}

// Each List checks the next batch of holders. A holder without a connection is checked every time.
func TestHoldersAreCheckedInBatches(t *testing.T) {
	p := newProvider(t, t.TempDir())
	var entries []*entry
	for range 2 * silentBatch {
		e := newEntry("")
		e.known, e.link = true, &link{}
		entries = append(entries, e)
	}
	last := entries[len(entries)-1]
	last.link = nil
	read := func() (n int) {
		p.checkHolders(entries)
		for _, e := range entries {
			if !e.responseCheck.checkedAt.IsZero() {
				n++
			}
		}
		return n
	}
	if n := read(); n != silentBatch+1 || last.responseCheck.failures != 1 {
		t.Errorf("checked %d of %d at first; the last one failed %d times", n, len(entries),
			last.responseCheck.failures)
	}
	if n := read(); n != len(entries) {
		t.Errorf("checked %d of %d after the second List", n, len(entries))
	}
}
