package doctor

import (
	"context"
	"strings"

	"gcity/city"
	"gcity/cli/output"
	"gcity/internal/span"
)

// CheckStranded looks for work that is assigned to agents that are not running.
func CheckStranded(_ context.Context, p *Subject) finding {
	if p.Running == nil {
		return ok("not checked: without a controller no agent is expected to work")
	}
	lines := p.Running.StrandedLines()
	if len(lines) == 0 {
		return ok("no work has been stranded for %s", span.Text(city.StrandedAfter))
	}
	for i := range lines {
		lines[i] = output.SafeLead(lines[i])
	}
	return note("`gcity bead list --assignee AGENT` lists all of an agent's work", "%s",
		strings.Join(lines, "\n"))
}
