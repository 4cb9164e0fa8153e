package pty

import (
	"syscall"
	"testing"

	"gcity/internal/eventually"
	"gcity/internal/proc"
)

// Close reaps the holder of a session whose exit was acknowledged.
func TestCloseReapsIdleHolder(t *testing.T) {
	t.Parallel()
	p := newProvider(t, t.TempDir())
	s := spec(p.files.city, "a", "exit 1")
	start(t, p, s)
	nextExit(t, p)
	pid := holderOf(t, p, "a")
	if err := p.Acknowledge(t.Context(), "a", s.ID); err != nil {
		t.Fatal(err)
	}
	p.Close()
	// under load, the holder may exit after Close has stopped waiting for it
	eventually.True(t, "the holder's end", func() bool {
		orphans.reap()
		_, err := proc.ReadStat(pid)
		return proc.Gone(err)
	})
}

// A provider reaps holders that exited after this process had closed their city.
func TestNextProviderReapsHolder(t *testing.T) {
	t.Parallel()
	city := t.TempDir()
	p := newProvider(t, city)
	start(t, p, spec(city, "a", "exec cat"))
	pid := holderOf(t, p, "a")
	p.Close()
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if !proc.WaitPid(pid, eventually.Timeout) {
		t.Fatal("the holder survived SIGKILL")
	}
	newProvider(t, t.TempDir()) // of any city
	if _, err := proc.ReadStat(pid); !proc.Gone(err) {
		t.Errorf("holder %d was not reaped: got %v", pid, err)
	}
}
