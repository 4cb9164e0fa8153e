package details

import (
	"fmt"
	"strings"

	"gcity/city"
	"gcity/tui/panel"
	"gcity/tui/widget"
)

// SplitByRestart splits a pool's members into those that a restart of the pool restarts, and those that it skips.
func SplitByRestart(members []*panel.AgentRow) (restarted, skipped []*panel.AgentRow) {
	for _, r := range members {
		if r.Refusal.Surplus || r.State == city.Suspended {
			skipped = append(skipped, r)
		} else {
			restarted = append(restarted, r)
		}
	}
	return restarted, skipped
}

const maxNamed = 8

// RestartText returns text that says what a restart does to the members of a pool.
func RestartText(restarted, skipped []*panel.AgentRow) []string {
	n := len(restarted)
	ends := "Each session will end, and a new one will start."
	who := widget.Count(n, "member") + " will restart"
	if n == 1 {
		ends = "Its session will end, and a new one will start."
	}
	if n <= maxNamed {
		who += ": " + ListRows(restarted)
	}
	text := []string{who + ". " + ends + " This does not count as a crash."}
	out := make([]string, len(skipped))
	for i, r := range skipped {
		out[i] = fmt.Sprintf("%s %s", r.Shown, r.State.Is())
	}
	if len(out) > 0 {
		text = append(text, "Skipped: "+strings.Join(out, ", ")+".")
	}
	return text
}
