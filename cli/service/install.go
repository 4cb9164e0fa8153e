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

// ServiceFlags are the flags of install and uninstall.
type ServiceFlags struct {
	system, now, print, launchd, force, keep bool
	user                                     string
}

// ServiceKind describes what a group of commands installs: the city or the supervisor.
type ServiceKind struct {
	Group string // for example "daemon"
	What  string // the name in messages, for example "this city"
	Found func(ctx context.Context) (*unit, error)
	kind  string // "city" or "supervisor"
	// uninstall is the part of the help text of uninstall that differs between the kinds
	uninstall string
	// at returns the folder that identifies the unit
	at         func() (string, error)
	isRunning  func(at string) (bool, error)
	pid        func(at string) int // 0 if unknown
	StopAdvice func(ctx context.Context, at string) (how, keeps string)
	stop       string
	adopt      string // the commands that take over or stop the agents
	folder     string // the owner of this folder is the default user of a system unit
	flags      func(*cobra.Command) *cobra.Command
}

type installed struct {
	Unit    string   `json:"unit"`
	File    string   `json:"file"`
	Written bool     `json:"written"`
	Enabled bool     `json:"enabled"`
	Started bool     `json:"started"`
	Next    []string `json:"next,omitempty"`
	did     []string
}

// ServiceCommands returns the install and uninstall commands.
func ServiceCommands(e *env.Env, k ServiceKind) []*cobra.Command {
	var f ServiceFlags
	install := &cobra.Command{
		Use: "install", Short: "Install a service that keeps " + k.What + " running",
		Long: `install writes a systemd unit and enables it. By default it is a user unit, which
runs while you are logged in, or always after "loginctl enable-linger". With
--system it is a system unit, which runs as the owner of ` + k.folder + `,
or as the user that --user names. The unit contains PATH and the language from this
shell: install it again after they change. If ` + k.What + ` is already
running, stop it before you start the service. Restarting the service keeps the agents
running; stopping the service stops them.
install does not overwrite a unit that gcity did not write.`,
		RunE: func(cmd *cobra.Command, _ []string) error { return install(cmd.Context(), e, k, f) },
	}
	install.Flags().BoolVar(&f.system, "system", false, "install a system unit instead of "+
		"a user unit")
	install.Flags().StringVar(&f.user, "user", "",
		"the user of a system unit (a `name`; default: the owner of "+k.folder+")")
	install.Flags().BoolVar(&f.now, "now", false, "also start the service now")
	install.Flags().BoolVar(&f.print, "print", false,
		"print the unit without installing it")
	install.Flags().BoolVar(&f.launchd, "launchd", runtime.GOOS == "darwin",
		"with --print: print a property list for launchd")
	install.Flags().BoolVar(&f.force, "force", false,
		"overwrite a unit that gcity did not write")
	uninstall := &cobra.Command{
		Use: "uninstall", Short: "Stop the service and remove its unit",
		Long: `uninstall stops the service and its agents. Then it disables and removes the unit. If
the unit does not exist, uninstall does nothing.
` + k.uninstall,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return uninstall(cmd.Context(), e, k, f)
		},
	}
	flags := uninstall.Flags()
	flags.BoolVar(&f.system, "system", false, "remove the system unit instead of "+
		"the user unit")
	flags.BoolVar(&f.keep, "keep-agents", false, "do not stop the agents")
	flags.BoolVar(&f.force, "force", false,
		"remove the unit even if systemd cannot stop the service")
	if k.flags != nil {
		install = k.flags(install)
	}
	return []*cobra.Command{install, uninstall}
}

