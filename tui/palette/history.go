package palette

import (
	"slices"

	"gcity/tui/widget"
)

// Limits of a history.
const (
	MaxHistory    = 200      // lines
	maxLine       = 4 << 10  // bytes of one line; longer lines are not stored
	maxHistoryAll = 64 << 10 // bytes of all lines together
)

// AddToHistory appends a line to a history and removes an older copy of that line. If the history becomes too large, it
// removes the oldest lines.
func AddToHistory(history []string, line string) []string {
	if line == "" || len(line) > maxLine {
		return history
	}
	history = slices.DeleteFunc(slices.Clone(history), func(old string) bool { return old == line })
	history = append(history, line)
	size, from := 0, len(history)
	for from > max(0, len(history)-MaxHistory) && size+len(history[from-1]) <= maxHistoryAll {
		from--
		size += len(history[from])
	}
	return history[from:]
}

// StoredHistory returns the valid lines of a stored history, oldest first.
func StoredHistory(lines []string) (history []string) {
	for _, line := range lines {
		history = AddToHistory(history, widget.SingleLine(line))
	}
	return history
}
