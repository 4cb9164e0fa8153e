package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"time"

	"gcity/cli/output"
)

// manager is a service manager: systemd, of the machine or of a person.
type manager struct {
	system  bool
	folder  string // where its units are
	environ []string
}

const systemUnits = "/etc/systemd/system"

func (a *app) manager(system bool) (*manager, error) {
	m := &manager{system: system, folder: systemUnits, environ: os.Environ()}
	if system {
		return m, nil
	}
	base := a.Getenv("XDG_CONFIG_HOME")
	if !filepath.IsAbs(base) {
		home := a.Getenv("HOME")
		if !filepath.IsAbs(home) {
			return nil, errors.New("HOME is not set, so nobody can tell where your units are; set it, or see --print")
		}
		base = filepath.Join(home, ".config")
	}
	m.folder = filepath.Join(base, "systemd", "user")
	if own := fmt.Sprintf("/run/user/%d", os.Getuid()); a.Getenv("XDG_RUNTIME_DIR") == "" && isFolder(own) {
		m.environ = append(m.environ, "XDG_RUNTIME_DIR="+own) // after su, and in cron
	}
	return m, nil
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// line is a command of systemd as a person types it.
func (m *manager) line(args ...string) string {
	if m.system {
		return "sudo systemctl " + strings.Join(args, " ")
	}
	return "systemctl --user " + strings.Join(args, " ")
}

// errUnreachable means that systemd is not installed, or cannot be reached from here: in a container, after
// su, in cron.
var errUnreachable = errors.New("systemd cannot be reached from here")

// noBus recognises what systemctl prints if it reaches no systemd, in the language that call asks for.
var noBus = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`Failed to connect to .*\bbus\b|not been booted with systemd`)
})

// call has systemd do something, and gives what it prints.
func (m *manager) call(ctx context.Context, most time.Duration, args ...string) (string, error) {
	if !m.system {
		args = append([]string{"--user"}, args...)
	}
	ctx, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	cmd := exec.CommandContext(ctx, "systemctl", args...)
	cmd.Env, cmd.WaitDelay = append(m.environ, "LC_ALL=C", "SYSTEMD_PAGER=", "SYSTEMD_COLORS=0"), time.Second
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
			err = fmt.Errorf("%w: %w", errUnreachable, err)
		}
		return string(out), err
	}
	return strings.TrimSpace(string(out)), nil
}

// ask is a short question.
func (m *manager) ask(ctx context.Context, args ...string) (string, error) {
	return m.call(ctx, 10*time.Second, args...)
}

// unitFile is a unit on the disk.
type unitFile struct {
	manager *manager
	path    string
	text    string
}

func (u *unitFile) name() string { return filepath.Base(u.path) }

// own finds the unit that a mark names, nil if there is none.
func (m *manager) own(mark string) (*unitFile, error) {
	entries, err := os.ReadDir(m.folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("the units cannot be looked at: %w", err)
	}
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), "gcity-") || !strings.HasSuffix(e.Name(), ".service") || !e.Type().IsRegular() {
			continue
		}
		path := filepath.Join(m.folder, e.Name())
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, fmt.Errorf("a unit cannot be read: %w", err)
		}
		if markIn(string(text)) == mark {
			return &unitFile{m, path, string(text)}, nil
		}
	}
	return nil, nil
}

// markIn is the mark of a unit's text, "" if gcity has not written it.
func markIn(text string) string {
	head, _, _ := strings.Cut(text, "\n")
	mark, ours := strings.CutPrefix(head, "# gcity-unit:")
	if !ours {
		return ""
	}
	return "gcity-unit:" + mark
}

// links are those by which systemd starts a unit.
func (u *unitFile) links() []string {
	found, _ := filepath.Glob(filepath.Join(u.manager.folder, "*.wants", u.name())) // the pattern is well formed
	return found
}

// state is what systemd makes of the unit now; err says why nobody can tell.
func (u *unitFile) state(ctx context.Context) (active string, pid string, err error) {
	out, err := u.manager.ask(ctx, "show", "--property=ActiveState", "--property=MainPID", u.name())
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

// units are those that keep a city or a supervisor running, of a person and of the machine.
func (a *app) units(kind, at string) []*unitFile {
	var out []*unitFile
	for _, system := range []bool{false, true} {
		m, err := a.manager(system)
		if err != nil {
			continue
		}
		if u, err := m.own(markOf(kind, at)); err == nil && u != nil {
			out = append(out, u)
		}
	}
	return out
}
