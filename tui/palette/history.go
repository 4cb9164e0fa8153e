package palette

import (
	"slices"

	"gcity/tui/widget"
)

// Limits of a history.
const (
	MaxHistory = 200      // lines
	MaxText    = 4 << 10  // bytes of one text; longer texts are not stored
	MaxTextAll = 64 << 10 // bytes of all texts together
)

// AddToHistory appends a line to a history.
func AddToHistory(history []string, line string) []string {
	return Remember(history, line, MaxHistory)
}

// Remember appends a text to a list of at most the given number of texts, and removes an older copy of that text. If
// the list becomes too large, it removes the oldest texts.
func Remember(all []string, text string, most int) []string {
	if text == "" || len(text) > MaxText {
		return all
	}
	all = slices.DeleteFunc(slices.Clone(all), func(old string) bool { return old == text })
	all = append(all, text)
	size, from := 0, len(all)
	for from > max(0, len(all)-most) && size+len(all[from-1]) <= MaxTextAll {
		from--
		size += len(all[from])
	}
	return all[from:]
}

// StoredHistory returns the valid lines of a stored history, oldest first.
func StoredHistory(lines []string) (history []string) {
	for _, line := range lines {
		history = AddToHistory(history, widget.SingleLine(line))
	}
	return history
}
