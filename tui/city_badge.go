package tui

import (
	"gcity/internal/colour"
	"gcity/themes"
	"gcity/tui/widget"
)

// signboard begins the header with the city's name, on the city's own colour if it has one, so that nobody takes
// one city for another. Where colours are not wanted, or the city has none, the name stands as the theme has
// titles.
func signboard(m *model, l *widget.Line, name string) {
	own := ""
	if m.snap != nil && m.snap.Console.Colour != "" && !m.around.noColor {
		// the controller has checked it; another version's may know more
		own, _ = colour.Parse(m.snap.Console.Colour)
	}
	if own == "" {
		l.Add(themes.Title, " "+name)
		return
	}
	l.Badge(own, " "+name+" ")
}

// cityName is what the city is called, as far as that is known.
func cityName(m *model) string {
	switch {
	case m.snap == nil && m.lobby:
		return "all cities"
	case m.snap == nil && m.at != "":
		return widget.Plain(m.at)
	case m.snap == nil:
		return "the city"
	}
	return widget.Plain(m.snap.Name)
}
