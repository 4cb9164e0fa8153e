package work

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"gcity/beads"
	"gcity/city"
	"gcity/cli/depot"
	"gcity/cli/env"
	"gcity/cli/exit"
	"gcity/cli/folder"
	"gcity/cli/output"
	"gcity/cli/workstore"
	"gcity/internal/suggest"
)

func textOf(e *env.Env, file string, twice bool) (string, error) {
	if twice {
		return "", exit.Usage("--description and --description-file are mutually exclusive; use " +
			"only one of them")
	}
	in := e.In
	if file != "-" {
		f, err := os.Open(file)
		if err != nil {
			return "", fmt.Errorf("cannot read the description: %w", err)
		}
		defer f.Close()
		in = f
	}
	data, err := io.ReadAll(io.LimitReader(in, beads.MaxText+1))
	if err != nil {
		return "", fmt.Errorf("cannot read the description: %w", err)
	}
	if len(data) > beads.MaxText {
		return "", exit.Usage("the description in %s is longer than %d KiB; shorten it", file,
			beads.MaxText>>10)
	}
	return strings.TrimRight(strings.ReplaceAll(string(data), "\r\n", "\n"), "\n"), nil
}

func warnPools(e *env.Env, d *depot.Store, labels []string) {
	if d.Config == nil {
		return
	}
	var known []string
	for _, p := range folder.PoolPlan(d.Config, d.City) {
		known = append(known, p.Name)
	}
	for _, l := range labels {
		name, is := strings.CutPrefix(l, city.PoolLabel)
		if !is || slices.Contains(known, name) {
			continue
		}
		near, hint := suggest.Nearest(name, known), ""
		for _, p := range known {
			if strings.HasSuffix(p, "/"+name) {
				near = p
			}
		}
		if near != "" {
			hint = fmt.Sprintf("; did you mean %q?", city.PoolLabel+near)
		}
		e.Warn(fmt.Sprintf("no pool has the name %q, so no agent will claim the bead%s", name,
			hint))
	}
}

// warnAssignee warns about an assignee that is probably a misspelled agent.
func warnAssignee(e *env.Env, d *depot.Store, assignee string) {
	if d.Config == nil || assignee == "" {
		return
	}
	agents := folder.Plan(d.Config, d.City)
	if _, err := env.WantOf(agents, assignee); err == nil {
		return
	}
	var names []string
	for i := range agents {
		names = append(names, agents[i].Name)
	}
	if near := suggest.Nearest(assignee, names); near != "" {
		e.Warn(fmt.Sprintf("no agent has the name %q; did you mean %q?", assignee, near))
	}
}

func owned(ctx context.Context, e *env.Env, d *depot.Store, ids []string) (id string,
	by *workstore.Place, err error) {
	for i := range d.Places {
		p := &d.Places[i]
		theirs := slices.DeleteFunc(slices.Clone(ids),
			func(id string) bool { return p.Prefix != city.BeadPrefix(id) })
		if *p == d.Place || len(theirs) == 0 {
			continue
		}
		s, err := d.At(e, *p)
		if err != nil {
			return "", p, err
		}
		for _, id := range theirs {
			switch _, err := s.Get(ctx, id); {
			case err == nil:
				return id, p, nil
			case !errors.Is(err, beads.ErrNotFound):
				return "", p, err
			}
		}
	}
	return "", nil, nil
}

type linked struct {
	needs  []string
	parent string
}

func elsewhere(ctx context.Context, e *env.Env, d *depot.Store, err error, links linked) error {
	var invalid *beads.Invalid
	if !errors.As(err, &invalid) {
		return err
	}
	for _, id := range append(slices.Clone(links.needs), links.parent) {
		if !strings.Contains(invalid.Field, fmt.Sprintf("%q", id)) {
			continue
		}
		_, has, findErr := depot.Find(ctx, e, d, id)
		if errors.Is(findErr, beads.ErrNotFound) {
			flag := "--needs"
			if id == links.parent {
				flag = "--parent"
			}
			return exit.Usage("%s: %v", flag, findErr)
		}
		if findErr == nil && has != d {
			return exit.Usage("%v in the store of %s: %s is in the store of %s, and links work "+
				"only within one store; create this bead in that store instead, or mention the ID "+
				"in its description", err, d.Title(), id, has.Title())
		}
	}
	return err
}

// guard rejects imported beads that are already in another store of the city.
type guard struct {
	*depot.Store
	a *env.Env
}

// Restore implements beads.Restorer.
func (g *guard) Restore(ctx context.Context, all []beads.Bead) (beads.Restored, error) {
	ids := make([]string, len(all))
	for i, b := range all {
		ids[i] = b.ID
	}
	id, by, err := owned(ctx, g.a, g.Store, ids)
	if err != nil {
		return beads.Restored{}, err
	}
	if by != nil {
		return beads.Restored{}, exit.Usage("%s already exists in %s, so the import would create "+
			"it a second time; %s, or use --force", id, by.Title(), by.ImportHint())
	}
	return g.Store.Restore(ctx, all)
}

func closeSteps(ctx context.Context, e *env.Env, d *depot.Store, id string, p beads.Patch) error {
	_, has, err := depot.Find(ctx, e, d, id)
	if err != nil {
		return err
	}
	steps, err := city.Steps(ctx, has.List, id)
	if err != nil {
		return err
	}
	var all depot.Changes
	for _, b := range slices.Backward(steps) {
		// the events of steps that an earlier attempt closed might be missing
		if b.Status == beads.StatusClosed && !depot.WasClosed(e, b) {
			continue
		}
		if !all.Add(patchBead(ctx, e, has, b.ID, p)) {
			break
		}
	}
	return all.Err()
}

func checkSteps(ctx context.Context, e *env.Env, d *depot.Store, id string, ids []string) error {
	b, has, err := depot.Find(ctx, e, d, id)
	if err != nil {
		return err
	}
	return city.Closable(ctx, has, b, ids...)
}

func warnOpenSteps(ctx context.Context, e *env.Env, d *depot.Store, id string) error {
	if e.JSON {
		return nil
	}
	_, has, err := depot.Find(ctx, e, d, id)
	if city.HasCode(err, city.NotFound) { // it was a wisp, and has already been removed
		return nil
	}
	if err != nil {
		return err
	}
	open, err := city.OpenSteps(ctx, has.List, id)
	if err == nil && len(open) > 0 {
		e.Sayf("  %s still open: `gcity bead close %s --steps` closes them too",
			city.StepsOpen(len(open)), output.SafeLine(id))
	}
	return err
}
