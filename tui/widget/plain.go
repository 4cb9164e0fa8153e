package widget

import (
	"strings"

	"gcity/internal/screen"
)

// Plain returns text as one line that is safe to print on a terminal (law L12).
func Plain(s string) string { return screen.Plain(s) }

// FirstItem returns a safe line for text with one item per line. The line contains the first item and the number of
// further items.
func FirstItem(s string) string {
	one, others := screen.FirstItem(s)
	return one + others
}

// CutFirstItem is like FirstItem, but returns at most w columns. It cuts the number of further items only if fewer than
// 8 columns would be left for the first item.
func CutFirstItem(s string, w int, more string) string {
	one, others := screen.FirstItem(s)
	if w < Width(others)+8 {
		return Cut(one+others, w, more)
	}
	return Cut(one, w-Width(others), more) + others
}

// PlainLines returns the non-empty lines of text, made safe to show.
func PlainLines(s string) []string {
	var lines []string
	for part := range strings.SplitSeq(s, "\n") {
		if part = Plain(part); part != "" {
			lines = append(lines, part)
		}
	}
	return lines
}

// AllPlain returns the lines of text, made safe to show. Empty lines at the end are dropped.
func AllPlain(s string) []string {
	lines := strings.Split(strings.TrimRight(s, "\n"), "\n")
	for i, l := range lines {
		lines[i] = Plain(l)
	}
	return lines
}

// PlainText returns the non-empty lines of text, made safe to show, as one string.
func PlainText(s string) string { return strings.Join(PlainLines(s), "\n") }
