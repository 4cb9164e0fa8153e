package tui

import (
	"strings"

	"gcity/internal/screen"
)

// plain makes one safe line of any text (law L12).
func plain(s string) string { return screen.Plain(s) }

// lead makes one safe line of a list of things, one a line: the first, and how many more there are.
func lead(s string) string {
	one, others := screen.Lead(s)
	return one + others
}

// cutLead is lead in at most w columns; that there are more stays.
func cutLead(s string, w int, more string) string {
	one, others := screen.Lead(s)
	if w < width(others)+8 {
		return cut(one+others, w, more)
	}
	return cut(one, w-width(others), more) + others
}

// plainLines makes safe lines of a text, without those that are empty.
func plainLines(s string) []string {
	var lines []string
	for part := range strings.SplitSeq(s, "\n") {
		if part = plain(part); part != "" {
			lines = append(lines, part)
		}
	}
	return lines
}

// allPlain makes safe lines of a text, the empty ones too, but for those at its end.
func allPlain(s string) []string {
	lines := strings.Split(strings.TrimRight(s, "\n"), "\n")
	for i, l := range lines {
		lines[i] = plain(l)
	}
	return lines
}
