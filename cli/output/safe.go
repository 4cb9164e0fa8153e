package output

import (
	"strings"

	"gcity/internal/screen"
)

// SafeLine converts any text to one line without control sequences.
func SafeLine(s string) string { return screen.Plain(s) }

// SafeLead is like SafeLine for a list with one item per line. It returns the first item and the number of others, for
// example "a and 3 more".
func SafeLead(s string) string {
	one, others := screen.FirstItem(s)
	return one + others
}

// SafeText is like SafeLine, but keeps line breaks.
func SafeText(s string) string {
	lines := strings.Split(s, "\n")
	for i, line := range lines {
		lines[i] = screen.Plain(line)
	}
	return strings.Join(lines, "\n")
}
