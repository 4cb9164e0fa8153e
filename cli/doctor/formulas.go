package doctor

import (
	"context"
	"strings"

	"gcity/cli/folder"
)

func checkRecipes(ctx context.Context, p *Patient) finding {
	if p.config == nil {
		return note("", "not looked at: the configuration is refused")
	}
	if troubles := folder.RecipeTroubles(ctx, p.config); len(troubles) > 0 {
		return note("write the formula, or correct its name; until then `gcity sling` refuses to "+
			"give them work without --no-formula", "%s", strings.Join(troubles, "\n"))
	}
	return ok("each default_sling_formula is there")
}
