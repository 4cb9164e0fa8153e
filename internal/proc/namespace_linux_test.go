package proc

import (
	"os"
	"os/exec"
	"syscall"
	"testing"
)

// A process in a container has its own PID namespace.
func TestSharesPIDs(t *testing.T) {
	if !SharesPIDs(os.Getpid()) {
		t.Error("SharesPIDs() = false for this process")
	}
	cmd := exec.Command("sleep", "100")
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWPID}
	if err := cmd.Start(); err != nil {
		t.Skip("PID namespaces are not available: ", err)
	}
	defer func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}()
	if SharesPIDs(cmd.Process.Pid) {
		t.Error("SharesPIDs() = true for a process in another namespace")
	}
}
