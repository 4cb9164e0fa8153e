package controller

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"gcity/internal/hungfs"
	"gcity/internal/proc"
)

// Acquire waits for the lock of a controller that was killed but has not exited yet.
func TestTheLockOfAKilledControllerIsWaitedFor(t *testing.T) {
	if !hungfs.InNamespace(t) {
		return
	}
	hung, blocked, free := hungfs.Mount(t, true)
	dying := exec.Command("cat", filepath.Join(hung, "file"))
	if err := dying.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		free()
		_ = dying.Wait() // it was killed
	}()
	<-blocked
	pid := dying.Process.Pid
	if proc.Killed(pid) {
		t.Error("Killed() = true for a process that was not killed")
	}
	if err := dying.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if st, err := proc.ReadStat(pid); err != nil || st.Exited() || !proc.Killed(pid) {
		t.Fatalf("the killed process: %+v, %v; Killed() = %t", st, err, proc.Killed(pid))
	}
	dir := t.TempDir()
	first, err := Acquire(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(first.pid, []byte(strconv.Itoa(pid)), 0o600); err != nil {
		t.Fatal(err)
	}
	time.AfterFunc(50*time.Millisecond, func() {
		first.lock.Load().Release()
		first.folder.Close()
	})
	second, err := Acquire(dir)
	if err != nil {
		t.Fatalf("Acquire of a killed controller's lock: %v", err)
	}
	if err := second.Release(); err != nil {
		t.Error(err)
	}
}
