package widget

import (
	"slices"
	"strings"
	"unicode"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"
)

// WrapAll wraps lines to w columns.
func WrapAll(lines []string, w int) []string {
	var out []string
	for _, s := range lines {
		out = append(out, WrapHanging(s, w)...)
	}
	return out
}

// WrapHanging wraps a line. The following rows are aligned with the text after its label.
func WrapHanging(s string, w int) []string {
	in := textBegins(ansi.Strip(s))
	if in == 0 || in > w/2 || Width(s) <= w {
		return Wrap(s, w)
	}
	lines := Wrap(SkipColumns(s, in), w-in)
	for i := 1; i < len(lines); i++ {
		lines[i] = Spaces(in) + lines[i]
	}
	lines[0] = ansi.Truncate(s, in, "") + lines[0]
	return lines
}

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
		case gap == 1 && col == 2 && begin == 0 && !unicode.IsLetter(first) &&
			!unicode.IsDigit(first):
			begin, gap = col, 0
		default:
			gap = 0
		}
		col += Width(string(r))
	}
	return max(0, begin)
}

// Wrap breaks text at spaces, and a word only if it is wider than a line. Styles are continued in the next line.
func Wrap(s string, w int) []string {
	if Width(s) > w && w >= 4 {
		const whole = "\u2011" // a hyphen at which lipgloss does not break lines
		s = lipgloss.Wrap(strings.ReplaceAll(s, "-", whole), w, "")
		s = strings.ReplaceAll(s, whole, "-")
	}
	return strings.Split(strings.ReplaceAll(s, NBSP, " "), "\n")
}

// NBSP is a space at which a line is not broken.
const NBSP = "\u00a0"

// Hints returns key hints in one line of at most w columns. The last hint, which leaves the dialog, is never dropped.
func Hints(w int, all ...string) string {
	const between = "   "
	text := func() string { return strings.Join(all, between) }
	for len(all) > 1 && Width(text()) > w {
		all = slices.Delete(all, len(all)-2, len(all)-1)
	}
	return text()
}

// Hanging wraps text. The first line begins with lead, and the other lines are indented by the width of lead.
func Hanging(lead, text string, w int) []string {
	in := Width(lead)
	lines := Wrap(text, max(10, w-in))
	for i := range lines {
		if i == 0 {
			lines[i] = lead + lines[i]
		} else {
			lines[i] = strings.Repeat(" ", in) + lines[i]
		}
	}
	return lines
}
