package tui

import (
	"gcity/themes"
	"gcity/tui/widget"
	"github.com/charmbracelet/x/ansi"
)

// drawSheet draws a dialog over the dimmed screen.
func drawSheet(m *model, s screenful) screenful {
	title, lines, w, x, y := sheetContent(m)
	if title == "" || m.w < 12 || m.h < 5 {
		return s
	}
	left, top, h := sheetPlace(m, len(lines), w)
	box := m.look.Box(title, lines[:h-2], w)
	for i := range s.lines {
		behind := ansi.Strip(s.lines[i])
		if i < top || i >= top+h {
			s.lines[i] = m.look.Paint(themes.Off, behind)
			continue
		}
		s.lines[i] = m.look.Paint(themes.Off, widget.Fit(behind, left, "")) + box[i-top] +
			m.look.Paint(themes.Off, widget.SkipColumns(behind, left+w))
	}
	s.x, s.y = -1, -1
	if x >= 0 && y+1 < h-1 {
		s.x, s.y = min(left+2+x, left+w-2), top+1+y
	}
	return s
}

// sheetPlace returns the position and height of a dialog with the given number of lines.
func sheetPlace(m *model, lines, w int) (left, top, h int) {
	h = min(lines+2, m.h)
	return (m.w - w) / 2, max(0, (m.h-h)/3), h
}

// sheetContent returns the content of the open dialog; the title is "" without a dialog.
func sheetContent(m *model) (title string, lines []string, w, x, y int) {
	switch {
	case m.dialogs.covers():
		f := m.dialogs.Top().Draw(m.canvas())
		return f.Title, f.Lines, f.W, f.X, f.Y
	}
	return "", nil, 0, -1, -1
}
