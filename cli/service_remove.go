package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"syscall"
	"time"

	"gcity/cli/output"
)

// stopPatience is how long systemd may take to stop a service; the unit says when systemd ends it.
const stopPatience = time.Hour

// removed is the answer of uninstall.
type removed struct {
	Unit    string   `json:"unit,omitempty"` // "" = there was none
	File    string   `json:"file,omitempty"`
	Stopped bool     `json:"stopped"`
	Agents  string   `json:"agents,omitempty"` // "kept", "ended"
	Next    []string `json:"next,omitempty"`
}

func (a *app) uninstall(ctx context.Context, k serviceKind, f serviceFlags) error {
	kind, at, err := k.known()
	if err != nil {
		return err
	}
	if a.readOnly {
		return refusedReadOnly(k.group + " uninstall")
	}
	m, err := a.manager(f.system)
	if err != nil {
		return err
	}
	u, err := m.own(markOf(kind, at))
	if err != nil {
		return err
	}
	if u == nil {
		if a.JSON {
			return a.WriteJSON(removed{})
		}
		a.Sayf("nothing to do: %s has no unit of gcity's for %s", m.folder, output.SafeLine(at))
		return nil
	}
	out := removed{Unit: u.name(), File: u.path}
	if out.Agents, err = a.endService(ctx, k, at, u, f); err != nil {
		return err
	}
	out.Stopped = out.Agents != ""
	links := u.links()
	_, deaf := m.ask(ctx, "disable", u.name())
	for _, link := range links {
		if err := os.Remove(link); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("the unit is still enabled: %w", err)
		}
	}
	if err := os.Remove(u.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("the unit cannot be removed: %w", err)
	}
	if _, err := m.ask(ctx, "daemon-reload"); err != nil || deaf != nil {
		out.Next = append(out.Next, m.line("daemon-reload"))
	}
	if a.JSON {
		return a.WriteJSON(out)
	}
	a.Sayf("removed %s", output.SafeLine(u.path))
	switch out.Agents {
	case "kept":
		a.Sayf("the agents run on and nobody watches them; %s", k.adopt)
	case "ended":
		a.Sayf("the service is stopped, and its agents with it")
	}
	for _, next := range out.Next {
		a.Sayf("next: %s", next)
	}
	return nil
}

// endService stops what runs by a unit. It returns what became of the agents: "kept", "ended", or "" if nothing ran.
func (a *app) endService(ctx context.Context, k serviceKind, at string, u *unitFile, f serviceFlags) (agents string, err error) {
	active, pid, err := u.state(ctx)
	if err != nil {
		if held, unsure := k.held(at); !held && unsure == nil || f.force {
			return "", nil
		}
		if errors.Is(err, errUnreachable) && !runsBy(k.pid(at), u) {
			return "", nil // it was started by hand, and goes on
		}
		return "", fmt.Errorf("the unit is not removed, because the service may be running: %w; run %s first, or use --force", err, k.stop)
	}
	if active == "inactive" || active == "failed" {
		return "", nil
	}
	if f.keep {
		n, err := strconv.Atoi(pid)
		if err != nil || n <= 1 {
			return "", fmt.Errorf("systemd does not say which process %s is, so its agents cannot be kept; try again in a moment", u.name())
		}
		if err := syscall.Kill(n, syscall.SIGUSR1); err != nil {
			return "", fmt.Errorf("process %d of %s cannot be told to leave its agents: %w", n, u.name(), err)
		}
		return "kept", u.awaitEnd(ctx)
	}
	done := a.saySlow(ctx, "systemd to stop "+u.name(), stopPatience)
	defer done()
	if _, err := u.manager.call(ctx, stopPatience, "stop", u.name()); err != nil {
		return "", fmt.Errorf("the service is not stopped, so its unit stays: %w", err)
	}
	return "ended", nil
}

// runsBy reports whether a process belongs to a unit.
func runsBy(pid int, u *unitFile) bool {
	group, err := os.ReadFile(fmt.Sprintf("/proc/%d/cgroup", pid))
	if err != nil {
		return false
	}
	unit, system := unitOf(string(group))
	return unit == u.name() && system == u.manager.system
}

// awaitEnd waits until a service has ended by itself.
func (u *unitFile) awaitEnd(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, releaseLimit)
	defer cancel()
	for wait := 50 * time.Millisecond; ; wait = min(2*wait, time.Second) {
		active, _, err := u.state(ctx)
		switch {
		case err == nil && (active == "inactive" || active == "failed"):
			return nil
		case !pause(ctx, wait):
			return fmt.Errorf("%s has let go of its city and does not end; `%s` tells more", u.name(), u.manager.line("status", u.name()))
		}
	}
}
