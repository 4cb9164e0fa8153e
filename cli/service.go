package cli

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

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
				kind: "city", group: "daemon", at: dir, name: unitSafe(c.Workspace.Name), about: fmt.Sprintf("the city %s (%s)", safeLine(c.Workspace.Name), dir),
				args: append([]string{"--headless", "--city", dir}, a.sourceArgs()...), limit: stopLimit(c, dir), log: logPath(dir),
			}, nil
		},
	}
}

// supervisorStop is how long all cities of a supervisor may take to end: they change while it runs, so nobody can tell.
const supervisorStop = 15 * time.Minute

// supervisorService is the supervisor of this person's cities, whose folder is home, as a service.
func (a *app) supervisorService(home func() (string, error), held func(home string) (bool, error)) serviceKind {
	known := func() (string, string, error) {
		dir, err := home()
		return "supervisor", dir, err
	}
	return serviceKind{
		group: "supervisor", what: "the supervisor of your cities", known: known, held: held,
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

// complete fills in what the flags and the surroundings say.
func (a *app) completeService(s *unit, f serviceFlags) error {
	if f.user != "" && !f.system {
		return usage("--user goes with --system: a unit of yours runs as you")
	}
	exe, err := thisProgram(a.getenv("PATH"))
	if err != nil {
		return err
	}
	s.exe, s.system = exe, f.system
	own, home := true, ""
	if f.system {
		who, err := a.servant(s.at, f.user)
		if err != nil {
			return err
		}
		s.user, home, own = who.Username, who.HomeDir, who.Uid == strconv.Itoa(os.Getuid())
	}
	s.env = serviceEnviron(os.Environ(), own, home)
	if s.kind == "supervisor" && f.system && !own {
		s.env = append(s.env, "GC_HOME="+s.at)
	}
	if s.kind == "city" && s.name == "supervisor" {
		s.name = s.longName()
	}
	return nil
}

// longName is a name that no other folder's unit has.
func (s *unit) longName() string {
	sum := sha256.Sum256([]byte(s.at))
	return s.name + "-" + hex.EncodeToString(sum[:4])
}

// servant is as whom a unit of the machine runs.
func (a *app) servant(at, name string) (*user.User, error) {
	if name != "" {
		who, err := user.Lookup(name)
		if err != nil {
			return nil, usage("--user: there is nobody called %q on this machine", name)
		}
		return who, nil
	}
	info, err := os.Stat(at)
	if errors.Is(err, fs.ErrNotExist) {
		return user.Current()
	}
	if err != nil {
		return nil, err
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return user.Current()
	}
	who, err := user.LookupId(strconv.Itoa(int(st.Uid)))
	if err != nil {
		return nil, fmt.Errorf("%s belongs to user %d, who has no name here: say with --user as whom the service runs", at, st.Uid)
	}
	return who, nil
}

// thisProgram is where this program is, by the name under which a shell finds it if it is the same: that one stays when what it
// links to is exchanged.
func thisProgram(path string) (string, error) {
	exe, err := os.Executable()
	if err == nil {
		_, err = os.Stat(exe)
	}
	if err != nil {
		return "", fmt.Errorf("cannot find this program, which the service is to run: %w", err)
	}
	real, err := filepath.EvalSymlinks(exe)
	if err != nil {
		return "", err
	}
	for _, dir := range filepath.SplitList(path) {
		candidate := filepath.Join(dir, "gcity")
		if to, err := filepath.EvalSymlinks(candidate); err == nil && filepath.IsAbs(dir) && to == real {
			return candidate, nil
		}
	}
	return exe, nil
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
		_, err = a.out.Write([]byte(text))
		return err
	}
	switch {
	case a.readOnly:
		return refusedReadOnly(k.group + " install")
	case f.launchd:
		return usage("--launchd goes with --print: put it into ~/Library/LaunchAgents/%s.plist, then `launchctl bootstrap gui/$(id -u) FILE`", s.label())
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
			there, err = os.ReadFile(path)
		}
		if err == nil && !force {
			return nil, &failure{exitConflict, fmt.Errorf("%s is there already, and gcity has not written it: move it away, or write over it with --force", path)}
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

// enableUnit tells systemd of the unit. What systemd does not do is left to be done; only a start that was asked for is an error.
func (a *app) enableUnit(ctx context.Context, k serviceKind, out *installed, s *unit, m *manager, now bool) error {
	_, err := m.ask(ctx, "daemon-reload")
	if err == nil {
		_, err = m.ask(ctx, "enable", out.Unit)
	}
	if err != nil {
		out.did = append(out.did, "systemd was not told: "+err.Error())
		out.Next = append(out.Next, m.line("daemon-reload"), m.line("enable", "--now", out.Unit))
		if now {
			return &failure{exitFailed, errors.New("the unit is written and not started, because systemd could not be told")}
		}
		return nil
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
		out.Next = append(out.Next, fmt.Sprintf("kill -USR1 %s", cmp.Or(pidText(s.at), "PID")), m.line("start", out.Unit))
		return &failure{exitConflict, fmt.Errorf("not started: %s runs already, and not by the service; told by USR1 it ends and leaves its agents to the next", k.what)}
	}
	if _, err := m.call(ctx, 2*time.Minute, "start", out.Unit); err != nil {
		out.Next = append(out.Next, m.line("status", out.Unit))
		return fmt.Errorf("the service did not start: %w", err)
	}
	out.Started, out.did = true, append(out.did, "it runs")
	return nil
}

func pidText(dir string) string {
	data, _ := os.ReadFile(filepath.Join(gcDir(dir), "daemon.pid")) // without it nobody is named
	return strings.TrimSpace(string(data))
}

func (a *app) tellInstalled(out *installed, s *unit, m *manager) error {
	if !m.system && !lingers() {
		out.Next = append(out.Next, "loginctl enable-linger")
	}
	if a.json {
		return a.writeJSON(out)
	}
	for _, line := range out.did {
		a.sayf("%s", safeLine(line))
	}
	for _, next := range out.Next {
		why := ""
		if strings.HasPrefix(next, "loginctl") {
			why = "    # or it ends when you log out"
		} else if strings.Contains(next, " restart ") {
			why = "    # takes the new unit into use, and keeps the agents"
		}
		a.sayf("next: %s%s", next, why)
	}
	for _, kv := range os.Environ() {
		if name, _, _ := strings.Cut(kv, "="); name == "GC_SESSION" || name == "GC_BEADS" || name == "GC_EVENTS" {
			a.warn(name + " is set here, and the service does not get it; write it into city.toml, or into ~/.config/gcity/service.env")
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
