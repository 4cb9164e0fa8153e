package tui

import (
	"gcity/themes"
	"gcity/tui/state"
	"gcity/tui/widget"
	"github.com/charmbracelet/x/ansi"
)

// drawSheet draws a dialog over the dimmed screen.
func drawSheet(m *state.Room, s screenful) screenful {
	title, lines, w, x, y := sheetContent(m)
	if title == "" || m.W < 12 || m.H < 5 {
		return s
	}
	left, top, h := sheetPlace(m, len(lines), w)
	box := m.Look.Box(title, lines[:h-2], w)
	for i := range s.lines {
		behind := ansi.Strip(s.lines[i])
		if i < top || i >= top+h {
			s.lines[i] = m.Look.Paint(themes.Off, behind)
			continue
		}
		s.lines[i] = m.Look.Paint(themes.Off, widget.Fit(behind, left, "")) + box[i-top] +
			m.Look.Paint(themes.Off, widget.SkipColumns(behind, left+w))
	}
	s.x, s.y = -1, -1
	if x >= 0 && y+1 < h-1 {
		s.x, s.y = min(left+2+x, left+w-2), top+1+y
	}
	return s
}

// sheetPlace returns the position and height of a dialog with the given number of lines.
func sheetPlace(m *state.Room, lines, w int) (left, top, h int) {
	h = min(lines+2, m.H)
	return (m.W - w) / 2, max(0, (m.H-h)/3), h
}

// sheetContent returns the content of the open dialog; the title is "" without a dialog.
func sheetContent(m *state.Room) (title string, lines []string, w, x, y int) {
	switch {
	case m.Dialogs.Covers():
		f := m.Dialogs.Top().Draw(m.Canvas())
		return f.Title, f.Lines, f.W, f.X, f.Y
	}
	return "", nil, 0, -1, -1
}
