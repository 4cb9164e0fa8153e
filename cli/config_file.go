package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"gcity/city"
	"gcity/cli/env"
	"gcity/cli/folder"
	"gcity/cli/output"
	"gcity/config"
	"gcity/config/edit"
	"gcity/tui"
)

type configFile struct {
	app *env.Env
	dir string
	ctl city.Control // nil if no controller is running
}

// Path implements tui.ConfigFile.
func (f *configFile) Path(file string) string {
	switch {
	case file == "":
		file = config.FileName
	case filepath.IsAbs(file):
		return file
	}
	return filepath.Join(f.dir, file)
}

// ReadOnlyReason implements tui.ConfigFile. Files outside the city's folder are read-only, because other cities might
// use them.
func (f *configFile) ReadOnlyReason(file string) string {
	const here = "To change an agent only for this city, use " +
		"[[patches.agents]] in " + config.FileName +
		"."
	copied, fetched := strings.CutPrefix(file, ".gc/topologies/")
	switch {
	case fetched:
		name, below, _ := strings.Cut(copied, "/")
		return fmt.Sprintf("This file is part of the topology %s, which is fetched from its "+
			"repository: change %s there, then run `gcity topology fetch %s`. %s", name, below,
			name, here)
	case file == "" || filepath.IsLocal(file) && filepath.Ext(file) == ".toml":
		return ""
	case filepath.IsLocal(file):
		return "This file is not a TOML file; edit it in your own editor."
	}
	return "This file is outside the city's folder, and other cities may use it too; edit it in " +
		"your own editor. " + here
}

func (f *configFile) parse(file string, data []byte, s *city.Snapshot) (*config.City, error) {
	src := folder.SourceAs(f.dir, s)
	if file == "" {
		return src.Parse(data)
	}
	src.Contents = map[string][]byte{f.Path(file): data}
	return src.Load()
}

// Check returns the configuration's errors, and the line of the first error in the given file.
func (f *configFile) Check(file string, data []byte) (problems []string, line int) {
	_, err := f.parse(file, data, f.running(context.Background()))
	wrong, ok := errors.AsType[*config.Error](err)
	switch {
	case err == nil:
		return nil, 0
	case !ok:
		return []string{err.Error()}, 0
	}
	for _, p := range wrong.Problems {
		problems = append(problems, p.String())
		if line == 0 && p.File == cmp.Or(file, config.FileName) {
			line = p.Line
		}
	}
	return problems, line
}

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

// Plan returns what `gcity plan` would print for the changed file.
func (f *configFile) Plan(ctx context.Context, file string, data []byte) (tui.Plan, error) {
	var s *city.Snapshot
	var err error
	if f.ctl != nil {
		if s, err = f.ctl.Snapshot(ctx); err != nil {
			return tui.Plan{}, err
		}
	}
	c, err := f.parse(file, data, s)
	if err != nil {
		return tui.Plan{}, err
	}
	p, err := planOf(ctx, f.app, c, s)
	if err != nil {
		return tui.Plan{}, err
	}
	var out tui.Plan
	for _, ch := range p.Items {
		out.Changes = append(out.Changes,
			tui.Change{Agent: ch.Agent, Pool: ch.Pool, Kind: ch.Change, Why: ch.Reason})
	}
	if s != nil && p.InForce != p.Revision {
		for _, d := range changedSettings(ctx, f.ctl, c, s) {
			out.Settings = append(out.Settings, d.Key+": "+d.change())
		}
	}
	if p.Held != nil {
		out.Notes = append(out.Notes, "The configuration would be held until you confirm it: "+
			output.RemovalText(p.Held.Removes, p.Held.Running)+".")
	}
	out.Notes = slices.Concat(out.Notes, p.Unknown, p.Warnings)
	return out, nil
}

// Replace implements tui.ConfigFile.
func (f *configFile) Replace(file string, old, updated []byte) error {
	err := edit.Replace(f.dir, f.Path(file), old, updated)
	if errors.Is(err, edit.ErrChanged) {
		return errors.New("the file has changed on disk since it was opened")
	}
	return err
}
