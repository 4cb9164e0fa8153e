package tui

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gcity/internal/eventually"
	"gcity/tui/keymap"
)

// multiplexer is a tmux server that the test has started, with one window.
type multiplexer struct {
	t      *testing.T
	socket string
}

func (m multiplexer) do(args ...string) string {
	m.t.Helper()
	ctx, cancel := context.WithTimeout(m.t.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, "tmux", append([]string{"-S", m.socket, "-f", "/dev/null"}, args...)...)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + filepath.Dir(m.socket), "LANG=C.UTF-8"}
	out, err := cmd.CombinedOutput()
	if err != nil {
		m.t.Fatalf("tmux %s: %v: %s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// sees polls until the window shows a text, because tmux sends no notifications.
func (m multiplexer) sees(want string) {
	m.t.Helper()
	var text string
	eventually.True(m.t, fmt.Sprintf("the window shows %q", want), func() bool {
		text = m.do("capture-pane", "-p", "-t", "room")
		return strings.Contains(text, want)
	}, func() string { return text })
}

// In a real tmux, the terminal's modes are restored after a resize, an attach and leaving.
func TestTerminalInTmux(t *testing.T) {
	if testing.Short() {
		t.Skip("starts tmux")
	}
	if _, err := exec.LookPath("tmux"); err != nil {
		t.Skip("tmux is not installed")
	}
	t.Parallel()
	dir, err := os.MkdirTemp("", "tmux-") // a socket's path has to be short
	if err != nil {
		t.Fatal(err)
	}
	m := multiplexer{t, filepath.Join(dir, "s")}
	t.Cleanup(func() {
		_ = exec.Command("tmux", "-S", m.socket, "kill-server").Run() // it might have ended already
		_ = os.RemoveAll(dir)
	})
	script := fmt.Sprintf("stty -g >%[1]s/before; TUI_CHILD='hosting -' TUI_REPORT=%[1]s/exit TUI_LOG=%[1]s/log '%[2]s'; stty -g >%[1]s/after; echo over; read end", dir, os.Args[0])
	m.do("new-session", "-d", "-s", "room", "-x", "100", "-y", "30", "sh", "-c", script)
	m.sees("prober")
	m.do("resize-window", "-t", "room", "-x", "60", "-y", "20")
	m.sees("prober")
	m.do("resize-window", "-t", "room", "-x", "100", "-y", "30")
	m.do("send-keys", "-t", "room", "jjjjjj")
	m.sees("0 builder")
	m.do("send-keys", "-t", "room", "a")
	m.sees("hello from builder at 100x29")
	m.do("send-keys", "-t", "room", "xy")
	m.sees("echo:xy")
	m.do("send-keys", "-t", "room", "C-q")
	m.sees("0 builder following")
	m.do("send-keys", "-t", "room", "q")
	m.sees("keep the city running in the background")
	again, late := time.NewTicker(keymap.DialogGuard/2), time.After(patience)
	defer again.Stop()
	for ended := false; !ended; { // a question ignores its first keys
		m.do("send-keys", "-t", "room", "h")
		select {
		case <-again.C:
		case <-late:
			t.Fatal("the room does not exit")
		}
		ended = strings.Contains(m.do("capture-pane", "-p", "-t", "room"), "over\n")
	}
	m.sees("exit: hand over")
	if shown := strings.TrimSpace(m.do("display-message", "-p", "-t", "room", "#{alternate_on} #{cursor_flag} #{mouse_any_flag}")); shown != "0 1 0" {
		t.Errorf("alternate screen, cursor, mouse: %s", shown)
	}
	before, err := os.ReadFile(filepath.Join(dir, "before"))
	if err != nil {
		t.Fatal(err)
	}
	after, err := os.ReadFile(filepath.Join(dir, "after"))
	if err != nil {
		t.Fatal(err)
	}
	if string(before) != string(after) {
		t.Errorf("the terminal's modes were %s and are %s", before, after)
	}
}
