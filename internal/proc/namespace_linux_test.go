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
		t.Error("SharesPIDs is false for this process")
	}
	cmd := exec.Command("sleep", "100")
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWPID}
	if err := cmd.Start(); err != nil {
		t.Skip("no PID namespaces here: ", err)
	}
	defer func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}()
	if SharesPIDs(cmd.Process.Pid) {
		t.Error("SharesPIDs is true for a process in another namespace")
	}
}
