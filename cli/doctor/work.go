package doctor

import (
	"context"
	"strings"

	"gcity/cli/output"
)

// CheckStranded looks for work that waits for agents which do not run.
func CheckStranded(_ context.Context, p *Patient) finding {
	if p.Running == nil {
		return ok("not looked at: without a controller nobody is to be at work")
	}
	lines := p.Running.StrandedLines()
	if len(lines) == 0 {
		return ok("nothing waits for an agent that does not run")
	}
	for i := range lines {
		lines[i] = output.SafeLead(lines[i])
	}
	return note("`gcity bead list --assignee AGENT` shows all of it", "%s",
		strings.Join(lines, "\n"))
}
