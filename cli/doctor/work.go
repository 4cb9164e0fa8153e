package doctor

import (
	"context"
	"strings"

	"gcity/cli/output"
)

// CheckStranded looks for work that is assigned to agents that are not running.
func CheckStranded(_ context.Context, p *Subject) finding {
	if p.Running == nil {
		return ok("not checked: without a controller no agent is expected to work")
	}
	lines := p.Running.StrandedLines()
	if len(lines) == 0 {
		return ok("no work is assigned to an agent that is not running")
	}
	for i := range lines {
		lines[i] = output.SafeLead(lines[i])
	}
	return note("`gcity bead list --assignee AGENT` lists all of an agent's work", "%s",
		strings.Join(lines, "\n"))
}
