package output

import (
	"strings"

	"gcity/internal/screen"
)

// SafeLine makes any text one line that a terminal shows and does not obey.
func SafeLine(s string) string { return screen.Plain(s) }

// SafeLead is SafeLine for a list of things, one a line, where there is room for one: the first, and how many more.
func SafeLead(s string) string {
	one, others := screen.Lead(s)
	return one + others
}

// SafeText is SafeLine for several lines.
func SafeText(s string) string {
	lines := strings.Split(s, "\n")
	for i, line := range lines {
		lines[i] = screen.Plain(line)
	}
	return strings.Join(lines, "\n")
}
