package service

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"gcity/cli/env"
	"gcity/cli/folder"
	"gcity/cli/output"
	"gcity/internal/deadline"
)

// stopTimeout limits the command that stops a service. The unit itself sets a shorter limit.
const stopTimeout = time.Hour

type removed struct {
	Unit    string   `json:"unit,omitempty"`
	File    string   `json:"file,omitempty"`
	Stopped bool     `json:"stopped"`
	Agents  string   `json:"agents,omitempty"` // "kept" or "ended"
	Next    []string `json:"next,omitempty"`
}

func uninstall(ctx context.Context, e *env.Env, k ServiceKind, f ServiceFlags) error {
	at, unusable := k.at()
	if unusable != nil { // the folder might have been moved or deleted
		if k.kind != "city" || e.Dir == "" {
			return unusable
		}
		at = formerPath(e.Dir)
	}
	if e.ReadOnly {
		return env.ReadOnlyError(k.Group + " uninstall")
	}
	m, err := ManagerOf(e, f.system)
	if err != nil {
		return err
	}
	u, err := m.own(markOf(k.kind, at))
	switch {
	case err != nil:
		return err
	case u == nil && unusable != nil:
		return unusable
	case u == nil:
		return e.Result(removed{}, "nothing to do: %s has no unit written by gcity for %s",
			m.Folder, output.SafeLine(at))
	}
	out := removed{Unit: u.Name(), File: u.Path}
	if out.Agents, err = k.end(ctx, e, at, u, f); err != nil {
		return err
	}
	out.Stopped = out.Agents != ""
	links := u.Links()
	_, disableErr := m.Ask(ctx, "disable", u.Name())
	for _, link := range links {
		if err := os.Remove(link); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("the unit is still enabled: %w", err)
		}
	}
	if err := os.Remove(u.Path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("cannot remove the unit: %w", err)
	}
	if _, err := m.Ask(ctx, "daemon-reload"); err != nil || disableErr != nil {
		out.Next = append(out.Next, m.Line("daemon-reload"))
	}
	if e.JSON {
		return e.WriteJSON(out)
	}
	e.Sayf("removed %s", output.SafeLine(u.Path))
	switch out.Agents {
	case "kept":
		e.Sayf("the agents keep running without a controller; %s", k.adopt)
	case "ended":
		e.Sayf("the service and its agents have stopped")
	}
	for _, next := range out.Next {
		e.Sayf("next: %s", next)
	}
	return nil
}

// formerPath returns the path that a folder had if it no longer exists.
func formerPath(dir string) string {
	path, err := filepath.Abs(dir)
	if err != nil {
		return dir
	}
	parent, err := filepath.EvalSymlinks(filepath.Dir(path))
	if err != nil {
		return path
	}
	return filepath.Join(parent, filepath.Base(path))
}

// end stops the service and returns what happened to its agents: "kept", "ended", or "" if there was no process to
// stop.
func (k ServiceKind) end(ctx context.Context, e *env.Env, at string, u *UnitFile,
	f ServiceFlags) (agents string, err error) {
	active, pid, err := u.State(ctx)
	if err != nil {
		if held, unsure := k.isRunning(at); !held && unsure == nil || f.force {
			return "", nil
		}
		if errors.Is(err, ErrUnreachable) && !belongsTo(k.pid(at), u) {
			return "", nil // a user started the process by hand, so it keeps running
		}
		return "", fmt.Errorf("the unit was not removed, because the service might be "+
			"running: %w; "+
			"run %s first, or use --force", err, k.stop)
	}
	if active == "inactive" || active == "failed" {
		return "", nil
	}
	if f.keep {
		n, err := strconv.Atoi(pid)
		if err != nil || n <= 1 {
			return "", fmt.Errorf("systemd does not report the process ID of %s, so its agents "+
				"cannot be kept; try again in a moment", u.Name())
		}
		if err := syscall.Kill(n, syscall.SIGUSR1); err != nil {
			return "", fmt.Errorf("cannot signal process %d of %s to release its agents: %w", n,
				u.Name(), err)
		}
		return "kept", u.awaitEnd(ctx)
	}
	done := e.SaySlow(ctx, "systemd to stop "+u.Name(), stopTimeout)
	defer done()
	if _, err := u.Manager.call(ctx, stopTimeout, "stop", u.Name()); err != nil {
		return "", fmt.Errorf("the service did not stop, so its unit was not removed: %w", err)
	}
	return "ended", nil
}

func belongsTo(pid int, u *UnitFile) bool {
	group, err := os.ReadFile(fmt.Sprintf("/proc/%d/cgroup", pid))
	if err != nil {
		return false
	}
	unit, system := UnitOf(string(group))
	return unit == u.Name() && system == u.Manager.System
}

func (u *UnitFile) awaitEnd(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, folder.ReleaseLimit)
	defer cancel()
	for wait := 50 * time.Millisecond; ; wait = min(2*wait, time.Second) {
		active, _, err := u.State(ctx)
		switch {
		case err == nil && (active == "inactive" || active == "failed"):
			return nil
		case !deadline.Pause(ctx, wait):
			return fmt.Errorf("%s has released its city but has not exited; see `%s`",
				u.Name(), u.Manager.Line("status", u.Name()))
		}
	}
}
