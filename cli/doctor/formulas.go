package doctor

import (
	"context"
	"strings"

	"gcity/cli/folder"
)

func checkFormulas(ctx context.Context, p *Subject) finding {
	if troubles := folder.FormulaProblems(ctx, p.config); len(troubles) > 0 {
		return note("create the formula, or correct its name; until then use `gcity sling "+
			"--no-formula` for these agents", "%s", strings.Join(troubles, "\n"))
	}
	return ok("every default_sling_formula exists")
}
