package cli

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
)

// What systemd is told of a supervisor, and in which order.
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
	defer func() { _ = cmd.Process.Kill() }() // it has ended, unless the test failed
	tells(t, cmd, await, "0 of 0 cities running")
}

// A supervisor that a command starts hears of no city, and of no agent, in whose terminal the command may have been given.
func TestOfNoCity(t *testing.T) {
	got := ofNoCity([]string{"PATH=/bin", "GC_HOME=/h", "GC_AGENT=a", "GC_CITY_PATH=/c", "GC_SESSION=tmux", "GCITY=x"})
	if want := []string{"PATH=/bin", "GC_HOME=/h", "GCITY=x"}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}
