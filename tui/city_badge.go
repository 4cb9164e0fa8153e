package tui

import (
	"gcity/internal/colour"
	"gcity/themes"
	"gcity/tui/widget"
)

// signboard starts the header with the city's name, on the city's own colour if it has one, so that cities are not
// confused. Without colours the name is drawn as a title.
func signboard(m *model, l *widget.Line, name string) {
	own := ""
	if m.snap != nil && m.snap.Console.Colour != "" && !m.around.noColor {
		// the controller has checked it; a newer version may allow more
		own, _ = colour.Parse(m.snap.Console.Colour)
	}
	if own == "" {
		l.Add(themes.Title, " "+name)
		return
	}
	l.Badge(own, " "+name+" ")
}

// cityName returns the city's name as far as it is known.
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
