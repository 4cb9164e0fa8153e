package service

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"time"

	"gcity/cli/env"
	"gcity/cli/output"
)

// Manager is an instance of systemd: the system's or a user's.
type Manager struct {
	System  bool
	Folder  string
	Environ []string
}

const systemUnits = "/etc/systemd/system"

// ManagerOf returns the system's instance of systemd, or the user's.
func ManagerOf(e *env.Env, system bool) (*Manager, error) {
	m := &Manager{System: system, Folder: systemUnits, Environ: os.Environ()}
	if system {
		return m, nil
	}
	base := e.Getenv("XDG_CONFIG_HOME")
	if !filepath.IsAbs(base) {
		home := e.Getenv("HOME")
		if !filepath.IsAbs(home) {
			return nil, errors.New("HOME is not set, so the folder for your units is unknown; " +
				"set HOME, or use --print")
		}
		base = filepath.Join(home, ".config")
	}
	m.Folder = filepath.Join(base, "systemd", "user")
	if own := fmt.Sprintf("/run/user/%d", os.Getuid()); e.Getenv("XDG_RUNTIME_DIR") == "" &&
		IsFolder(own) {
		// XDG_RUNTIME_DIR is not set after su or in cron
		m.Environ = append(m.Environ, "XDG_RUNTIME_DIR="+own)
	}
	return m, nil
}

// IsFolder reports whether path is a folder.
func IsFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// Line returns a systemctl command in the form that a user would type.
func (m *Manager) Line(args ...string) string {
	if m.System {
		return "sudo systemctl " + strings.Join(args, " ")
	}
	return "systemctl --user " + strings.Join(args, " ")
}

// ErrUnreachable means that this process cannot reach systemd, for example in a container.
var ErrUnreachable = errors.New("systemd cannot be reached from here")

// noBus matches systemctl's output if systemd is not running. call sets the locale, so the output is English.
var noBus = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`Failed to connect to .*\bbus\b|not been booted with systemd`)
})

func (m *Manager) call(ctx context.Context, most time.Duration, args ...string) (string, error) {
	if !m.System {
		args = append([]string{"--user"}, args...)
	}
	ctx, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	cmd := exec.CommandContext(ctx, "systemctl", args...)
	cmd.Env, cmd.WaitDelay = append(m.Environ, "LC_ALL=C", "SYSTEMD_PAGER=", "SYSTEMD_COLORS=0"),
		time.Second
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	if ctx.Err() != nil {
		err = ctx.Err()
	}
	if err != nil {
		why, _, _ := strings.Cut(strings.TrimSpace(said.String()), "\n")
		unreachable := errors.Is(err, exec.ErrNotFound) || noBus().MatchString(why)
		if why != "" {
			err = errors.New(output.SafeLine(why))
		}
		err = fmt.Errorf("`systemctl %s`: %w", strings.Join(args, " "), err)
		if unreachable {
			err = fmt.Errorf("%w: %w", ErrUnreachable, err)
		}
		return string(out), err
	}
	return strings.TrimSpace(string(out)), nil
}

// Ask runs a systemd command with a short timeout.
func (m *Manager) Ask(ctx context.Context, args ...string) (string, error) {
	return m.call(ctx, 10*time.Second, args...)
}

// UnitFile is a unit on disk.
type UnitFile struct {
	Manager *Manager
	Path    string
	Text    string
}

// Name returns the unit's name.
func (u *UnitFile) Name() string { return filepath.Base(u.Path) }

func (m *Manager) own(mark string) (*UnitFile, error) {
	entries, err := os.ReadDir(m.Folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("cannot list the units: %w", err)
	}
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), "gcity-") || !strings.HasSuffix(e.Name(), ".service") ||
			!e.Type().IsRegular() {
			continue
		}
		path := filepath.Join(m.Folder, e.Name())
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, fmt.Errorf("cannot read a unit: %w", err)
		}
		if markIn(string(text)) == mark {
			return &UnitFile{m, path, string(text)}, nil
		}
	}
	return nil, nil
}

func markIn(text string) string {
	head, _, _ := strings.Cut(text, "\n")
	mark, ours := strings.CutPrefix(head, "# gcity-unit:")
	if !ours {
		return ""
	}
	return "gcity-unit:" + mark
}

// Links returns the symbolic links that cause systemd to start the unit.
func (u *UnitFile) Links() []string {
	// the pattern is always valid
	found, _ := filepath.Glob(filepath.Join(u.Manager.Folder, "*.wants", u.Name()))
	return found
}

// State returns the unit's state and process ID from systemd.
func (u *UnitFile) State(ctx context.Context) (active string, pid string, err error) {
	out, err := u.Manager.Ask(ctx, "show", "--property=ActiveState", "--property=MainPID", u.Name())
	if err != nil {
		return "", "", err
	}
	for line := range strings.SplitSeq(out, "\n") {
		switch key, value, _ := strings.Cut(line, "="); key {
		case "ActiveState":
			active = value
		case "MainPID":
			pid = value
		}
	}
	return active, pid, nil
}

// Units returns the units that run a city or a supervisor.
func Units(e *env.Env, kind, at string) []*UnitFile {
	var out []*UnitFile
	for _, system := range []bool{false, true} {
		m, err := ManagerOf(e, system)
		if err != nil {
			continue
		}
		if u, err := m.own(markOf(kind, at)); err == nil && u != nil {
			out = append(out, u)
		}
	}
	return out
}

// UnitOf returns the systemd service that a process belongs to, or "". cgroup is the content of /proc/PID/cgroup.
func UnitOf(cgroup string) (unit string, system bool) {
	_, group, found := strings.Cut(cgroup, "0::")
	group, _, _ = strings.Cut(group, "\n")
	if path.Base(group) == "supervisor" {
		group = path.Dir(group)
	}
	unit = path.Base(group)
	if !found || !strings.HasSuffix(unit, ".service") || strings.HasPrefix(unit, "user@") {
		return "", false
	}
	return unit, !strings.Contains(group, "/user@")
}
