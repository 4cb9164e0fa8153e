package work

import (
	"context"
	"errors"
	"slices"

	"gcity/beads"
	"gcity/city"
	"gcity/cli/depot"
	"gcity/cli/env"
	"gcity/cli/exit"
)

const claimRetries = 20

// Of several concurrent commands, only one claims the bead.
func claimBead(ctx context.Context, e *env.Env, d *depot.Store, id, who string) error {
	var err error
	for range claimRetries {
		if err = tryClaim(ctx, e, d, id, who); !errors.Is(err, beads.ErrConflict) {
			return err
		}
	}
	return err
}

func claim(ctx context.Context, e *env.Env, d *depot.Store, id, who string) error {
	who, err := e.Self([]string{who})
	if err != nil {
		return exit.Usage("no assignee given: use --assignee NAME, or run this inside a session, " +
			"which sets GC_AGENT")
	}
	return claimBead(ctx, e, d, id, who)
}

func tryClaim(ctx context.Context, e *env.Env, d *depot.Store, id, who string) error {
	old, has, err := depot.Find(ctx, e, d, id)
	if err != nil {
		return err
	}
	switch {
	case slices.Contains(city.NotWork(), old.Type):
		return city.Errorf(city.Conflict, "%s is a %s and cannot be claimed as work", old.ID,
			old.Type)
	case old.Status == beads.StatusClosed:
		return city.Errorf(city.Conflict, "%s %s, so it cannot be claimed", old.ID,
			unchanged(e, old, beads.Closing()))
	case old.Assignee != "" && old.Assignee != who:
		return city.Errorf(city.Conflict, "%s is already assigned to %q; `gc hook` shows other "+
			"work, and --assignee instead of --claim reassigns this bead", old.ID, old.Assignee)
	}
	return patchFound(ctx, e, has, old, beads.Patch{Status: new(beads.StatusInProgress),
		Assignee: &who, IfRev: &old.Rev})
}
