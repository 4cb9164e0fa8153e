package terminal

import (
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"gcity/internal/grapheme"
	"gcity/tui/widget"
)

// removed records which rows and columns of a picture are not shown.
type removed struct {
	rows    []bool // by row; nil = none
	columns []bool // by column; nil = none
}

// shownBefore returns how many of the first n rows or columns are shown.
func shownBefore(n int, removed []bool) int {
	shown := n
	for _, gone := range removed[:min(n, len(removed))] {
		if gone {
			shown--
		}
	}
	return shown
}

// compacted removes blank rows and repeated columns of a full-screen program until it fits.
func (p *Pane) compacted(s Picture, w, h int) (Picture, removed) {
	var gone removed
	if !p.Fit {
		return s, gone
	}
	s, gone.rows = removeBlankRows(s, h)
	widest := 0
	for _, l := range s.Lines {
		widest = max(widest, widget.Width(l.Text))
	}
	if widest <= w {
		return s, gone
	}
	gone.columns = repeatedColumns(s.Lines, widest, widest-w)
	out := make([]PaneLine, len(s.Lines))
	for i, l := range s.Lines {
		out[i].Text = removeColumns(l.Text, gone.columns)
	}
	s.Lines = out
	return s, gone
}

// removeBlankRows removes blank rows, starting at the bottom, until h rows are left. It also returns which rows it
// removed.
func removeBlankRows(s Picture, h int) (Picture, []bool) {
	gone := make([]bool, len(s.Lines))
	excess := len(s.Lines) - h
	for _, any := range []bool{false, true} {
		for i, l := range slices.Backward(s.Lines) {
			lone := i > 0 && i < len(s.Lines)-1 && !blankText(s.Lines[i-1].Text)
			if excess > 0 && !gone[i] && i != s.cursor && blankText(l.Text) && (any || !lone) {
				gone[i] = true
				excess--
			}
		}
	}
	out := make([]PaneLine, 0, len(s.Lines))
	for i, l := range s.Lines {
		if !gone[i] {
			out = append(out, l)
		}
	}
	if s.cursor > 0 {
		s.cursor = shownBefore(s.cursor, gone)
	}
	s.Lines = out
	return s, gone
}

const emptyAreaRunes = " ─━═╌▔▁▀▄█-_="

// repeatedColumns selects up to n columns that repeat the column to their left in every line.
func repeatedColumns(lines []PaneLine, widest, n int) []bool {
	busy := make([]bool, widest)
	busy[0] = true
	for _, l := range lines {
		before := " "
		grapheme.Walk(l.Text, func(part string, col, w int) bool {
			if w > 0 {
				if part != before || w > 1 || !strings.Contains(emptyAreaRunes, part) {
					for c := col; c < min(col+w, widest); c++ {
						busy[c] = true
					}
				}
				before = part
			}
			return true
		})
	}
	drop := make([]bool, widest)
	for c := widest - 1; c > 0 && n > 0; c-- {
		if !busy[c] {
			drop[c] = true
			n--
		}
	}
	return drop
}

// removeColumns removes the columns marked in drop from s. They must contain only single-width characters.
func removeColumns(s string, drop []bool) string {
	if ansi.StringWidth(s) == 0 {
		return s
	}
	var out strings.Builder
	grapheme.Walk(s, func(part string, col, w int) bool {
		if w != 1 || col >= len(drop) || !drop[col] {
			out.WriteString(part)
		}
		return true
	})
	return out.String()
}
