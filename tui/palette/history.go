package palette

import (
	"slices"

	"gcity/tui/widget"
)

// MaxHistory is the maximum number of stored lines.
const MaxHistory = 200

// AddToHistory appends a line to a history and removes an older copy of that line.
func AddToHistory(history []string, line string) []string {
	if line == "" {
		return history
	}
	history = slices.DeleteFunc(slices.Clone(history), func(old string) bool { return old == line })
	history = append(history, line)
	return history[max(0, len(history)-MaxHistory):]
}

// StoredHistory returns the valid lines of a stored history, oldest first.
func StoredHistory(lines []string) (history []string) {
	for _, line := range lines {
		history = AddToHistory(history, widget.SingleLine(line))
	}
	return history
}
