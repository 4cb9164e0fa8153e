package widget

import (
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// Lines of a terminal are text and SGR (law L12). What is here cuts them by columns: a wide character is never halved,
// marks stay with what they are on, and a style goes on behind a cut.

// Walk gives the parts of a styled line: characters with all that belongs to them, the column they begin at and their
// width; and sequences, of no width. It ends when f says so.
func Walk(s string, f func(part string, col, w int) bool) {
	var state byte
	for col := 0; len(s) > 0; {
		_, w, n, next := ansi.DecodeSequence(s, state, nil)
		// marks and joiners come by themselves behind ASCII
		for w > 0 && n < len(s) && s[n] >= utf8.RuneSelf {
			_, more, m, after := ansi.DecodeSequence(s[n:], next, nil)
			if more != 0 || m <= 0 {
				break
			}
			n, next = n+m, after
			w = ansi.StringWidth(s[:n])
		}
		if n <= 0 || !f(s[:n], col, w) {
			return
		}
		s, state = s[n:], next
		col += w
	}
}

// pen is the style that is on: the sequences that made it.
type pen struct{ on string }

func (p *pen) take(seq string) {
	if seq == Reset || seq == "\x1b[0m" {
		p.on = ""
		return
	}
	p.on += seq
}

// off ends the style, if there is one.
func (p *pen) off() string {
	if p.on == "" {
		return ""
	}
	return Reset
}

// HardWrap breaks a line into rows of at most w columns.
func HardWrap(s string, w int) []string {
	if w < 1 || Width(s) <= w {
		return []string{s}
	}
	var rows []string
	var row strings.Builder
	var p pen
	used := 0
	Walk(s, func(part string, _, n int) bool {
		if n == 0 {
			p.take(part)
			row.WriteString(part)
			return true
		}
		if used+n > w && used > 0 {
			row.WriteString(p.off())
			rows = append(rows, row.String())
			row.Reset()
			row.WriteString(p.on)
			used = 0
		}
		row.WriteString(part)
		used += n
		return true
	})
	return append(rows, row.String())
}

// SkipColumns is a line without its first n columns. Of a wide character on the edge a blank stays.
func SkipColumns(s string, n int) string {
	if n <= 0 {
		return s
	}
	if IsASCII(s) {
		return s[min(n, len(s)):]
	}
	var out strings.Builder
	Walk(s, func(part string, col, w int) bool {
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

// Stretch is columns of a line that are painted over, up to but without the column to; of a character that is only
// partly among them all is.
type Stretch struct {
	From, To int
	On       string // sequence that switches the style on
}

// Overlay paints stretches of a line, given in order, over whatever style is there. One behind the end of the line is
// put there, on a blank.
func Overlay(s string, all ...Stretch) string {
	var out strings.Builder
	var p pen
	i, inside, end := 0, false, 0
	leave := func() {
		if inside {
			out.WriteString(Reset + p.on)
			inside = false
			i++
		}
	}
	Walk(s, func(part string, col, w int) bool {
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
			out.WriteString(p.off() + all[i].On)
			inside = true
		}
		out.WriteString(part)
		end = col + w
		return true
	})
	leave()
	if i < len(all) && all[i].From >= end && all[i].To > all[i].From {
		out.WriteString(p.off() + Spaces(all[i].From-end) + all[i].On +
			Spaces(all[i].To-all[i].From) + Reset)
	}
	return out.String()
}
