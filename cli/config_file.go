package cli

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"time"

	"gcity/city"
	"gcity/config"
	"gcity/internal/disk"
	"gcity/tui"
)

// configFile is the configuration of a city whose room is open. It implements tui.ConfigFile.
type configFile struct {
	app *app
	dir string
	ctl city.Control // nil = no controller runs
}

func (f *configFile) Path() string { return filepath.Join(f.dir, config.FileName) }

// Check says what a controller would refuse; what is wrong in an included file has a place, but no line of this one.
func (f *configFile) Check(data []byte) (problems []string, line int) {
	_, err := parseConfig(f.dir, data, f.running(context.Background()))
	wrong, ok := errors.AsType[*config.Error](err)
	switch {
	case err == nil:
		return nil, 0
	case !ok:
		return []string{err.Error()}, 0
	}
	for _, p := range wrong.Problems {
		problems = append(problems, p.String())
		if line == 0 && p.File == config.FileName {
			line = p.Line
		}
	}
	return problems, line
}

// running is the controller's state, nil if there is none or it does not tell.
func (f *configFile) running(ctx context.Context) *city.Snapshot {
	if f.ctl == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	s, err := f.ctl.Snapshot(ctx)
	if err != nil {
		return nil
	}
	return s
}

// Plan is what `gcity plan` would say of it.
func (f *configFile) Plan(ctx context.Context, data []byte) (tui.Plan, error) {
	var s *city.Snapshot
	var err error
	if f.ctl != nil {
		if s, err = f.ctl.Snapshot(ctx); err != nil {
			return tui.Plan{}, err
		}
	}
	c, err := parseConfig(f.dir, data, s)
	if err != nil {
		return tui.Plan{}, err
	}
	p, err := f.app.planOf(ctx, c, s)
	if err != nil {
		return tui.Plan{}, err
	}
	var out tui.Plan
	for _, ch := range p.Items {
		out.Changes = append(out.Changes, tui.Change{Agent: ch.Agent, Pool: ch.Pool, What: ch.Change, Why: ch.Reason})
	}
	if p.Held != nil {
		out.Notes = append(out.Notes, "It would be held until it is confirmed: "+loss(p.Held.Removes, p.Held.Running)+".")
	}
	out.Notes = slices.Concat(out.Notes, p.Unknown, p.Warnings)
	return out, nil
}

// Replace keeps the file's permissions, and a link to it.
func (f *configFile) Replace(was, now []byte) error {
	there, err := os.ReadFile(f.Path())
	if err != nil {
		return err
	}
	if !bytes.Equal(there, was) {
		return errors.New("somebody else has changed it meanwhile; edit it anew")
	}
	return disk.WriteFile(f.Path(), now, 0o644)
}
