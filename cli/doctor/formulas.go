package doctor

import (
	"context"

	"gcity/cli/folder"
)

func checkFormulas(ctx context.Context, p *Subject) finding {
	return perLine(note, folder.FormulaProblems(ctx, p.config), "create the formula, or correct "+
		"its name; until then use `gcity sling --no-formula` for these agents",
		"every default_sling_formula exists")
}
