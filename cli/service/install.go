package service

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
	"gcity/cli/env"
	"gcity/cli/exit"
	"gcity/cli/folder"
	"gcity/cli/output"
	"gcity/internal/disk"
)

// ServiceFlags are those of install and uninstall.
type ServiceFlags struct {
	system, now, print, launchd, force, keep bool
	user                                     string
}

// ServiceKind is what the commands of a group install: found says what that is here, known by which folder it is, so
// that it can also be taken away when nothing else of it can be read.
type ServiceKind struct {
	Group string // "daemon"
	What  string // "this city"
	Found func(ctx context.Context) (*unit, error)
	known func() (kind, at string, err error)
	held  func(at string) (bool, error) // whether somebody runs it, by the service or not
	pid   func(at string) int           // of the process that runs it, 0 = not known
	LetGo func(ctx context.Context, at string) (how, keeps string)
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

// ServiceCommands are install and uninstall.
func ServiceCommands(e *env.Env, k ServiceKind) []*cobra.Command {
	var f ServiceFlags
	install := &cobra.Command{
		Use: "install", Short: "Have systemd keep " + k.What + " running", Args: env.Exactly(0),
		Long: `install writes a unit of systemd and enables it: of yours, which runs while you are
logged in, or for good with "loginctl enable-linger"; with --system one of the
machine, which runs as the folder's owner, or as --user says. PATH and the language
are taken over from here: install it again when they have changed. A restart of the
service keeps the agents, a stop ends them. What is there already and not written
by gcity is left alone.`,
		RunE: func(cmd *cobra.Command, _ []string) error { return install(cmd.Context(), e, k, f) },
	}
	install.Flags().BoolVar(&f.system, "system", false, "a unit of the machine, not of yours")
	install.Flags().StringVar(&f.user, "user", "",
		"as whom a unit of the machine runs (a `name`; else the folder's owner)")
	install.Flags().BoolVar(&f.now, "now", false, "start it now as well")
	install.Flags().BoolVar(&f.print, "print", false,
		"write the unit to stdout, and change nothing")
	install.Flags().BoolVar(&f.launchd, "launchd", runtime.GOOS == "darwin",
		"with --print: a property list for launchd")
	install.Flags().BoolVar(&f.force, "force", false,
		"write over a unit that gcity has not written")
	uninstall := &cobra.Command{
		Use: "uninstall", Short: "Stop and remove what install has written", Args: env.Exactly(0),
		Long: `uninstall stops the service, which ends its agents, unless --keep-agents leaves
them to the next controller; then it disables and removes the unit. Without one it
does nothing.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return uninstall(cmd.Context(), e, k,
				f)
		},
	}
	uninstall.Flags().BoolVar(&f.system, "system", false, "the unit of the machine, not yours")
	uninstall.Flags().BoolVar(&f.keep, "keep-agents", false, "let the agents run on")
	uninstall.Flags().BoolVar(&f.force, "force", false,
		"remove it also where systemd cannot be told to stop it")
	if k.flags != nil {
		install = k.flags(install)
	}
	return []*cobra.Command{install, uninstall}
}

// CityService is the city that is meant, as a service.
func CityService(e *env.Env) ServiceKind {
	known := func() (string, string, error) {
		dir, err := e.CityDir()
		return "city", dir, err
	}
	return ServiceKind{
		Group: "daemon", What: "this city",
		flags: func(c *cobra.Command) *cobra.Command { return env.WithSource(e, c) }, known: known,
		held: folder.IsHeld,
		pid: func(at string) int {
			pid, _ := strconv.Atoi(folder.PIDText(at)) // 0 = not known
			return pid
		},
		stop: "`gcity stop`", adopt: "`gcity` or `gcity --headless` takes them over, `gcity " +
			"stop` ends them",
		LetGo: func(ctx context.Context, at string) (string, string) {
			s, err := folder.AskController(ctx, at)
			if err != nil {
				s = &city.Snapshot{}
			}
			return letGo(s)
		},
		Found: func(context.Context) (*unit, error) {
			_, dir, err := known()
			if err != nil {
				return nil, err
			}
			c, err := e.LoadAt(dir, nil)
			if err != nil {
				return nil, err
			}
			return &unit{
				kind: "city", group: "daemon", at: dir, Name: unitSafe(c.Workspace.Name),
				about: fmt.Sprintf("the city %s (%s)", output.SafeLine(c.Workspace.Name), dir),
				args:  append([]string{"--headless", "--city", dir}, e.SourceArgs()...),
				limit: folder.StopLimit(c, dir), log: folder.LogPath(dir),
			}, nil
		},
	}
}

// letGo is how a controller is made to end, if it can be without its agents: one of several cities in one process
// cannot.
func letGo(s *city.Snapshot) (how, keeps string) {
	if s.Mode == "headless" || s.Mode == "console" {
		return fmt.Sprintf("kill -USR1 %d", s.PID), "ends it and leaves its agents to the next"
	}
	return "gcity stop", "ends it, with its agents"
}

// supervisorStop is how long all cities of a supervisor may take to end: they change while it runs, so nobody can tell.
const supervisorStop = 15 * time.Minute

// SupervisorService is the supervisor of this person's cities, whose folder is home, as a service.
func SupervisorService(home func() (string, error),
	running func(home string) (pid int, err error)) ServiceKind {
	known := func() (string, string, error) {
		dir, err := home()
		return "supervisor", dir, err
	}
	return ServiceKind{
		Group: "supervisor", What: "the supervisor of your cities", known: known,
		stop: "`gcity supervisor stop`",
		adopt: "`gcity supervisor start` takes them over, and in a city's folder `gcity " +
			"stop` ends them",
		held: func(at string) (bool, error) {
			pid, err := running(at)
			return pid != 0, err
		},
		pid: func(at string) int {
			pid, _ := running(at) // 0 = not known
			return pid
		},
		LetGo: func(_ context.Context, at string) (string, string) {
			pid, err := running(at)
			if err != nil || pid == 0 {
				return "gcity supervisor stop", "ends it, with its agents"
			}
			return fmt.Sprintf("kill -USR1 %d", pid), "ends it and leaves its agents to the next"
		},
		Found: func(context.Context) (*unit, error) {
			_, dir, err := known()
			if err != nil {
				return nil, err
			}
			return &unit{kind: "supervisor", group: "supervisor", at: dir, Name: "supervisor",
				about: "the cities of " + dir,
				args:  []string{"supervisor", "run"}, limit: supervisorStop,
				log: filepath.Join(dir, "supervisor.log")}, nil
		},
	}
}

func install(ctx context.Context, e *env.Env, k ServiceKind, f ServiceFlags) error {
	s, err := k.Found(ctx)
	if err != nil {
		return err
	}
	if err := CompleteService(e, s, f); err != nil {
		return err
	}
	if f.print {
		text, err := s.UnitText()
		if f.launchd {
			text, err = s.plistText()
		}
		if err != nil {
			return err
		}
		_, err = e.Out.Write([]byte(text))
		return err
	}
	switch {
	case e.ReadOnly:
		return env.RefusedReadOnly(k.Group + " install")
	case f.launchd:
		return exit.Usage("--launchd goes with --print: put it into "+
			"~/Library/LaunchAgents/%s.plist, then `launchctl bootstrap gui/$(id -u) FILE`",
			s.label())
	case f.system && os.Getuid() != 0:
		return fmt.Errorf("only root may write a unit of the machine: `sudo %s %s install "+
			"--system`, or without --system one of yours", s.Exe, k.Group)
	}
	m, err := ManagerOf(e, f.system)
	if err != nil {
		return err
	}
	out, err := writeUnit(s, m, f.force)
	if err != nil {
		return err
	}
	started := k.enable(ctx, out, s, m, f.now)
	if err := tellInstalled(e, out, s, m); err != nil {
		return err
	}
	return started
}

// writeUnit puts the unit where it belongs, unless it is there.
func writeUnit(s *unit, m *Manager, force bool) (*installed, error) {
	have, err := m.own(s.mark())
	if err != nil {
		return nil, err
	}
	path := filepath.Join(m.Folder, s.UnitName())
	if have != nil {
		path = have.Path
		s.Name = strings.TrimSuffix(strings.TrimPrefix(have.Name(), "gcity-"), ".service")
	} else if there, err := os.ReadFile(path); err == nil {
		if markIn(string(there)) != "" { // another city's of the same name
			s.Name = s.longName()
			path = filepath.Join(m.Folder, s.UnitName())
			_, err = os.ReadFile(path)
		}
		if err == nil && !force {
			return nil, &exit.Failure{Code: exit.CodeConflict,
				Err: fmt.Errorf("%s is there already, and gcity has not written it: move it "+
					"away, or write over it with --force", path)}
		}
	}
	text, err := s.UnitText()
	if err != nil {
		return nil, err
	}
	out := &installed{Unit: s.UnitName(), File: path}
	if have != nil && have.Text == text {
		out.did = append(out.did, path+" is as it should be")
		return out, nil
	}
	if err := os.MkdirAll(m.Folder, 0o755); err != nil {
		return nil, fmt.Errorf("the folder of the units cannot be made: %w", err)
	}
	if err := disk.WriteFile(path, []byte(text), 0o644); err != nil {
		return nil, fmt.Errorf("the unit cannot be written: %w", err)
	}
	out.Written, out.did = true, append(out.did, "wrote "+path)
	return out, nil
}

// enable makes systemd enable the unit, and start it if now is set. Next lists what is left to do after an error.
func (k ServiceKind) enable(ctx context.Context, out *installed, s *unit, m *Manager,
	now bool) error {
	_, err := m.Ask(ctx, "daemon-reload")
	if err == nil {
		_, err = m.Ask(ctx, "enable", out.Unit)
	}
	if err != nil {
		out.Next = append(out.Next, m.Line("daemon-reload"), m.Line("enable", "--now", out.Unit))
		err = fmt.Errorf("the unit is written, but not enabled and not started: %w", err)
		if errors.Is(err, ErrUnreachable) {
			err = fmt.Errorf("%w; until it is, `gcity %s start` runs %s in the background", err,
				k.Group, k.What)
		}
		return &exit.Failure{Code: exit.CodeFailed, Err: err}
	}
	out.Enabled, out.did = true, append(out.did, "it is enabled: systemd starts it "+
		map[bool]string{true: "with the machine", false: "when you log in"}[m.System])
	u := &UnitFile{Manager: m, Path: out.File}
	active, _, err := u.State(ctx)
	running := err == nil && (active == "active" || active == "activating" || active == "reloading")
	switch {
	case running && out.Written:
		out.Started = true
		out.did = append(out.did, "it runs, by the unit as it was")
		out.Next = append(out.Next, m.Line("restart", out.Unit))
		return nil
	case running:
		out.Started, out.did = true, append(out.did, "it runs")
		return nil
	case !now:
		out.Next = append(out.Next, m.Line("start", out.Unit))
		return nil
	}
	if held, err := k.held(s.at); err == nil && held {
		how, keeps := k.LetGo(ctx, s.at)
		out.Next = append(out.Next, how, m.Line("start", out.Unit))
		return &exit.Failure{Code: exit.CodeConflict,
			Err: fmt.Errorf("not started: %s runs already, and not by the service; `%s` %s", k.What,
				how, keeps)}
	}
	if _, err := m.call(ctx, 2*time.Minute, "start", out.Unit); err != nil {
		out.Next = append(out.Next, m.Line("status", out.Unit))
		return fmt.Errorf("the service did not start: %w", err)
	}
	out.Started, out.did = true, append(out.did, "it runs")
	return nil
}

func tellInstalled(e *env.Env, out *installed, s *unit, m *Manager) error {
	if !m.System && !Lingers() {
		out.Next = append(out.Next, "loginctl enable-linger")
	}
	if e.JSON {
		return e.WriteJSON(out)
	}
	for _, line := range out.did {
		e.Sayf("%s", output.SafeLine(line))
	}
	for _, next := range out.Next {
		why := ""
		if strings.HasPrefix(next, "loginctl") {
			why = "    # or it ends when you log out"
		} else if strings.Contains(next, " restart ") {
			why = "    # takes the new unit into use, and keeps the agents"
		}
		e.Sayf("next: %s%s", next, why)
	}
	if s.asRoot() {
		e.Warn("the service and all its agents run as root: an agent that errs can change " +
			"everything on this machine. As another user: " +
			"sudo gcity " + s.group + " install --system --user NAME")
	}
	for _, kv := range os.Environ() {
		if name, _, _ := strings.Cut(kv, "="); name == "GC_SESSION" || name == "GC_BEADS" ||
			name == "GC_EVENTS" {
			e.Warn(name + " is set here, and the service does not get it; write it into " +
				"city.toml, or into ~/.config/gcity/service.env")
		}
	}
	return nil
}

// Lingers says whether this person's services go on without a login.
func Lingers() bool {
	me, err := user.Current()
	if err != nil {
		return false
	}
	_, err = os.Stat(filepath.Join("/var/lib/systemd/linger", me.Username))
	return err == nil
}
