package feed

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"gcity/internal/detach"
)

// ShowInPager runs the pager in the foreground of the terminal until the pager or ctx ends. It always restores the
// terminal's modes.
func ShowInPager(ctx context.Context, o Terminal, text string) (err error) {
	p, err := pager(ctx, o.Environ)
	if err != nil {
		return err
	}
	p.Cmd.Stdin = strings.NewReader(text)
	return runInForeground(ctx, o, p)
}

func runInForeground(ctx context.Context, o Terminal, p foreground) error {
	cmd := p.Cmd
	fd := int(o.In.Fd())
	before, err := unix.IoctlGetTermios(fd, unix.TCGETS)
	if err != nil {
		return fmt.Errorf("cannot run the %s in the terminal: %w", p.kind, err)
	}
	group, err := unix.IoctlGetInt(fd, unix.TIOCGPGRP)
	if err != nil {
		return fmt.Errorf("cannot run the %s in the terminal: %w", p.kind, err)
	}
	calm := *before
	calm.Cc[unix.VSUSP] = 0 // disable ctrl+z
	if err := unix.IoctlSetTermios(fd, unix.TCSETS, &calm); err != nil {
		return fmt.Errorf("cannot run the %s in the terminal: %w", p.kind, err)
	}
	cmd.Stdout, cmd.Stderr = o.Out, o.Out
	cmd.SysProcAttr = &syscall.SysProcAttr{Foreground: true, Ctty: fd}
	_, _ = io.WriteString(o.Out, detach.SaveModes)
	ran := cmd.Start()
	if ran == nil {
		keepRunning(cmd.Process.Pid)
		ran = cmd.Wait()
	}
	signal.Ignore(syscall.SIGTTOU) // this process is now in the background
	defer signal.Reset(syscall.SIGTTOU)
	err = errors.Join(unix.IoctlSetPointerInt(fd, unix.TIOCSPGRP, group),
		unix.IoctlSetTermios(fd, unix.TCSETS, before))
	if err != nil && ctx.Err() == nil {
		err = fmt.Errorf("cannot take the terminal back: %w", err)
	}
	// if the terminal is gone, the next read returns the error
	_, _ = io.WriteString(o.Out, detach.ResetModes)
	if ran != nil && ctx.Err() == nil {
		return errors.Join(err, p.Failed(ran))
	}
	return err
}

// keepRunning continues a process group each time its leader stops, because no shell manages the group. It does not
// reap the leader.
func keepRunning(leader int) {
	for {
		var info unix.Siginfo
		err := unix.Waitid(unix.P_PID, leader, &info, unix.WEXITED|unix.WSTOPPED|unix.WNOWAIT, nil)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case err != nil || info.Code != stoppedChild:
			return
		}
		// if the group has ended, the next iteration notices it
		_ = unix.Kill(-leader, unix.SIGCONT)
		time.Sleep(continuePause)
	}
}

const (
	// stoppedChild is CLD_STOPPED in siginfo_t: a child has stopped.
	stoppedChild = 5
	// continuePause limits how often a program that stops repeatedly is continued.
	continuePause = 20 * time.Millisecond
)

func pager(ctx context.Context, environ []string) (foreground, error) {
	getenv, by := EnvLookup(environ), ""
	line := strings.TrimSpace(getenv("PAGER"))
	if line != "" {
		by = "PAGER"
	}
	if line = cmp.Or(line, installed("less", "more")); line == "" {
		return foreground{}, errors.New("no pager found: less and more are not installed; set " +
			"PAGER")
	}
	// show colors, and do not exit immediately if the text fits on one screen
	flags := strings.TrimLeft(getenv("LESS")+" -R -+F", " ")
	cmd := shellCommand(ctx, append(slices.Clone(environ), "LESS="+flags), "-c", line)
	return foreground{Cmd: cmd, kind: "pager", commandLine: line, variable: by}, nil
}
