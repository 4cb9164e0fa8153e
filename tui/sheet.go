package tui

import (
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"gcity/themes"
)

// sheet lays a dialog over the screen, which steps back behind it.
func (m *model) sheet(s screenful) screenful {
	title, lines, w, x, y := m.sheetContent()
	if title == "" || m.w < 12 || m.h < 5 {
		return s
	}
	h := min(len(lines)+2, m.h)
	left, top := (m.w-w)/2, max(0, (m.h-h)/3)
	for i := range s.lines {
		s.lines[i] = m.look.paint(themes.Off, ansi.Strip(s.lines[i]))
	}
	behind := s.lines[top : top+h]
	layers := lipgloss.NewCompositor(
		lipgloss.NewLayer(strings.Join(behind, "\n")),
		lipgloss.NewLayer(m.box(title, lines[:h-2], w)).X(left),
	)
	copy(behind, strings.Split(lipgloss.NewCanvas(m.w, h).Compose(layers).Render(), "\n"))
	s.x, s.y = -1, -1
	if x >= 0 && y+1 < h-1 {
		s.x, s.y = min(left+2+x, left+w-2), top+1+y
	}
	return s
}

// box frames lines of at most w-4 columns, with a title in the upper edge.
func (m *model) box(title string, lines []string, w int) string {
	g := &m.look.glyph
	border := lipgloss.Border{
		Bottom: g.Heavy, Left: g.HeavyBar, Right: g.HeavyBar, BottomLeft: g.Corner[2], BottomRight: g.Corner[3],
	}
	accent := m.look.style[themes.Accent].GetForeground()
	frame := lipgloss.NewStyle().Border(border, false, true, true, true).BorderForeground(accent).Padding(0, 1)
	for i := range lines {
		lines[i] = crop(lines[i], w-4)
	}
	edge := lipgloss.NewStyle().Foreground(accent)
	title = " " + cut(title, w-6, g.More) + " "
	return lipgloss.JoinVertical(lipgloss.Left,
		edge.Render(g.Corner[0]+g.Heavy)+m.look.paint(themes.Title, title)+
			edge.Render(strings.Repeat(g.Heavy, w-3-lipgloss.Width(title))+g.Corner[1]),
		frame.Render(strings.Join(lines, "\n")))
}

// sheetContent is the open dialog, title "" if there is none.
func (m *model) sheetContent() (title string, lines []string, w, x, y int) {
	switch {
	case m.choice != nil:
		w = min(m.w, 76)
		lines, x, y = m.choiceSheet(w)
		return m.choice.title, lines, w, x, y
	case m.finder != nil:
		w = min(m.w, 96)
		lines, x, y = m.finderSheet(w, min(m.h-2, len(m.finder.all)+4))
		return m.finder.title, lines, w, x, y
	case m.reader != nil:
		w = min(m.w, 110)
		return m.reader.title, m.readerSheet(w), w, -1, -1
	case m.work != nil && m.prompt == nil:
		w = min(m.w, 120)
		return m.work.title(), m.workSheet(w), w, -1, -1
	}
	return "", nil, 0, -1, -1
}

// sheetRows is how many lines of a text a sheet shows.
func (m *model) sheetRows() int { return max(1, m.h-6) }

func (m *model) readerSheet(w int) []string {
	r := m.reader
	all := r.lines(m, w-4)
	r.length = len(all)
	rows := min(m.sheetRows(), len(all))
	r.offset = max(0, min(r.offset, len(all)-rows))
	lines := append(make([]string, 0, rows+2), all[r.offset:r.offset+rows]...)
	hint := "esc closes"
	if len(all) > rows {
		hint = "j k scroll   " + hint
	}
	return append(lines, "", m.look.paint(themes.Dim, hint))
}
