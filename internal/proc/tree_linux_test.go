package proc

import (
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// Without a free file descriptor, KillTree does not report that no process is left (L10).
func TestKillTreeWithoutFiles(t *testing.T) {
	pid, out := line(t, "sleep 1000 & printf up; wait")
	says(t, out, "up")
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Max: limit.Max}); err != nil {
		t.Fatal(err)
	}
	none := KillTree(pid, time.Now())
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	if left := Descendants(pid); none || len(left) != 1 {
		t.Errorf("KillTree reported %v while these processes are alive: %v", none, left)
	}
}
