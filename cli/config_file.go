package cli

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"gcity/city"
	"gcity/cli/env"
	"gcity/cli/folder"
	"gcity/cli/output"
	"gcity/config"
	"gcity/internal/disk"
	"gcity/tui"
)

// configFile is the configuration of a city whose room is open. It implements tui.ConfigFile.
type configFile struct {
	app *env.Env
	dir string
	ctl city.Control // nil = no controller runs
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

// Fixed implements tui.ConfigFile. What lies outside of the city may be other cities' too, as
// config.Source.SetSuspended has it.
func (f *configFile) Fixed(file string) string {
	const here = "For this city alone, [[patches.agents]] in " + config.FileName +
		" changes an agent."
	copied, fetched := strings.CutPrefix(file, ".gc/topologies/")
	switch {
	case fetched:
		name, below, _ := strings.Cut(copied, "/")
		return fmt.Sprintf("It is part of the topology %s, which is fetched from its repository: "+
			"change %s there, then run `gcity topology fetch %s`. %s", name, below, name, here)
	case file == "" || filepath.IsLocal(file) && filepath.Ext(file) == ".toml":
		return ""
	case filepath.IsLocal(file):
		return "It is no TOML file; edit it with an editor of your own."
	}
	return "It is outside of the city's folder, where other cities may use it too; edit it with " +
		"an editor of your own. " + here
}

// parse reads the configuration with a text in the place of one of its files.
func (f *configFile) parse(file string, data []byte, s *city.Snapshot) (*config.City, error) {
	if file == "" {
		return folder.ParseConfig(f.dir, data, s)
	}
	src := folder.SourceAs(f.dir, s)
	src.Instead = map[string][]byte{f.Path(file): data}
	return src.Load()
}

// Check says what a controller would refuse; what is wrong in another file has a place, but no line of this one.
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
			tui.Change{Agent: ch.Agent, Pool: ch.Pool, What: ch.Change, Why: ch.Reason})
	}
	if p.Held != nil {
		out.Notes = append(out.Notes, "It would be held until it is confirmed: "+
			output.Loss(p.Held.Removes, p.Held.Running)+".")
	}
	out.Notes = slices.Concat(out.Notes, p.Unknown, p.Warnings)
	return out, nil
}

// Replace keeps the file's permissions, and a link to it.
func (f *configFile) Replace(file string, was, now []byte) error {
	there, err := os.ReadFile(f.Path(file))
	if err != nil {
		return err
	}
	if !bytes.Equal(there, was) {
		return errors.New("somebody else has changed it meanwhile; edit it anew")
	}
	return disk.WriteFile(f.Path(file), now, 0o644)
}
