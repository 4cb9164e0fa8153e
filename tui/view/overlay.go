package view

import (
	"github.com/charmbracelet/x/ansi"

	"gcity/themes"
	"gcity/tui/state"
	"gcity/tui/widget"
)

func drawOverlay(m *state.Room, s Screen) Screen {
	f := m.Overlay()
	if f.Title == "" || m.W < 12 || m.H < 5 {
		return s
	}
	left, top, h := OverlayPosition(m, len(f.Lines), f.W)
	box := m.Look.Box(f.Title, f.Lines[:h-2], f.W)
	for i := range s.Lines {
		behind := ansi.Strip(s.Lines[i])
		if i < top || i >= top+h {
			s.Lines[i] = m.Look.Paint(themes.Off, behind)
			continue
		}
		s.Lines[i] = m.Look.Paint(themes.Off, widget.Fit(behind, left, "")) + box[i-top] +
			m.Look.Paint(themes.Off, widget.SkipColumns(behind, left+f.W))
	}
	s.X, s.Y = -1, -1
	if f.X >= 0 && f.Y+1 < h-1 {
		s.X, s.Y = min(left+2+f.X, left+f.W-2), top+1+f.Y
	}
	return s
}

// OverlayPosition returns the position and the height of a dialog with the given number of lines.
func OverlayPosition(m *state.Room, lines, w int) (left, top, h int) {
	h = min(lines+2, m.H)
	return (m.W - w) / 2, max(0, (m.H-h)/3), h
}
