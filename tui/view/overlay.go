package view

import (
	"github.com/charmbracelet/x/ansi"

	"gcity/themes"
	"gcity/tui/state"
	"gcity/tui/widget"
)

func drawOverlay(m *state.Room, s Screen) Screen {
	title, lines, w, x, y := OverlayContent(m)
	if title == "" || m.W < 12 || m.H < 5 {
		return s
	}
	left, top, h := OverlayPosition(m, len(lines), w)
	box := m.Look.Box(title, lines[:h-2], w)
	for i := range s.Lines {
		behind := ansi.Strip(s.Lines[i])
		if i < top || i >= top+h {
			s.Lines[i] = m.Look.Paint(themes.Off, behind)
			continue
		}
		s.Lines[i] = m.Look.Paint(themes.Off, widget.Fit(behind, left, "")) + box[i-top] +
			m.Look.Paint(themes.Off, widget.SkipColumns(behind, left+w))
	}
	s.X, s.Y = -1, -1
	if x >= 0 && y+1 < h-1 {
		s.X, s.Y = min(left+2+x, left+w-2), top+1+y
	}
	return s
}

// OverlayPosition returns the position and the height of a dialog with the given number of lines.
func OverlayPosition(m *state.Room, lines, w int) (left, top, h int) {
	h = min(lines+2, m.H)
	return (m.W - w) / 2, max(0, (m.H-h)/3), h
}

// OverlayContent returns the content of the open dialog; the title is "" if no dialog is open.
func OverlayContent(m *state.Room) (title string, lines []string, w, x, y int) {
	switch {
	case m.Dialogs.Covers():
		f := m.Dialogs.Top().Draw(m.Canvas())
		return f.Title, f.Lines, f.W, f.X, f.Y
	}
	return "", nil, 0, -1, -1
}
