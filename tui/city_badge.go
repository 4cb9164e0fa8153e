package tui

import (
	"gcity/internal/colour"
	"gcity/themes"
	"gcity/tui/widget"
)

// cityBadge adds the city's name to the header, on the city's own colour if it has one, so that cities are not
// confused. Without colours it draws the name as a title.
func cityBadge(m *model, l *widget.Line, name string) {
	own := ""
	if m.snap != nil && m.snap.Console.Colour != "" && !m.around.noColor {
		// A newer controller may allow colours that this client does not know.
		own, _ = colour.Parse(m.snap.Console.Colour)
	}
	if own == "" {
		l.Add(themes.Title, " "+name)
		return
	}
	l.Badge(own, " "+name+" ")
}

// cityName returns the city's name, or a general term while it is unknown.
func cityName(m *model) string {
	switch {
	case m.snap == nil && m.fleetRoom:
		return "all cities"
	case m.snap == nil && m.at != "":
		return widget.Plain(m.at)
	case m.snap == nil:
		return "the city"
	}
	return widget.Plain(m.snap.Name)
}
