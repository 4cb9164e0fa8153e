package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"gcity/cli/exit"
	"gcity/cli/output"
	"gcity/internal/disk"
)

// daemonCommand is one city as a service.
func (a *app) daemonCommand() *cobra.Command {
	yes := false
	run := a.withSource(&cobra.Command{
		Use: "run", Short: "Run the city without a screen (the same as gcity start --foreground)", Args: exactly(0),
		Long: `run keeps the agents of the city alive until it is stopped. What it says goes to
stderr and to .gc/controller.log. Where there is no city.toml it offers to write one.`,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.foreground(cmd.Context(), yes) },
	})
	run.Flags().BoolVarP(&yes, "yes", "y", false, "write a city.toml if there is none, without asking")
	start := a.withSource(&cobra.Command{
		Use: "start", Short: "Run the city in the background: by its service, if it has one", Args: exactly(0),
		RunE: func(cmd *cobra.Command, _ []string) error { return a.daemonStart(cmd.Context()) },
	})
	stop := a.stopCommand()
	stop.Short = "The same as gcity stop"
	status := &cobra.Command{
		Use: "status", Short: "Who runs the city, and by which service", Args: exactly(0),
		RunE: func(cmd *cobra.Command, _ []string) error { return a.daemonStatus(cmd.Context()) },
	}
	lines := 0
	logs := &cobra.Command{
		Use: "logs", Short: "What the controller of the city has said", Args: exactly(0),
		Long: `logs writes the newest lines of .gc/controller.log, which every controller of the
city writes, however it is run. Of a service it also gives the command that shows
its lines in the journal.`,
		RunE: func(*cobra.Command, []string) error { return a.daemonLogs(lines) },
	}
	logs.Flags().IntVarP(&lines, "lines", "n", 100, "so many")
	return group("daemon", "The controller as a service", append([]*cobra.Command{run, start, stop, status, logs}, a.serviceCommands(a.cityService())...)...)
}

// daemonStart has the city run in the background.
func (a *app) daemonStart(ctx context.Context) error {
	dir, err := a.cityDir()
	if err != nil {
		return err
	}
	if a.readOnly {
		return refusedReadOnly("daemon start")
	}
	if held, err := isHeld(dir); err == nil && held {
		return &exit.Failure{Code: exit.CodeConflict, Err: fmt.Errorf("a controller runs %s already, pid %s", dir, pidText(dir))}
	}
	for _, u := range a.units("city", dir) {
		if len(a.files) > 0 || a.strict {
			return exit.Usage("the unit says which files are read: `gcity daemon install` with -f or --strict writes it anew")
		}
		err := a.startUnit(ctx, u, dir)
		if !errors.Is(err, errUnreachable) {
			return err
		}
		a.warnNoService(u, err)
		break
	}
	return a.handOver(dir)
}

// warnNoService tells that a background process takes the place of a service.
func (a *app) warnNoService(u *unitFile, why error) {
	a.Warn(fmt.Sprintf("%s is not used: %v; a background process is started instead, which nothing restarts after a reboot",
		u.name(), why))
}

// startUnit has systemd run the city.
func (a *app) startUnit(ctx context.Context, u *unitFile, dir string) error {
	if err := a.raiseCity(ctx, u, dir); err != nil {
		return err
	}
	a.Sayf("%s runs; `gcity` joins it, `gcity stop` ends it", u.name())
	return nil
}

// raiseCity has systemd start a city's service. Why a configuration is refused is told better here than by systemd.
func (a *app) raiseCity(ctx context.Context, u *unitFile, dir string) error {
	err := u.raise(ctx, func() (bool, error) { return isHeld(dir) })
	if err == nil {
		return nil
	}
	if _, wrong := a.loadAt(dir, nil); wrong != nil {
		return wrong
	}
	return err
}

// raise has systemd start what held says nobody runs. A process of the unit that has let go of it already is waited for: until
// it has ended systemd would find nothing to do.
func (u *unitFile) raise(ctx context.Context, held func() (bool, error)) error {
	active, _, err := u.state(ctx)
	if errors.Is(err, errUnreachable) {
		return err
	}
	if u.manager.system && os.Getuid() != 0 {
		return fmt.Errorf("its service is one of the machine's: `%s`", u.manager.line("start", u.name()))
	}
	if held, unsure := held(); err == nil && unsure == nil && !held && slices.Contains([]string{"active", "reloading", "deactivating"}, active) {
		if err := u.awaitEnd(ctx); err != nil {
			return err
		}
	}
	if _, err := u.manager.call(ctx, stopPatience, "start", u.name()); err != nil {
		return fmt.Errorf("its service did not start: %w; `%s` tells more", err, u.manager.line("status", u.name()))
	}
	return nil
}

