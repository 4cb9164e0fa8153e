package service

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"

	"gcity/cli/env"
	"gcity/cli/exit"
	"gcity/cli/folder"
	"gcity/cli/output"
	"gcity/describe"
	"gcity/internal/disk"
)

// WarnNoService warns that gcity starts a background process instead of the service.
func WarnNoService(e *env.Env, u *UnitFile, why error) {
	e.Warn(fmt.Sprintf("cannot use %s: %v; gcity starts a background process instead, which "+
		"will not be restarted after a reboot", u.Name(), why))
}

// StartUnit starts the city with systemd.
func StartUnit(ctx context.Context, e *env.Env, u *UnitFile, dir string) error {
	if err := StartCity(ctx, e, u, dir); err != nil {
		return err
	}
	e.Sayf("%s is running; `gcity` opens its control room, and `gcity stop` stops it", u.Name())
	return nil
}

// StartCity starts a city's service with systemd. If the configuration is invalid, the error says why.
func StartCity(ctx context.Context, e *env.Env, u *UnitFile, dir string) error {
	err := u.Start(ctx, func() (bool, error) { return folder.IsHeld(dir) })
	if err == nil {
		return nil
	}
	if _, wrong := e.LoadAt(dir, nil); wrong != nil {
		return wrong
	}
	return err
}

// Start starts the unit. If the unit's process is exiting, Start first waits for the exit, because systemd would ignore
// an earlier request.
func (u *UnitFile) Start(ctx context.Context, isHeld func() (bool, error)) error {
	active, _, err := u.State(ctx)
	if errors.Is(err, ErrUnreachable) {
		return err
	}
	if u.Manager.System && os.Getuid() != 0 {
		return fmt.Errorf("%s is a system service; start it with `%s`", u.Name(),
			u.Manager.Line("start", u.Name()))
	}
	if held, unsure := isHeld(); err == nil && unsure == nil && !held &&
		slices.Contains([]string{"active", "reloading", "deactivating"}, active) {
		if err := u.awaitEnd(ctx); err != nil {
			return err
		}
	}
	if _, err := u.Manager.call(ctx, stopTimeout, "start", u.Name()); err != nil {
		return fmt.Errorf("%s did not start: %w; see `%s`", u.Name(), err,
			u.Manager.Line("status", u.Name()))
	}
	return nil
}

// ServedBy returns the unit that currently runs the city, or nil.
func ServedBy(ctx context.Context, e *env.Env, dir string) *UnitFile {
	for _, u := range Units(e, "city", dir) {
		if active, _, err := u.State(ctx); err == nil &&
			(active == "active" || active == "reloading") {
			return u
		}
	}
	return nil
}

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
	State   string `json:"state,omitempty"` // in systemd's terms; "" if unknown
	Problem string `json:"problem,omitempty"`
}

// DaemonStatus prints which process runs a city, and the state of its service.
func DaemonStatus(ctx context.Context, e *env.Env) error {
	dir, err := e.CityDir()
	if err != nil {
		return err
	}
	out := daemonState{Units: []unitState{}}
	s, err := folder.AskController(ctx, dir)
	silent, unanswered := errors.AsType[*folder.UnresponsiveError](err)
	switch {
	case err == nil:
		out.Running, out.PID, out.Mode, out.Version = true, s.PID, s.Mode, s.Version
	case unanswered:
		out.Running = true
		out.PID, _ = strconv.Atoi(folder.PIDText(dir)) // 0 if the file cannot be read
	case !exit.IsNotRunning(err):
		return err
	}
	held := &folder.HeldError{}
	if !out.Running {
		if held = folder.HeldBy(dir, err); held.Replaced {
			out.Running, out.PID = true, held.PID
		}
	}
	for _, u := range Units(e, "city", dir) {
		state, _, err := u.State(ctx)
		st := unitState{Unit: u.Name(), File: u.Path, System: u.Manager.System,
			Enabled: len(u.Links()) > 0, State: state}
		if err != nil {
			st.Problem = err.Error()
		}
		out.Units = append(out.Units, st)
	}
	if e.JSON {
		err = e.WriteJSON(out)
	} else {
		printStatus(e, out, dir)
		err = nil
	}
	switch {
	case err != nil:
		return err
	case unanswered:
		return silent
	case held.Replaced:
		return exit.Errorf(exit.CodeConflict, "%w", held)
	case !out.Running:
		return exit.Quietly(exit.CodeNotRunning)
	}
	return nil
}

func printStatus(e *env.Env, out daemonState, dir string) {
	switch {
	case out.Running && out.Version == "":
		e.Sayf("a controller is running for %s, pid %d, but it does not respond",
			output.SafeLine(dir), out.PID)
	case out.Running:
		e.Sayf("a controller is running for %s: %s, version %s", output.SafeLine(dir),
			describe.Runner(out.Mode, out.PID), output.SafeLine(out.Version))
	default:
		e.Sayf("no controller is running for %s", output.SafeLine(dir))
	}
	for _, u := range out.Units {
		words := []string{u.State}
		if u.State == "" {
			words = []string{"cannot get the service's state from systemd: " + u.Problem}
		}
		if !u.Enabled {
			words = append(words, "not enabled")
		}
		e.Sayf("service %s (%s): %s", u.Unit, output.SafeLine(u.File),
			output.SafeLine(strings.Join(words, ", ")))
	}
	if len(out.Units) == 0 {
		e.Sayf("the city has no service; run `gcity daemon install` to create one")
	}
}

// DaemonLogs prints the newest lines of the controller's log.
func DaemonLogs(e *env.Env, lines int) error {
	dir, err := e.CityDir()
	if err != nil {
		return err
	}
	units := Units(e, "city", dir)
	for _, u := range units {
		journal := "journalctl --user --user-unit " + u.Name() + " -e"
		if u.Manager.System {
			journal = "journalctl --unit " + u.Name() + " -e"
		}
		e.Sayf("%s", journal)
	}
	f, err := disk.Open(folder.LogPath(dir))
	if errors.Is(err, fs.ErrNotExist) {
		if len(units) == 0 {
			return fmt.Errorf("%s does not exist: no controller has run here, or the log was "+
				"moved; a running controller keeps writing to the moved file", folder.LogPath(dir))
		}
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	if len(units) > 0 {
		e.Sayf("the newest lines in %s:", folder.LogPath(dir))
	}
	last, err := lastLines(f, lines)
	for _, line := range last {
		if _, err := fmt.Fprintln(e.Out, output.SafeLine(line)); err != nil {
			return err
		}
	}
	return err
}

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
