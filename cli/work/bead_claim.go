package work

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"gcity/beads"
	"gcity/city"
	"gcity/cli/depot"
	"gcity/cli/env"
	"gcity/cli/exit"
)

// claims is how often a piece of work may be changed by others while somebody takes it.
const claims = 20

// claimBead takes a piece of work for somebody, unless another has it: of several who do so at once one gets it.
func claimBead(ctx context.Context, e *env.Env, d *depot.Depot, id, who string) error {
	var err error
	for range claims {
		if err = tryClaim(ctx, e, d, id, who); !errors.Is(err, beads.ErrConflict) {
			return err
		}
	}
	return err
}

// claimsOnly refuses the other flags of `bead update` beside --claim.
func claimsOnly(c *cobra.Command) error {
	for _, flag := range []string{
		"title", "status", "type", "priority", "parent", "description", "description-file", "needs",
		"label", "remove-label", "set", "if-rev",
	} {
		if c.Flags().Changed(flag) {
			return exit.Usage("--claim takes the work and changes nothing else; give --%s to "+
				"another update", flag)
		}
	}
	return nil
}

// claim is `bead update --claim` as it was typed.
func claim(ctx context.Context, e *env.Env, d *depot.Depot, id, who string) error {
	who, err := e.Self([]string{who})
	if err != nil {
		return exit.Usage("who takes it? Say --assignee NAME, or run this inside a session, " +
			"where GC_AGENT does")
	}
	return claimBead(ctx, e, d, id, who)
}

func tryClaim(ctx context.Context, e *env.Env, d *depot.Depot, id, who string) error {
	old, has, closeOther, err := depot.Find(ctx, e, d, id)
	if err != nil {
		return err
	}
	defer closeOther()
	switch {
	case old.Status == beads.StatusClosed:
		return &city.Error{Code: city.Conflict,
			Message: fmt.Sprintf("%s %s: there is nothing to take", old.ID,
				unchanged(e, old, beads.Closing()))}
	case old.Assignee != "" && old.Assignee != who:
		return &city.Error{Code: city.Conflict,
			Message: fmt.Sprintf("%s is %s's already; `gc hook` shows what else there is, and "+
				"--assignee in place of --claim takes it away from whoever has it", old.ID,
				old.Assignee)}
	}
	return patchFound(ctx, e, has, old, beads.Patch{Status: new(beads.StatusInProgress),
		Assignee: &who, IfRev: &old.Rev})
}
