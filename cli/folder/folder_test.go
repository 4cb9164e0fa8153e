package folder

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"gcity/internal/disk"
)

func TestFileThatCannotBeCreated(t *testing.T) {
	state := filepath.Join(t.TempDir(), "missing", ".gc")
	err := HideFromGit(state)
	if err == nil || !strings.Contains(err.Error(), filepath.Join(state, ".gitignore")) ||
		strings.Contains(err.Error(), "configuration") {
		t.Errorf("%v", err)
	}
}

// While the recorded controller is dead, a command that tests the lock does not count as a controller.
func TestIsHeldDuringALockTest(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(StateDir(dir), 0o700); err != nil {
		t.Fatal(err)
	}
	ended := exec.Command("true")
	if err := ended.Run(); err != nil {
		t.Fatal(err)
	}
	record := func(pid int) {
		if err := os.WriteFile(filepath.Join(StateDir(dir), "daemon.pid"), fmt.Append(nil, pid), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		name string
		pid  int
		want bool
	}{{"a dead controller", ended.Process.Pid, false}, {"a running controller", os.Getpid(), true}} {
		record(c.pid)
		lock, err := disk.TryLock(filepath.Join(StateDir(dir), "controller.lock"))
		if err != nil {
			t.Fatal(err)
		}
		released := false
		release := func() bool {
			if !released {
				released = true
				if err := lock.Release(); err != nil {
					t.Error(err)
				}
			}
			return true
		}
		if held, err := isHeld(dir, release); held != c.want || err != nil {
			t.Errorf("%s: got %v, %v", c.name, held, err)
		}
		release()
	}
	record(ended.Process.Pid)
	lock, err := disk.TryLock(filepath.Join(StateDir(dir), "controller.lock"))
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Release()
	if held, err := IsHeld(dir); !held || err != nil {
		t.Errorf("a lock that stays held: got %v, %v", held, err)
	}
}
