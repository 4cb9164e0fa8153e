package cli

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

func TestSupervisorNotifies(t *testing.T) {
	home := t.TempDir()
	if err := os.WriteFile(filepath.Join(home, "supervisor.toml"), []byte("[supervisor]\nport = 0\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	socket, await := systemd(t)
	cmd := exec.Command("gcity", "supervisor", "run")
	cmd.Env = append(os.Environ(), "GORACE="+quickEnd, "GC_HOME="+home, "XDG_RUNTIME_DIR="+home, "NOTIFY_SOCKET="+socket)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cmd.Process.Kill() }()
	checkNotifications(t, cmd, await, "0 of 0 cities running")
}
