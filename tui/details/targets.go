package details

import (
	"fmt"
	"strings"

	"gcity/tui/panel"
	"gcity/tui/widget"
)

// TargetNames names the agents that a verb acts on: "worker", "3 agents".
func TargetNames(rows []*panel.AgentRow) string {
	if len(rows) == 1 {
		return rows[0].Shown
	}
	return widget.Count(len(rows), "agent")
}

// Confirmation returns what the user must type before agents are stopped: the name of a single agent, or the number of
// agents.
func Confirmation(rows []*panel.AgentRow) string {
	if len(rows) == 1 {
		return rows[0].Shown
	}
	return fmt.Sprint(len(rows))
}

// ListRows returns the names of agents, separated by commas.
func ListRows(rows []*panel.AgentRow) string {
	all := make([]string, len(rows))
	for i, r := range rows {
		all[i] = r.Shown
	}
	return strings.Join(all, ", ")
}