// CityService describes the current city as a service.
func CityService(e *env.Env) ServiceKind {
	return ServiceKind{
		Group: "daemon", kind: "city", at: e.CityDir,
		What: "this city", folder: "the city's folder",
		uninstall: `With --keep-agents, the agents keep running, and the next controller
takes them over. The folder of a city that --city names may no longer exist.`,
		flags:     func(c *cobra.Command) *cobra.Command { return env.WithSource(e, c) },
		isRunning: folder.IsHeld,
		pid: func(at string) int {
			pid, _ := strconv.Atoi(folder.PIDText(at)) // 0 means unknown
			return pid
		},
		stop: "`gcity stop`", adopt: "`gcity start` takes them over, and " +
			"`gcity stop` stops them",
		StopAdvice: func(ctx context.Context, at string) (string, string) {
			s, err := folder.AskController(ctx, at)
			if err != nil {
				s = &city.Snapshot{}
			}
			return howToStop(s)
		},
		Found: func(context.Context) (*unit, error) {
			dir, err := e.CityDir()
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

// howToStop prefers a command that keeps the agents running.
func howToStop(s *city.Snapshot) (how, keeps string) {
	if s.Mode == "headless" || s.Mode == "console" {
		return fmt.Sprintf("kill -USR1 %d", s.PID), "stops it and leaves its agents to the " +
			"next controller"
	}
	return "gcity stop", "stops it and its agents"
}

// supervisorStop limits how long stopping all cities takes. It is a constant, because the number of cities can change
// after the installation.
const supervisorStop = 15 * time.Minute

// SupervisorService describes the service that runs the supervisor of this user's cities.
func SupervisorService(home func() (string, error),
	running func(home string) (pid int, err error)) ServiceKind {
	return ServiceKind{
		Group: "supervisor", kind: "supervisor", at: home, What: "the supervisor of your cities",
		uninstall: `With --keep-agents, the agents keep running, and the next supervisor
takes them over.`,
		folder: "the supervisor's folder ($GC_HOME)",
		stop:   "`gcity supervisor stop`",
		adopt: "`gcity supervisor start` takes them over, and `gcity stop` in a city's " +
			"folder stops them",
		isRunning: func(at string) (bool, error) {
			pid, err := running(at)
			return pid != 0, err
		},
		pid: func(at string) int {
			pid, _ := running(at) // 0 means unknown
			return pid
		},
		StopAdvice: func(_ context.Context, at string) (string, string) {
			pid, err := running(at)
			if err != nil || pid == 0 {
				return "gcity supervisor stop", "stops it and its agents"
			}
			return fmt.Sprintf("kill -USR1 %d", pid), "stops it and leaves its agents to the " +
				"next supervisor"
		},
		Found: func(context.Context) (*unit, error) {
			dir, err := home()
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
		return env.ReadOnlyError(k.Group + " install")
	case f.launchd:
		return exit.Usage("--launchd needs --print: write the output to "+
			"~/Library/LaunchAgents/%s.plist, then run `launchctl bootstrap gui/$(id -u) FILE`",
			s.label())
	case f.system && os.Getuid() != 0:
		return fmt.Errorf("only root can write a system unit: run `sudo %s %s install --system`, "+
			"or omit --system for a user unit", s.Exe, k.Group)
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
	if err := printInstalled(e, out, s, m); err != nil {
		return err
	}
	return started
}

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
		if markIn(string(there)) != "" { // the unit belongs to another city with the same name
			s.Name = s.longName()
			path = filepath.Join(m.Folder, s.UnitName())
			_, err = os.ReadFile(path)
		}
		if err == nil && !force {
			return nil, exit.Errorf(exit.CodeConflict, "%s exists, and gcity did not write it: "+
				"move it away, or overwrite it with --force", path)
		}
	}
	text, err := s.UnitText()
	if err != nil {
		return nil, err
	}
	out := &installed{Unit: s.UnitName(), File: path}
	if have != nil && have.Text == text {
		out.did = append(out.did, path+" is up to date")
		return out, nil
	}
	if err := os.MkdirAll(m.Folder, 0o755); err != nil {
		return nil, fmt.Errorf("cannot create the folder for units: %w", err)
	}
	if err := disk.WriteFile(path, []byte(text), 0o644); err != nil {
		return nil, fmt.Errorf("cannot write the unit: %w", err)
	}
	out.Written, out.did = true, append(out.did, "wrote "+path)
	return out, nil
}

func (k ServiceKind) enable(ctx context.Context, out *installed, s *unit, m *Manager,
	now bool) error {
	_, err := m.Ask(ctx, "daemon-reload")
	if err == nil {
		_, err = m.Ask(ctx, "enable", out.Unit)
	}
	if err != nil {
		out.Next = append(out.Next, m.Line("daemon-reload"), m.Line("enable", "--now", out.Unit))
		err = fmt.Errorf("the unit was written, but neither enabled nor started: %w", err)
		if errors.Is(err, ErrUnreachable) {
			err = fmt.Errorf("%w; without systemd, `gcity %s start` runs %s in the background", err,
				k.Group, k.What)
		}
		return &exit.Failure{Code: exit.CodeFailed, Err: err}
	}
	out.Enabled, out.did = true, append(out.did, "enabled: systemd starts it "+
		map[bool]string{true: "at boot", false: "when you log in"}[m.System])
	u := &UnitFile{Manager: m, Path: out.File}
	active, _, err := u.State(ctx)
	running := err == nil && (active == "active" || active == "activating" || active == "reloading")
	switch {
	case running && out.Written:
		out.Started = true
		out.did = append(out.did, "the service keeps running with the previous unit")
		out.Next = append(out.Next, m.Line("restart", out.Unit))
		return nil
	case running:
		out.Started, out.did = true, append(out.did, "the service is running")
		return nil
	case !now:
		out.Next = append(out.Next, m.Line("start", out.Unit))
		return nil
	}
	if held, err := k.isRunning(s.at); err == nil && held {
		how, keeps := k.StopAdvice(ctx, s.at)
		out.Next = append(out.Next, how, m.Line("start", out.Unit))
		return exit.Errorf(exit.CodeConflict, "not started: %s is already running without the "+
			"service; `%s` %s", k.What, how, keeps)
	}
	if _, err := m.call(ctx, 2*time.Minute, "start", out.Unit); err != nil {
		out.Next = append(out.Next, m.Line("status", out.Unit))
		return fmt.Errorf("the service did not start: %w", err)
	}
	out.Started, out.did = true, append(out.did, "the service is running")
	return nil
}

func printInstalled(e *env.Env, out *installed, s *unit, m *Manager) error {
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
			why = "    # otherwise the service stops when you log out"
		} else if strings.Contains(next, " restart ") {
			why = "    # applies the new unit, and keeps the agents running"
		}
		e.Sayf("next: %s%s", next, why)
	}
	if s.asRoot() {
		e.Warn("the service and all its agents run as root, so an agent's mistake can damage " +
			"everything on this machine; to run it as a different user: " +
			"sudo gcity " + s.group + " install --system --user NAME")
	}
	for _, kv := range os.Environ() {
		if name, _, _ := strings.Cut(kv, "="); name == "GC_SESSION" || name == "GC_BEADS" ||
			name == "GC_EVENTS" {
			e.Warn(name + " is set here, but not in the service; set it in " +
				"city.toml or in ~/.config/gcity/service.env")
		}
	}
	return nil
}

// Lingers reports whether this user's services also run while the user is not logged in.
func Lingers() bool {
	me, err := user.Current()
	if err != nil {
		return false
	}
	_, err = os.Stat(filepath.Join("/var/lib/systemd/linger", me.Username))
	return err == nil
}
