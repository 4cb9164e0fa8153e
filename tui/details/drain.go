package details

import (
	"fmt"
	"time"

	"gcity/tui/panel"
	"gcity/tui/widget"
)

// DefaultDrainTimeout is the drain timeout for an agent without a pool.
const DefaultDrainTimeout = 5 * time.Minute

// DrainEffects returns text that says what happens if agents are drained.
func DrainEffects(pools *panel.Pools, rows []*panel.AgentRow) []string {
	least := DrainTimeout(pools, rows[0])
	most, pooled := least, false
	for _, r := range rows {
		d := DrainTimeout(pools, r)
		least, most, pooled = min(least, d), max(most, d), pooled || r.Pool != ""
	}
	asked, deadline, then := "It will be asked to finish. It stops when it reports done",
		", or after "+widget.Duration(most)+".",
		"Then it will restart, because it is declared in the configuration."
	if len(rows) > 1 {
		asked, then = "They will be asked to finish. They stop when they report done",
			"Then they will restart, because they are declared in the configuration."
	}
	switch {
	case most == 0:
		deadline = ", without a deadline."
	case least != most:
		deadline = ", or at their deadlines."
	}
	if p := pools.Find(rows[0].Pool); p != nil && len(rows) == 1 {
		then = p.AfterDrain()
	} else if pooled {
		then = "Agents in the configuration will then restart; surplus members will not."
	}
	return []string{asked + deadline, then}
}

// DrainTimeout returns how long an agent has to finish; 0 means no limit.
func DrainTimeout(pools *panel.Pools, r *panel.AgentRow) time.Duration {
	if p := pools.Find(r.Pool); p != nil {
		return p.Timeout
	}
	return DefaultDrainTimeout
}

// LongestDrain returns the longest drain timeout of the agents. An agent without a limit counts as DefaultDrainTimeout.
func LongestDrain(pools *panel.Pools, rows []*panel.AgentRow) time.Duration {
	longest := time.Duration(0)
	for _, r := range rows {
		d := DrainTimeout(pools, r)
		if d == 0 {
			d = DefaultDrainTimeout
		}
		longest = max(longest, d)
	}
	return longest
}

// AllMembers returns text for all n members of a pool: "both members", "all 3 members".
func AllMembers(n int) string {
	if n == 2 {
		return "both members"
	}
	return fmt.Sprintf("all %d members", n)
}
