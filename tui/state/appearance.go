package state

import (
	"slices"
	"strconv"
	"strings"

	"gcity/themes"
	"gcity/tui/feed"
	"gcity/tui/widget"
)

// Surroundings are the known properties of the terminal, apart from preferences.
type Surroundings struct {
	Theme   themes.Theme
	ASCII   bool
	Calm    bool
	NoColor bool
	Below   bool // the pane is below the lists by default
	Ground  ground
}

// ground is the terminal's background: dark, light or unknown.
type ground int

const (
	groundUnknown ground = iota
	GroundDark
	GroundLight
)

// GroundOf returns the background of COLORFGBG, which some terminals set. In "15;0" it is the last number.
func GroundOf(environ []string) ground {
	value := ""
	for _, e := range environ {
		if v, ok := strings.CutPrefix(e, "COLORFGBG="); ok {
			value = v
		}
	}
	n, err := strconv.Atoi(value[strings.LastIndexByte(value, ';')+1:])
	switch {
	case err != nil || n < 0 || n > 15:
		return groundUnknown
	case n == 7 || n > 8:
		return GroundLight
	}
	return GroundDark
}

// Relook applies the wanted theme and characters. It asks for the terminal's background if a theme depends on it.
func Relook(m *Room) {
	ascii := m.Around.ASCII
	if m.Person.ASCII != nil {
		ascii = *m.Person.ASCII
	}
	names := themeNames(m)
	if !m.Glanced && m.Around.Ground == groundUnknown && slices.Contains(names[:], AutoTheme) {
		m.Glanced = true
		m.Todo = append(m.Todo, feed.QueryBackground{})
	}
	t := wantedTheme(m)
	if t == m.Theme && ascii == m.ASCII {
		return
	}
	glyphs := themes.Unicode()
	if ascii {
		glyphs = themes.ASCII()
	}
	m.Theme, m.ASCII = t, ascii
	m.Look = widget.NewStyles(t, glyphs)
	m.UI++
	m.ForgetDrawn()
}

// themeNames returns the wanted themes in order of priority: previewed, chosen in the palette, the user's, the
// city's; "" = none.
func themeNames(m *Room) [4]string {
	return [4]string{m.Preview, m.Tried, m.Person.Theme, cityTheme(m)}
}

// wantedTheme returns the first wanted theme that exists.
func wantedTheme(m *Room) themes.Theme {
	if m.Around.NoColor {
		return themes.Colourless()
	}
	for _, name := range themeNames(m) {
		if name == AutoTheme {
			name = [...]string{"", "dark", "light"}[m.Around.Ground]
		}
		if t := themeCalled(m, name); t != nil {
			return *t
		}
	}
	return m.Around.Theme
}

func cityTheme(m *Room) string {
	if m.Snap == nil {
		return ""
	}
	return m.Snap.Console.Theme
}

func themeCalled(m *Room, name string) *themes.Theme {
	for i := range m.Person.Themes {
		if t := &m.Person.Themes[i]; t.Name == name && name != "" {
			return t
		}
	}
	return nil
}
