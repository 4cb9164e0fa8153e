package city

import (
	"fmt"
	"strings"
	"time"
)

// Stranded is work assigned to an agent that is not running and will not start by itself.
type Stranded struct {
	Agent string `json:"agent"`
	// follows the agent's name: "is suspended with rig demo"
	Why string `json:"why"`
	// no agent or pool member can have this name
	Gone  bool      `json:"gone,omitempty"`
	Since time.Time `json:"since"` // when the work was first found to be stranded
	Beads []string  `json:"beads"` // at most StrandedIDs
	Count int       `json:"count"` // total number of beads
}

// StrandedAfter is how long work can be stranded before users are notified.
const StrandedAfter = 10 * time.Minute

// StrandedIDs is the maximum number of IDs to list per agent.
const StrandedIDs = 3

const strandedLines = 4

// StrandedLines describes stranded work and the remedy, one line per agent. It does not sanitize IDs.
func (s *Snapshot) StrandedLines() []string {
	var out []string
	for i, w := range s.Stranded {
		if i == strandedLines && len(s.Stranded) > i+1 {
			out = append(out, fmt.Sprintf("more work is assigned to %d other agents that are "+
				"not running", len(s.Stranded)-i))
			break
		}
		out = append(out, w.line())
	}
	return out
}

func (w *Stranded) line() string {
	ids, verb, them := strings.Join(w.Beads, ", "), "is", "the bead"
	if more := w.Count - len(w.Beads); more > 0 {
		ids += fmt.Sprintf(" and %d more", more)
	}
	if w.Count > 1 {
		verb, them = "are", "each bead"
	}
	first := "ID"
	if len(w.Beads) > 0 {
		first = w.Beads[0]
	}
	run := "start that agent, or "
	if w.Gone {
		run = ""
	}
	return fmt.Sprintf("%s %s assigned to %s, which %s; %sunassign %s with `gcity bead update "+
		"%s --status open --assignee ''`",
		ids, verb, w.Agent, w.Why, run, them, first)
}
