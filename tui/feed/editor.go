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

// foreground is a program that the terminal is given to.
type foreground struct {
	Cmd  *exec.Cmd
	what string // "editor", "pager"
	line string // its command, as a person has it
	by   string // the variable that names it, "" = none does
}

// Failed says how it ended, if that is no way to leave it; nil if it is.
func (l *foreground) Failed(ran error) error {
	exit, ok := errors.AsType[*exec.ExitError](ran)
	if !ok {
		return fmt.Errorf("the %s %q cannot be started: %w", l.what, l.line, ran)
	}
	ws, _ := exit.Sys().(syscall.WaitStatus)
	status, sig := ws.ExitStatus(), syscall.Signal(0)
	switch {
	case ws.Signaled():
		sig = ws.Signal()
	case status > 128 && unix.SignalName(syscall.Signal(status-128)) != "":
		// as a shell says it of what it has waited for
		sig = syscall.Signal(status - 128)
	}
	named := ""
	if l.by != "" {
		named = "; " + l.by + " names it"
	}
	switch {
	case sig == syscall.SIGINT: // ctrl+c is a way to leave it
		return nil
	case sig != 0:
		return fmt.Errorf("the %s %q was ended by %s", l.what, l.line, unix.SignalName(sig))
	case status == 127:
		return fmt.Errorf("the %s %q is not there%s", l.what, l.line, named)
	case status == 126:
		return fmt.Errorf("the %s %q cannot be run%s", l.what, l.line, named)
	}
	return fmt.Errorf("the %s %q failed with exit status %d", l.what, l.line, status)
}

// Editor is the command of $VISUAL or $EDITOR, else one that is installed. Those that are known to take "+N" begin
// at the draft's line.
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
		return foreground{}, errors.New("there is no editor: neither vim, vi nor nano is " +
			"installed; " +
			"set EDITOR to one")
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
	return foreground{Cmd: cmd, what: "editor", line: line, by: by}, nil
}
