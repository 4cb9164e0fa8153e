package proc

import (
	"fmt"
	"os/exec"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"gcity/internal/eventually"
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

// A process whose main thread has exited while another thread runs is alive, and KillTree kills it (L10, L11).
func TestExitedMainThread(t *testing.T) {
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("python3 is not installed")
	}
	root, out := line(t, fmt.Sprintf(`MARK=1 python3 -c '
import ctypes, os, threading, time
threading.Thread(target=time.sleep, args=(1000,)).start()
print(os.getpid(), flush=True)
ctypes.CDLL(None).syscall(%d, 0)
' & wait`, unix.SYS_EXIT))
	var pid int
	if _, err := fmt.Fscan(out, &pid); err != nil {
		t.Fatal(err)
	}
	var st Stat
	eventually.True(t, "the end of the main thread", func() (ended bool) {
		st, _ = ReadStat(pid)
		return st.State == 'Z'
	})
	if environ := Environ(pid); !HasEnv(environ, "MARK=1", false) {
		t.Errorf("environment: got %q", environ)
	}
	if !Lives(pid, st.Start) || Ended(pid, st.Start) {
		t.Error("the process counts as exited")
	}
	if !KillTree(root, time.Now().Add(eventually.Timeout)) || !WaitPid(pid, 0) {
		t.Error("the process survived")
	}
	if !Ended(pid, st.Start) {
		t.Error("the killed process counts as alive")
	}
}
