package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"gcity/city"
	"gcity/cli/exit"
	"gcity/cli/output"
	"gcity/internal/disk"
)

// serviceFlags are those of install and uninstall.
type serviceFlags struct {
	system, now, print, launchd, force, keep bool
	user                                     string
}

// serviceKind is what the commands of a group install: found says what that is here, known by which folder it is, so that it
// can also be taken away when nothing else of it can be read.
type serviceKind struct {
	group string // "daemon"
	what  string // "this city"
	found func(ctx context.Context) (*unit, error)
	known func() (kind, at string, err error)
	held  func(at string) (bool, error) // whether somebody runs it, by the service or not
	pid   func(at string) int           // of the process that runs it, 0 = not known
	letGo func(ctx context.Context, at string) (how, keeps string)
	stop  string // the command that ends it
	adopt string // those that take its agents over
	flags func(*cobra.Command) *cobra.Command
}

// installed is the answer of install.
type installed struct {
	Unit    string   `json:"unit"`
	File    string   `json:"file"`
	Written bool     `json:"written"`
	Enabled bool     `json:"enabled"`
	Started bool     `json:"started"`
	Next    []string `json:"next,omitempty"` // what is left to be done
	did     []string
}

// serviceCommands are install and uninstall.
func (a *app) serviceCommands(k serviceKind) []*cobra.Command {
	var f serviceFlags
	install := &cobra.Command{
		Use: "install", Short: "Have systemd keep " + k.what + " running", Args: exactly(0),
		Long: `install writes a unit of systemd and enables it: of yours, which runs while you are
logged in, or for good with "loginctl enable-linger"; with --system one of the
machine, which runs as the folder's owner, or as --user says. PATH and the language
are taken over from here: install it again when they have changed. A restart of the
service keeps the agents, a stop ends them. What is there already and not written
by gcity is left alone.`,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.install(cmd.Context(), k, f) },
	}
	install.Flags().BoolVar(&f.system, "system", false, "a unit of the machine, not of yours")
	install.Flags().StringVar(&f.user, "user", "", "as whom a unit of the machine runs (a `name`; else the folder's owner)")
	install.Flags().BoolVar(&f.now, "now", false, "start it now as well")
	install.Flags().BoolVar(&f.print, "print", false, "write the unit to stdout, and change nothing")
	install.Flags().BoolVar(&f.launchd, "launchd", runtime.GOOS == "darwin", "with --print: a property list for launchd")
	install.Flags().BoolVar(&f.force, "force", false, "write over a unit that gcity has not written")
	uninstall := &cobra.Command{
		Use: "uninstall", Short: "Stop and remove what install has written", Args: exactly(0),
		Long: `uninstall stops the service, which ends its agents, unless --keep-agents leaves
them to the next controller; then it disables and removes the unit. Without one it
does nothing.`,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.uninstall(cmd.Context(), k, f) },
	}
	uninstall.Flags().BoolVar(&f.system, "system", false, "the unit of the machine, not yours")
	uninstall.Flags().BoolVar(&f.keep, "keep-agents", false, "let the agents run on")
	uninstall.Flags().BoolVar(&f.force, "force", false, "remove it also where systemd cannot be told to stop it")
	if k.flags != nil {
		install = k.flags(install)
	}
	return []*cobra.Command{install, uninstall}
}

// cityService is the city that is meant, as a service.
func (a *app) cityService() serviceKind {
	known := func() (string, string, error) {
		dir, err := a.cityDir()
		return "city", dir, err
	}
	return serviceKind{
		group: "daemon", what: "this city", flags: a.withSource, known: known, held: isHeld,
		pid: func(at string) int {
			pid, _ := strconv.Atoi(pidText(at)) // 0 = not known
			return pid
		},
		stop: "`gcity stop`", adopt: "`gcity` or `gcity --headless` takes them over, `gcity stop` ends them",
		letGo: func(ctx context.Context, at string) (string, string) {
			s, err := askController(ctx, at)
			if err != nil {
				s = &city.Snapshot{}
			}
			return letGo(s)
		},
		found: func(context.Context) (*unit, error) {
			_, dir, err := known()
			if err != nil {
				return nil, err
			}
			c, err := a.loadAt(dir, nil)
			if err != nil {
				return nil, err
			}
			return &unit{
				kind: "city", group: "daemon", at: dir, name: unitSafe(c.Workspace.Name), about: fmt.Sprintf("the city %s (%s)", output.SafeLine(c.Workspace.Name), dir),
				args: append([]string{"--headless", "--city", dir}, a.sourceArgs()...), limit: stopLimit(c, dir), log: logPath(dir),
			}, nil
		},
	}
}