// servedBy is the unit that runs the city now, nil if none does.
func (a *app) servedBy(ctx context.Context, dir string) *unitFile {
	for _, u := range a.units("city", dir) {
		if active, _, err := u.state(ctx); err == nil && (active == "active" || active == "reloading") {
			return u
		}
	}
	return nil
}

// daemonState is how the service of a city stands.
type daemonState struct {
	Running bool        `json:"running"`
	PID     int         `json:"pid,omitempty"`
	Mode    string      `json:"mode,omitempty"`
	Version string      `json:"version,omitempty"`
	Units   []unitState `json:"units"`
}

type unitState struct {
	Unit    string `json:"unit"`
	File    string `json:"file"`
	System  bool   `json:"system"`
	Enabled bool   `json:"enabled"`
	State   string `json:"state,omitempty"` // as systemd calls it; "" = it could not be asked
	Problem string `json:"problem,omitempty"`
}

func (a *app) daemonStatus(ctx context.Context) error {
	dir, err := a.cityDir()
	if err != nil {
		return err
	}
	out := daemonState{Units: []unitState{}}
	s, err := askController(ctx, dir)
	switch {
	case err == nil:
		out.Running, out.PID, out.Mode, out.Version = true, s.PID, s.Mode, s.Version
	case !exit.IsNotRunning(err):
		return err
	}
	for _, u := range a.units("city", dir) {
		state, _, err := u.state(ctx)
		st := unitState{Unit: u.name(), File: u.path, System: u.manager.system, Enabled: len(u.links()) > 0, State: state}
		if err != nil {
			st.Problem = err.Error()
		}
		out.Units = append(out.Units, st)
	}
	if a.JSON {
		err = a.WriteJSON(out)
	} else {
		a.tellDaemon(out, dir)
		err = nil
	}
	if err == nil && !out.Running {
		return exit.Quietly(exit.CodeNotRunning)
	}
	return err
}

func (a *app) tellDaemon(out daemonState, dir string) {
	if out.Running {
		a.Sayf("a controller runs %s: pid %d, %s, version %s", output.SafeLine(dir), out.PID, out.Mode, output.SafeLine(out.Version))
	} else {
		a.Sayf("no controller runs %s", output.SafeLine(dir))
	}
	for _, u := range out.Units {
		words := []string{u.State}
		if u.State == "" {
			words = []string{"systemd does not say how it is: " + u.Problem}
		}
		if !u.Enabled {
			words = append(words, "not enabled")
		}
		a.Sayf("service %s (%s): %s", u.Unit, output.SafeLine(u.File), output.SafeLine(strings.Join(words, ", ")))
	}
	if len(out.Units) == 0 {
		a.Sayf("it has no service; `gcity daemon install` makes one")
	}
}

// daemonLogs writes the newest lines of the controller's file, and where else the lines of a service are.
func (a *app) daemonLogs(lines int) error {
	dir, err := a.cityDir()
	if err != nil {
		return err
	}
	units := a.units("city", dir)
	for _, u := range units {
		journal := "journalctl --user --user-unit " + u.name() + " -e"
		if u.manager.system {
			journal = "journalctl --unit " + u.name() + " -e"
		}
		a.Sayf("%s", journal)
	}
	f, err := disk.Open(logPath(dir))
	if errors.Is(err, fs.ErrNotExist) {
		if len(units) == 0 {
			return fmt.Errorf("there is no %s: no controller has run here", logPath(dir))
		}
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	if len(units) > 0 {
		a.Sayf("the newest lines of %s:", logPath(dir))
	}
	last, err := lastLines(f, lines)
	for _, line := range last {
		fmt.Fprintln(a.Out, output.SafeLine(line))
	}
	return err
}

// lastLines are the last n lines of a file, of which it reads no more than the end.
func lastLines(f *os.File, n int) ([]string, error) {
	const most = 4 << 20
	if info, err := f.Stat(); err != nil {
		return nil, err
	} else if info.Size() > most {
		if _, err := f.Seek(-most, io.SeekEnd); err != nil {
			return nil, err
		}
	}
	var out []string
	scan := bufio.NewScanner(f)
	scan.Buffer(nil, most)
	for scan.Scan() {
		out = append(out, scan.Text())
	}
	return out[max(0, len(out)-max(0, n)):], scan.Err()
}
