package tui

import (
	"gcity/themes"
	"gcity/tui/feed"
	"gcity/tui/widget"
	"slices"
	"strconv"
	"strings"
)

// surroundings are the known properties of the terminal, apart from preferences.
type surroundings struct {
	theme   themes.Theme
	ASCII   bool
	calm    bool
	noColor bool
	below   bool // the pane is below the lists by default
	ground  ground
}

// ground is the terminal's background: dark, light or unknown.
type ground int

const (
	groundUnknown ground = iota
	groundDark
	groundLight
)

// groundOf returns the background of COLORFGBG, which some terminals set. In "15;0" it is the last number.
func groundOf(environ []string) ground {
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
		return groundLight
	}
	return groundDark
}

// relook applies the wanted theme and characters. It asks for the terminal's background if a theme depends on it.
func relook(m *model) {
	ascii := m.around.ASCII
	if m.person.ASCII != nil {
		ascii = *m.person.ASCII
	}
	names := themeNames(m)
	if !m.glanced && m.around.ground == groundUnknown && slices.Contains(names[:], AutoTheme) {
		m.glanced = true
		m.todo = append(m.todo, feed.AskBackground{})
	}
	t := wantedTheme(m)
	if t == m.theme && ascii == m.ASCII {
		return
	}
	glyphs := themes.Unicode()
	if ascii {
		glyphs = themes.ASCII()
	}
	m.theme, m.ASCII = t, ascii
	m.look = widget.NewStyles(t, glyphs)
	m.UI++
	m.forgetDrawn()
}

// themeNames returns the wanted themes in order of priority: previewed, chosen in the palette, the user's, the
// city's; "" = none.
func themeNames(m *model) [4]string {
	return [4]string{m.preview, m.tried, m.person.Theme, cityTheme(m)}
}

// wantedTheme returns the first wanted theme that exists.
func wantedTheme(m *model) themes.Theme {
	if m.around.noColor {
		return themes.Colourless()
	}
	for _, name := range themeNames(m) {
		if name == AutoTheme {
			name = [...]string{"", "dark", "light"}[m.around.ground]
		}
		if t := themeCalled(m, name); t != nil {
			return *t
		}
	}
	return m.around.theme
}

func cityTheme(m *model) string {
	if m.snap == nil {
		return ""
	}
	return m.snap.Console.Theme
}

func themeCalled(m *model, name string) *themes.Theme {
	for i := range m.person.Themes {
		if t := &m.person.Themes[i]; t.Name == name && name != "" {
			return t
		}
	}
	return nil
}
