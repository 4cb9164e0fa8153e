package widget

import (
	"strings"

	"gcity/internal/screen"
)

// Plain makes one safe line of any text (law L12).
func Plain(s string) string { return screen.Plain(s) }

// Lead makes one safe line of a list of things, one a line: the first, and how many more there are.
func Lead(s string) string {
	one, others := screen.Lead(s)
	return one + others
}

// CutLead is lead in at most w columns; that there are more stays.
func CutLead(s string, w int, more string) string {
	one, others := screen.Lead(s)
	if w < Width(others)+8 {
		return Cut(one+others, w, more)
	}
	return Cut(one, w-Width(others), more) + others
}

// PlainLines makes safe lines of a text, without those that are empty.
func PlainLines(s string) []string {
	var lines []string
	for part := range strings.SplitSeq(s, "\n") {
		if part = Plain(part); part != "" {
			lines = append(lines, part)
		}
	}
	return lines
}

// AllPlain makes safe lines of a text, the empty ones too, but for those at its end.
func AllPlain(s string) []string {
	lines := strings.Split(strings.TrimRight(s, "\n"), "\n")
	for i, l := range lines {
		lines[i] = Plain(l)
	}
	return lines
}

// PlainText returns a text of several lines as lines that are safe to show.
func PlainText(s string) string { return strings.Join(PlainLines(s), "\n") }
