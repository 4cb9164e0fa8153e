package widget

import (
	"strings"

	"gcity/internal/grapheme"
)

// Terminal lines are text and SGR sequences (law L12). These functions never split a wide character, and they keep
// combining marks with their base.

type pen struct{ style string }

func (p *pen) take(seq string) {
	if seq == Reset || seq == "\x1b[0m" {
		p.style = ""
		return
	}
	p.style += seq
}

func (p *pen) off() string {
	if p.style == "" {
		return ""
	}
	return Reset
}

// HardWrap breaks a line into rows of at most w columns, without regard to words.
func HardWrap(s string, w int) []string {
	if w < 1 || Width(s) <= w {
		return []string{s}
	}
	var rows []string
	var row strings.Builder
	var p pen
	used := 0
	grapheme.Walk(s, func(part string, _, n int) bool {
		if n == 0 {
			p.take(part)
			row.WriteString(part)
			return true
		}
		if used+n > w && used > 0 {
			row.WriteString(p.off())
			rows = append(rows, row.String())
			row.Reset()
			row.WriteString(p.style)
			used = 0
		}
		row.WriteString(part)
		used += n
		return true
	})
	return append(rows, row.String())
}

// SkipColumns returns a line without its first n columns. A space replaces the second half of a wide character.
func SkipColumns(s string, n int) string {
	if n <= 0 {
		return s
	}
	if IsASCII(s) {
		return s[min(n, len(s)):]
	}
	var out strings.Builder
	grapheme.Walk(s, func(part string, col, w int) bool {
		switch {
		case w == 0 || col >= n:
			out.WriteString(part)
		case col+w > n:
			out.WriteString(Spaces(col + w - n))
		}
		return true
	})
	return out.String()
}

// Span is a range of columns to paint over, excluding To.
type Span struct {
	From, To int
	Style    string // sequence that sets the style
}

// Overlay paints over ranges of a line. The ranges must be in order.
func Overlay(s string, all ...Span) string {
	var out strings.Builder
	var p pen
	i, inside, end := 0, false, 0
	leave := func() {
		if inside {
			out.WriteString(Reset + p.style)
			inside = false
			i++
		}
	}
	grapheme.Walk(s, func(part string, col, w int) bool {
		if w == 0 {
			p.take(part)
			if !inside {
				out.WriteString(part)
			}
			return true
		}
		if inside && col >= all[i].To {
			leave()
		}
		for !inside && i < len(all) && all[i].To <= col {
			i++
		}
		if !inside && i < len(all) && all[i].From < col+w {
			out.WriteString(p.off() + all[i].Style)
			inside = true
		}
		out.WriteString(part)
		end = col + w
		return true
	})
	leave()
	if i < len(all) && all[i].From >= end && all[i].To > all[i].From {
		out.WriteString(p.off() + Spaces(all[i].From-end) + all[i].Style +
			Spaces(all[i].To-all[i].From) + Reset)
	}
	return out.String()
}
