package doctor

import (
	"context"

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
	for i := range lines {
		lines[i] = output.SafeLead(lines[i])
	}
	return perLine(note, lines, "`gcity bead list --assignee AGENT` lists all of an agent's work",
		"no work has been stranded for "+span.Text(city.StrandedAfter))
}
