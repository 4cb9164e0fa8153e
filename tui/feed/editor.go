package feed

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

type foreground struct {
	Cmd         *exec.Cmd
	kind        string // "editor", "pager"
	commandLine string
	variable    string // environment variable that sets the command; "" = none
}

// Failed converts an error of Start or Wait into one that says why the program failed. If the user interrupted the
// program, it returns nil.
func (l *foreground) Failed(err error) error {
	exit, ok := errors.AsType[*exec.ExitError](err)
	if !ok {
		return fmt.Errorf("cannot start the %s %q: %w", l.kind, l.commandLine, err)
	}
	ws, _ := exit.Sys().(syscall.WaitStatus)
	status, sig := ws.ExitStatus(), syscall.Signal(0)
	switch {
	case ws.Signaled():
		sig = ws.Signal()
	case status > 128 && unix.SignalName(syscall.Signal(status-128)) != "":
		// shells add 128 to the number of the signal
		sig = syscall.Signal(status - 128)
	}
	named := ""
	if l.variable != "" {
		named = " (set by " + l.variable + ")"
	}
	switch {
	case sig == syscall.SIGINT: // ctrl+c is a normal way to leave a program
		return nil
	case sig != 0:
		return fmt.Errorf("the %s %q was killed by %s", l.kind, l.commandLine, unix.SignalName(sig))
	case status == 127:
		return fmt.Errorf("the %s %q was not found%s", l.kind, l.commandLine, named)
	case status == 126:
		return fmt.Errorf("cannot run the %s %q%s", l.kind, l.commandLine, named)
	}
	return fmt.Errorf("the %s %q failed with exit code %d", l.kind, l.commandLine, status)
}

// Editor returns the command in $VISUAL or $EDITOR, or else an installed editor.
func Editor(ctx context.Context, environ []string, d *Draft) (foreground, error) {
	line, by := "", ""
	for _, name := range []string{"EDITOR", "VISUAL"} {
		for _, kv := range environ {
			if v, ok := strings.CutPrefix(kv, name+"="); ok && strings.TrimSpace(v) != "" {
				line, by = strings.TrimSpace(v), name
			}
		}
	}
	for _, name := range []string{"vim", "vi", "nano"} {
		if line != "" {
			break
		}
		if _, err := exec.LookPath(name); err == nil {
			line = name
		}
	}
	if line == "" {
		return foreground{}, errors.New("no editor found: vim, vi and nano are not installed; " +
			"set EDITOR")
	}
	args := []string{"-c", line + ` "$@"`, "editor"}
	plus := []string{"vi", "vim", "nvim", "view", "nano", "pico", "emacs", "emacsclient", "micro",
		"kak", "joe", "ne", "mg", "jed"}
	if d.Line > 0 && slices.Contains(plus, filepath.Base(strings.Fields(line)[0])) {
		args = append(args, fmt.Sprintf("+%d", d.Line))
	}
	cmd := exec.CommandContext(ctx, "/bin/sh", append(args, d.Path)...)
	cmd.Env = environ
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
	cmd.WaitDelay = 2 * time.Second
	return foreground{Cmd: cmd, kind: "editor", commandLine: line, variable: by}, nil
}
