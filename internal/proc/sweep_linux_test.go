package proc

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"testing"
	"time"

	"gcity/internal/eventually"
)

// The function since finds every later process, both by trying pids one by one and by listing all processes.
func TestSinceFindsAllLaterProcesses(t *testing.T) {
	if testing.Short() {
		t.Skip("starts many processes")
	}
	first, _ := line(t, "exec sleep 1000")
	for range 3 {
		var later []int
		for range 5 {
			_, out := line(t, "sleep 1000 & echo $!; wait")
			var pid int
			if _, err := fmt.Fscan(out, &pid); err != nil {
				t.Fatal(err)
			}
			later = append(later, pid)
		}
		pids, err := since(first)
		if err != nil {
			t.Fatal(err)
		}
		for _, pid := range later {
			if !slices.Contains(pids, pid) {
				t.Errorf("pid %d, started after %d, is not among %d pids", pid, first, len(pids))
			}
		}
		for range fewPIDs {
			if err := exec.Command("/bin/true").Run(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if pids, err := since(1 << 30); err != nil || !slices.Contains(pids, first) {
		t.Errorf("after the pids have wrapped around: got %v, %v", pids, err)
	}
}

// SweepSince also kills a process that forks during the sweep.
func TestSweepOfRespawningProcess(t *testing.T) {
	mark := fmt.Sprintf("GC_TEST=%d", os.Getpid())
	first, out := line(t, "export "+mark+"; (setsid sh -c 'printf up; while :; do setsid sleep "+
		"1000; done' &)")
	says(t, out, "up")
	match := func(pid int) bool { return HasEnv(Environ(pid), mark, false) }
	killed, left, err := SweepSince(first, match, time.Now().Add(eventually.Timeout))
	if killed < 1 || len(left) > 0 || err != nil {
		t.Errorf("killed %d; remaining %v, %v", killed, left, err)
	}
	all, err := All()
	if err != nil {
		t.Fatal(err)
	}
	for _, pid := range all {
		if match(pid) {
			t.Errorf("process %d is still running", pid)
		}
	}
}

// A process that only reads a file does not hold it.
func TestHoldsFile(t *testing.T) {
	t.Chdir(t.TempDir())
	for setup, want := range map[string]bool{
		"exec 9<>lock": true, "exec 9<lock": false, "exec 9<lock; flock 9": true,
	} {
		if err := os.WriteFile("lock", nil, 0o600); err != nil {
			t.Fatal(err)
		}
		pid, out := line(t, setup+"; echo open; exec sleep 1000")
		says(t, out, "open")
		dev, ino, err := Inode("lock")
		if err != nil {
			t.Fatal(err)
		}
		if got := HoldsFile(pid, dev, ino); got != want {
			t.Errorf("%s: got %v, want %v", setup, got, want)
		}
	}
}
