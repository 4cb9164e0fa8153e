package doctor

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"gcity/cli/folder"
	"gcity/internal/eventually"
)

// SIGCONT resumes a process that a signal has stopped, but not one that a debugger has stopped.
func TestSilentRemedy(t *testing.T) {
	dir := t.TempDir()
	remedy := func(pid int) string {
		file := filepath.Join(folder.StateDir(dir), "daemon.pid")
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, fmt.Append(nil, pid), 0o600); err != nil {
			t.Fatal(err)
		}
		return SilentRemedy(dir)
	}
	runtime.LockOSThread() // the debugger is a thread
	defer runtime.UnlockOSThread()
	for _, traced := range []bool{false, true} {
		cmd := exec.Command("sleep", "1000")
		cmd.SysProcAttr = &syscall.SysProcAttr{Ptrace: traced}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if !traced {
			if err := cmd.Process.Signal(syscall.SIGSTOP); err != nil {
				t.Fatal(err)
			}
		}
		want := fmt.Sprintf("`kill -CONT %d` resumes it", cmd.Process.Pid)
		if traced {
			want = fmt.Sprintf("a debugger has stopped its process (pid %d)", cmd.Process.Pid)
		}
		eventually.True(t, want, func() bool { return strings.Contains(remedy(cmd.Process.Pid), want) })
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}
}
