package proc

import (
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// Without a free file descriptor, KillTree does not report that no process is left (L10), and Ended does not report that
// a process has exited.
func TestExhaustedFiles(t *testing.T) {
	pid, out := line(t, "sleep 1000 & printf up; wait")
	says(t, out, "up")
	st, err := ReadStat(pid)
	if err != nil {
		t.Fatal(err)
	}
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Max: limit.Max}); err != nil {
		t.Fatal(err)
	}
	none, ended := KillTree(pid, time.Now()), Ended(pid, st.Start)
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	if ended {
		t.Error("Ended reported that a process has exited, although it is alive")
	}
	if left := Descendants(pid); none || len(left) != 1 {
		t.Errorf("KillTree reported %v while these processes are alive: %v", none, left)
	}
}
