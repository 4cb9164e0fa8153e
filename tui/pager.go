package tui

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// read gives the terminal to a pager, and says in the control room if that failed.
func (r *runner) read(ctx context.Context, o Options, m *model, text string) {
	defer r.guard("pager")
	err := pageThrough(ctx, o, text)
	m.now = r.now()
	m.ui++
	if err != nil {
		r.log.Warn("pager", "error", err)
		m.complain(err.Error())
	}
}

// pageThrough runs the pager in the foreground of the terminal until it ends, or ctx does. It is a process group of its
// own, so that ctrl+c in it does not end the city; ctrl+z does nothing, and a program that stops itself for that key is
// woken up at once: there is no shell that could do it. The terminal's modes are as before in any case.
func pageThrough(ctx context.Context, o Options, text string) (err error) {
	cmd, err := pager(ctx, o.Environ)
	if err != nil {
		return err
	}
	cmd.Stdin = strings.NewReader(text)
	return lend(ctx, o, cmd, "the pager")
}

// lend gives the terminal to a program until it ends or ctx does, as pageThrough says.
func lend(ctx context.Context, o Options, cmd *exec.Cmd, what string) error {
	fd := int(o.In.Fd())
	before, err := unix.IoctlGetTermios(fd, unix.TCGETS)
	if err != nil {
		return fmt.Errorf("cannot give the terminal to %s: %w", what, err)
	}
	group, err := unix.IoctlGetInt(fd, unix.TIOCGPGRP)
	if err != nil {
		return fmt.Errorf("cannot give the terminal to %s: %w", what, err)
	}
	calm := *before
	calm.Cc[unix.VSUSP] = 0 // off
	if err := unix.IoctlSetTermios(fd, unix.TCSETS, &calm); err != nil {
		return fmt.Errorf("cannot give the terminal to %s: %w", what, err)
	}
	cmd.Stdout, cmd.Stderr = o.Out, o.Out
	cmd.SysProcAttr = &syscall.SysProcAttr{Foreground: true, Ctty: fd}
	_, _ = io.WriteString(o.Out, keepModes)
	ran := cmd.Start()
	if ran == nil {
		keepAwake(cmd.Process.Pid)
		ran = cmd.Wait()
	}
	signal.Ignore(syscall.SIGTTOU) // we are in the background
	defer signal.Reset(syscall.SIGTTOU)
	err = errors.Join(unix.IoctlSetPointerInt(fd, unix.TIOCSPGRP, group), unix.IoctlSetTermios(fd, unix.TCSETS, before))
	if err != nil && ctx.Err() == nil {
		err = fmt.Errorf("cannot take the terminal back: %w", err)
	}
	_, _ = io.WriteString(o.Out, leaveModes) // a terminal that is gone is noticed by the next read
	if ran != nil && ctx.Err() == nil && !interrupted(ran) {
		return errors.Join(err, fmt.Errorf("%s %q failed: %w", what, cmd.Args[2], ran))
	}
	return err
}

// keepAwake wakes a process group whenever its leader, a child of ours, stops. It returns when the leader has ended, and
// leaves it to be waited for.
func keepAwake(leader int) {
	for {
		var info unix.Siginfo
		err := unix.Waitid(unix.P_PID, leader, &info, unix.WEXITED|unix.WSTOPPED|unix.WNOWAIT, nil)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case err != nil || info.Code != stoppedChild:
			return
		}
		_ = unix.Kill(-leader, unix.SIGCONT) // one that has ended meanwhile is seen above
		time.Sleep(awakePause)
	}
}

const (
	// stoppedChild is CLD_STOPPED of siginfo_t: a child has stopped.
	stoppedChild = 5
	// awakePause keeps a program that stops again and again from taking a whole processor.
	awakePause = 20 * time.Millisecond
)

// interrupted reports whether a program ended by ctrl+c: that is a way to leave it.
func interrupted(err error) bool {
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		return false
	}
	ws, ok := exit.Sys().(syscall.WaitStatus)
	return ok && (ws.Signaled() && ws.Signal() == syscall.SIGINT || ws.ExitStatus() == 128+int(syscall.SIGINT))
}

// pager is the command of $PAGER, else less or more.
func pager(ctx context.Context, environ []string) (*exec.Cmd, error) {
	line, flags := "", ""
	for _, kv := range environ {
		if v, ok := strings.CutPrefix(kv, "PAGER="); ok {
			line = strings.TrimSpace(v)
		}
		if v, ok := strings.CutPrefix(kv, "LESS="); ok {
			flags = v + " "
		}
	}
	for _, name := range []string{"less", "more"} {
		if line != "" {
			break
		}
		if _, err := exec.LookPath(name); err == nil {
			line = name
		}
	}
	if line == "" {
		return nil, errors.New("there is no pager: neither less nor more is installed; set PAGER to one")
	}
	cmd := exec.CommandContext(ctx, "/bin/sh", "-c", line)
	cmd.Env = append(append([]string(nil), environ...), "LESS="+flags+"-R -+F") // colours, and short texts stay
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
	cmd.WaitDelay = 2 * time.Second
	return cmd, nil
}
