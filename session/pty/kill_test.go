package pty

import (
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"gcity/internal/eventually"
	"gcity/internal/proc"
	"gcity/session"
	"gcity/session/sessiontest"
)

var (
	kills = flag.Int("kills", 15, "how often TestControllerKilled kills its controller")
	seed  = flag.Uint64("seed", 0, "seed of TestControllerKilled; 0 = a new one, which is logged")
)

// A controller is killed at any time, even while it starts agents. No agent ever runs twice (L11).
func TestControllerKilled(t *testing.T) {
	if testing.Short() {
		t.Skip("starts many processes")
	}
	t.Parallel()
	sessiontest.ControllerKilled(t, sessiontest.Kills{
		Open: func(t *testing.T, city string) session.Provider { return newProvider(t, city) },
		N:    *kills, Seed: *seed, Longest: 60 * time.Millisecond,
	})
}

// A holder whose controller is killed before the agent's start exits without starting the agent. Otherwise the next
// controller, which lists the sessions before that, would not know about the agent (L11).
func TestControllerKilledDuringStart(t *testing.T) {
	t.Parallel()
	city := t.TempDir()
	gate := filepath.Join(city, "gate")
	if err := syscall.Mkfifo(gate, 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0], "mini-controller", city, "GATE="+gate)
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	opened := make(chan *os.File, 1)
	go func() { // OpenFile returns when the holder opens the fifo
		f, _ := os.OpenFile(gate, os.O_WRONLY, 0)
		opened <- f
	}()
	f := eventually.Receive(t, "a holder is started", opened)
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	p := newProvider(t, city)
	if list, err := p.List(t.Context()); err != nil || len(list) > 0 {
		t.Errorf("got %v, %v, want no sessions", list, err)
	}
	holders := holdersOf(t, city)
	f.Close()
	for _, pid := range holders {
		if !proc.WaitPid(pid, eventually.Timeout) {
			t.Errorf("holder %d did not exit", pid)
		}
	}
	if left := sessiontest.Census(t, city); len(left) > 0 {
		t.Errorf("agents were started: %v", left)
	}
	start(t, p, spec(city, "w-0", "exec sleep 1000"))
}

func holdersOf(t *testing.T, city string) (holders []int) {
	t.Helper()
	pids, err := proc.All()
	if err != nil {
		t.Fatal(err)
	}
	for _, pid := range pids {
		args := proc.Args(pid)
		if len(args) == 3 && args[1] == "hold" && strings.HasPrefix(args[2], city+"/") {
			holders = append(holders, pid)
		}
	}
	if len(holders) == 0 {
		t.Fatal("no holder is running")
	}
	return holders
}