// letGo is how a controller is made to end, if it can be without its agents: one of several cities in one process cannot.
func letGo(s *city.Snapshot) (how, keeps string) {
	if s.Mode == "headless" || s.Mode == "console" {
		return fmt.Sprintf("kill -USR1 %d", s.PID), "ends it and leaves its agents to the next"
	}
	return "gcity stop", "ends it, with its agents"
}

// supervisorStop is how long all cities of a supervisor may take to end: they change while it runs, so nobody can tell.
const supervisorStop = 15 * time.Minute

// supervisorService is the supervisor of this person's cities, whose folder is home, as a service.
func (a *app) supervisorService(home func() (string, error), running func(home string) (pid int, err error)) serviceKind {
	known := func() (string, string, error) {
		dir, err := home()
		return "supervisor", dir, err
	}
	return serviceKind{
		group: "supervisor", what: "the supervisor of your cities", known: known,
		stop: "`gcity supervisor stop`", adopt: "`gcity supervisor start` takes them over, and in a city's folder `gcity stop` ends them",
		held: func(at string) (bool, error) {
			pid, err := running(at)
			return pid != 0, err
		},
		pid: func(at string) int {
			pid, _ := running(at) // 0 = not known
			return pid
		},
		letGo: func(_ context.Context, at string) (string, string) {
			pid, err := running(at)
			if err != nil || pid == 0 {
				return "gcity supervisor stop", "ends it, with its agents"
			}
			return fmt.Sprintf("kill -USR1 %d", pid), "ends it and leaves its agents to the next"
		},
		found: func(context.Context) (*unit, error) {
			_, dir, err := known()
			if err != nil {
				return nil, err
			}
			return &unit{kind: "supervisor", group: "supervisor", at: dir, name: "supervisor", about: "the cities of " + dir,
				args: []string{"supervisor", "run"}, limit: supervisorStop, log: filepath.Join(dir, "supervisor.log")}, nil
		},
	}
}

func (a *app) install(ctx context.Context, k serviceKind, f serviceFlags) error {
	s, err := k.found(ctx)
	if err != nil {
		return err
	}
	if err := a.completeService(s, f); err != nil {
		return err
	}
	if f.print {
		text, err := s.unitText()
		if f.launchd {
			text, err = s.plistText()
		}
		if err != nil {
			return err
		}
		_, err = a.Out.Write([]byte(text))
		return err
	}
	switch {
	case a.readOnly:
		return refusedReadOnly(k.group + " install")
	case f.launchd:
		return exit.Usage("--launchd goes with --print: put it into ~/Library/LaunchAgents/%s.plist, then `launchctl bootstrap gui/$(id -u) FILE`", s.label())
	case f.system && os.Getuid() != 0:
		return fmt.Errorf("only root may write a unit of the machine: `sudo %s %s install --system`, or without --system one of yours", s.exe, k.group)
	}
	m, err := a.manager(f.system)
	if err != nil {
		return err
	}
	out, err := a.writeUnit(s, m, f.force)
	if err != nil {
		return err
	}
	started := a.enableUnit(ctx, k, out, s, m, f.now)
	if err := a.tellInstalled(out, s, m); err != nil {
		return err
	}
	return started
}

// writeUnit puts the unit where it belongs, unless it is there.
func (a *app) writeUnit(s *unit, m *manager, force bool) (*installed, error) {
	have, err := m.own(s.mark())
	if err != nil {
		return nil, err
	}
	path := filepath.Join(m.folder, s.unitName())
	if have != nil {
		path = have.path
		s.name = strings.TrimSuffix(strings.TrimPrefix(have.name(), "gcity-"), ".service")
	} else if there, err := os.ReadFile(path); err == nil {
		if markIn(string(there)) != "" { // another city's of the same name
			s.name = s.longName()
			path = filepath.Join(m.folder, s.unitName())
			_, err = os.ReadFile(path)
		}
		if err == nil && !force {
			return nil, &exit.Failure{Code: exit.CodeConflict, Err: fmt.Errorf("%s is there already, and gcity has not written it: move it away, or write over it with --force", path)}
		}
	}
	text, err := s.unitText()
	if err != nil {
		return nil, err
	}
	out := &installed{Unit: s.unitName(), File: path}
	if have != nil && have.text == text {
		out.did = append(out.did, path+" is as it should be")
		return out, nil
	}
	if err := os.MkdirAll(m.folder, 0o755); err != nil {
		return nil, fmt.Errorf("the folder of the units cannot be made: %w", err)
	}
	if err := disk.WriteFile(path, []byte(text), 0o644); err != nil {
		return nil, fmt.Errorf("the unit cannot be written: %w", err)
	}
	out.Written, out.did = true, append(out.did, "wrote "+path)
	return out, nil
}

