package cli

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// What systemd is told of a supervisor, in which order: ready, alive with a status, reloading, ready again, stopping.
func TestSupervisorNotifies(t *testing.T) {
	home, notify := t.TempDir(), filepath.Join(t.TempDir(), "notify")
	if err := os.WriteFile(filepath.Join(home, "supervisor.toml"), []byte("[supervisor]\nport = 0\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	conn, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: notify, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := conn.SetReadDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	buf := make([]byte, 4096)
	await := func(what ...string) {
		t.Helper()
		for {
			n, err := conn.Read(buf)
			if err != nil {
				t.Fatalf("waiting for %q: %v", what, err)
			}
			if !slices.ContainsFunc(what, func(w string) bool { return !strings.Contains(string(buf[:n]), w) }) {
				return
			}
		}
	}
	cmd := exec.Command("gcity", "supervisor", "run")
	cmd.Env = append(os.Environ(), "GORACE="+quickEnd, "GC_HOME="+home, "XDG_RUNTIME_DIR="+home, "NOTIFY_SOCKET="+notify)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cmd.Process.Kill() }() // it has ended, unless the test failed
	await("READY=1")
	await("WATCHDOG=1", "STATUS=0 of 0 cities running")
	if err := cmd.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	await("RELOADING=1", "MONOTONIC_USEC=")
	await("READY=1")
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	await("STOPPING=1")
	if err := cmd.Wait(); err != nil {
		t.Errorf("the supervisor ended with %v", err)
	}
}

// A supervisor that a command starts hears of no city, and of no agent, in whose terminal the command may have been given.
func TestOfNoCity(t *testing.T) {
	got := ofNoCity([]string{"PATH=/bin", "GC_HOME=/h", "GC_AGENT=a", "GC_CITY_PATH=/c", "GC_SESSION=tmux", "GCITY=x"})
	if want := []string{"PATH=/bin", "GC_HOME=/h", "GCITY=x"}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}
