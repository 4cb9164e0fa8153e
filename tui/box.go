package tui

import (
	"strings"

	"charm.land/lipgloss/v2"

	"gcity/themes"
)

// box frames lines of at most w-4 columns, with a title in the upper edge.
func (s *look) box(title string, lines []string, w int) []string {
	g := &s.glyph
	edge := lipgloss.NewStyle().Foreground(s.style[themes.Accent].GetForeground())
	title = " " + cut(title, w-6, g.More) + " "
	bar := edge.Render(g.HeavyBar)
	out := make([]string, 0, len(lines)+2)
	out = append(out, edge.Render(g.Corner[0]+g.Heavy)+s.paint(themes.Title, title)+
		edge.Render(strings.Repeat(g.Heavy, w-3-width(title))+g.Corner[1]))
	for _, l := range lines {
		out = append(out, bar+" "+crop(l, w-4)+" "+bar)
	}
	return append(out, edge.Render(g.Corner[2]+strings.Repeat(g.Heavy, w-2)+g.Corner[3]))
}