// enableUnit has systemd enable the unit, and start it if now is set. Next lists what is left to do after an error.
func (a *app) enableUnit(ctx context.Context, k serviceKind, out *installed, s *unit, m *manager, now bool) error {
	_, err := m.ask(ctx, "daemon-reload")
	if err == nil {
		_, err = m.ask(ctx, "enable", out.Unit)
	}
	if err != nil {
		out.Next = append(out.Next, m.line("daemon-reload"), m.line("enable", "--now", out.Unit))
		err = fmt.Errorf("the unit is written, but not enabled and not started: %w", err)
		if errors.Is(err, errUnreachable) {
			err = fmt.Errorf("%w; until it is, `gcity %s start` runs %s in the background", err, k.group, k.what)
		}
		return &exit.Failure{Code: exit.CodeFailed, Err: err}
	}
	out.Enabled, out.did = true, append(out.did, "it is enabled: systemd starts it "+map[bool]string{true: "with the machine", false: "when you log in"}[m.system])
	u := &unitFile{manager: m, path: out.File}
	active, _, err := u.state(ctx)
	running := err == nil && (active == "active" || active == "activating" || active == "reloading")
	switch {
	case running && out.Written:
		out.Started = true
		out.did = append(out.did, "it runs, by the unit as it was")
		out.Next = append(out.Next, m.line("restart", out.Unit))
		return nil
	case running:
		out.Started, out.did = true, append(out.did, "it runs")
		return nil
	case !now:
		out.Next = append(out.Next, m.line("start", out.Unit))
		return nil
	}
	if held, err := k.held(s.at); err == nil && held {
		how, keeps := k.letGo(ctx, s.at)
		out.Next = append(out.Next, how, m.line("start", out.Unit))
		return &exit.Failure{Code: exit.CodeConflict, Err: fmt.Errorf("not started: %s runs already, and not by the service; `%s` %s", k.what, how, keeps)}
	}
	if _, err := m.call(ctx, 2*time.Minute, "start", out.Unit); err != nil {
		out.Next = append(out.Next, m.line("status", out.Unit))
		return fmt.Errorf("the service did not start: %w", err)
	}
	out.Started, out.did = true, append(out.did, "it runs")
	return nil
}

func pidText(dir string) string {
	data, _ := disk.ReadFile(filepath.Join(gcDir(dir), "daemon.pid")) // without it nobody is named
	return strings.TrimSpace(string(data))
}

func (a *app) tellInstalled(out *installed, s *unit, m *manager) error {
	if !m.system && !lingers() {
		out.Next = append(out.Next, "loginctl enable-linger")
	}
	if a.JSON {
		return a.WriteJSON(out)
	}
	for _, line := range out.did {
		a.Sayf("%s", output.SafeLine(line))
	}
	for _, next := range out.Next {
		why := ""
		if strings.HasPrefix(next, "loginctl") {
			why = "    # or it ends when you log out"
		} else if strings.Contains(next, " restart ") {
			why = "    # takes the new unit into use, and keeps the agents"
		}
		a.Sayf("next: %s%s", next, why)
	}
	if s.asRoot() {
		a.Warn("the service and all its agents run as root: an agent that errs can change everything on this machine. As another user: sudo gcity " + s.group + " install --system --user NAME")
	}
	for _, kv := range os.Environ() {
		if name, _, _ := strings.Cut(kv, "="); name == "GC_SESSION" || name == "GC_BEADS" || name == "GC_EVENTS" {
			a.Warn(name + " is set here, and the service does not get it; write it into city.toml, or into ~/.config/gcity/service.env")
		}
	}
	return nil
}

// lingers says whether this person's services go on without a login.
func lingers() bool {
	me, err := user.Current()
	if err != nil {
		return false
	}
	_, err = os.Stat(filepath.Join("/var/lib/systemd/linger", me.Username))
	return err == nil
}
