package widget

import (
	"strings"

	"charm.land/lipgloss/v2"

	"gcity/themes"
)

// Box frames lines of at most w-4 columns, with a title in the upper border.
func (s *Styles) Box(title string, lines []string, w int) []string {
	g := &s.Glyphs
	edge := lipgloss.NewStyle().Foreground(s.style[themes.Accent].GetForeground())
	title = " " + Cut(title, w-6, g.More) + " "
	bar := edge.Render(g.HeavyBar)
	out := make([]string, 0, len(lines)+2)
	out = append(out, edge.Render(g.Corner[0]+g.Heavy)+s.Paint(themes.Title, title)+
		edge.Render(strings.Repeat(g.Heavy, w-3-Width(title))+g.Corner[1]))
	for _, l := range lines {
		out = append(out, bar+" "+Crop(l, w-4)+" "+bar)
	}
	return append(out, edge.Render(g.Corner[2]+strings.Repeat(g.Heavy, w-2)+g.Corner[3]))
}
