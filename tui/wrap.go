package tui

import (
	"slices"
	"strings"
	"unicode"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"
)

// wrapAll breaks lines where they are wider than w.
func wrapAll(lines []string, w int) []string {
	var out []string
	for _, s := range lines {
		out = append(out, hung(s, w)...)
	}
	return out
}

// hung breaks a line so that it goes on below the beginning of its text: behind a label, a time or a sign.
func hung(s string, w int) []string {
	in := textBegins(ansi.Strip(s))
	if in == 0 || in > w/2 || width(s) <= w {
		return wrapped(s, w)
	}
	lines := wrapped(from(s, in), w-in)
	for i := 1; i < len(lines); i++ {
		lines[i] = blanks(in) + lines[i]
	}
	lines[0] = ansi.Truncate(s, in, "") + lines[0]
	return lines
}

// textBegins is the column of what stands behind the first gap in a line, if that is where labels and times end; else
// behind the blanks or the sign that a line begins with.
func textBegins(s string) int {
	const furthest = 18
	col, begin, gap := 0, -1, 0
	var first rune
	for _, r := range s {
		switch {
		case col > furthest:
			return max(0, begin)
		case r == ' ':
			gap++
		case begin < 0:
			begin, first, gap = col, r, 0
		case gap > 1:
			return col
		case gap == 1 && col == 2 && begin == 0 && !unicode.IsLetter(first) && !unicode.IsDigit(first):
			begin, gap = col, 0
		default:
			gap = 0
		}
		col += width(string(r))
	}
	return max(0, begin)
}

// wrapped breaks a text at blanks, and within a word only where a line does not hold it; styles go on in the next line.
func wrapped(s string, w int) []string {
	if width(s) > w && w >= 4 {
		const whole = "\u2011" // a hyphen that is no end of a word: names have many
		s = lipgloss.Wrap(strings.ReplaceAll(s, "-", whole), w, "")
		s = strings.ReplaceAll(s, whole, "-")
	}
	return strings.Split(strings.ReplaceAll(s, glue, " "), "\n")
}

// glue is a blank where a line does not end.
const glue = "\u00a0"

// hints are what keys do, in one line of w columns: what has no room goes from the end, but the last one, which leads out,
// stays.
func hints(w int, all ...string) string {
	const between = "   "
	text := func() string { return strings.Join(all, between) }
	for len(all) > 1 && width(text()) > w {
		all = slices.Delete(all, len(all)-2, len(all)-1)
	}
	return text()
}
