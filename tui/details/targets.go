package details

import (
	"fmt"
	"strings"

	"gcity/tui/panel"
	"gcity/tui/widget"
)

// TargetNames returns text that names the agents that a verb acts on: "worker", "3 agents", "3 marked agents".
func TargetNames(rows []*panel.AgentRow, marked bool) string {
	switch {
	case len(rows) == 1 && marked:
		return "marked agent " + rows[0].Shown
	case len(rows) == 1:
		return rows[0].Shown
	case marked:
		return widget.Count(len(rows), "marked agent")
	}
	return widget.Count(len(rows), "agent")
}

// Confirmation returns the text that the user must type before agents are stopped. If the text is a number, it also
// returns what the number counts.
func Confirmation(rows []*panel.AgentRow) (text, counts string) {
	if len(rows) == 1 {
		return rows[0].Shown, ""
	}
	return fmt.Sprint(len(rows)), "agents"
}

// ListRows returns the names of agents, separated by commas.
func ListRows(rows []*panel.AgentRow) string {
	all := make([]string, len(rows))
	for i, r := range rows {
		all[i] = r.Shown
	}
	return strings.Join(all, ", ")
}
