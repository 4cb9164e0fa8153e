package state

import (
	"strconv"
	"strings"

	"gcity/themes"
	"gcity/tui/feed"
	"gcity/tui/widget"
)

// TerminalDefaults are the settings that the preferences can override.
type TerminalDefaults struct {
	Theme         themes.Theme
	ASCII         bool
	ReducedMotion bool
	NoColor       bool
	Below         bool // the pane is below the lists by default
	Background    background
}

type background int

const (
	backgroundUnknown background = iota
	BackgroundDark
	BackgroundLight
)

// BackgroundOf returns the background according to COLORFGBG. The last number in it is the background color: "15;0".
func BackgroundOf(environ []string) background {
	value := ""
	for _, e := range environ {
		if v, ok := strings.CutPrefix(e, "COLORFGBG="); ok {
			value = v
		}
	}
	n, err := strconv.Atoi(value[strings.LastIndexByte(value, ';')+1:])
	switch {
	case err != nil || n < 0 || n > 15:
		return backgroundUnknown
	case n == 7 || n > 8:
		return BackgroundLight
	}
	return BackgroundDark
}

// ApplyTheme applies the selected theme and character set.
func ApplyTheme(m *Room) {
	ascii := m.Terminal.ASCII
	if m.Preferences.ASCII != nil {
		ascii = *m.Preferences.ASCII
	}
	t, depends := wantedTheme(m)
	if depends && !m.BackgroundQueried && m.Terminal.Background == backgroundUnknown {
		m.BackgroundQueried = true
		m.Todo = append(m.Todo, feed.QueryBackground{})
	}
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

func themeNames(m *Room) [4]string {
	return [4]string{m.PreviewedTheme, m.ChosenTheme, m.Preferences.Theme, cityTheme(m)}
}

// wantedTheme returns the first wanted theme that exists, and whether the choice depends on the terminal's background.
func wantedTheme(m *Room) (t themes.Theme, depends bool) {
	if m.Terminal.NoColor {
		return themes.Colorless(), false
	}
	for _, name := range themeNames(m) {
		if name == AutoTheme {
			depends = true
			name = [...]string{"", "dark", "light"}[m.Terminal.Background]
		}
		if t := findTheme(m, name); t != nil {
			return *t, depends
		}
	}
	if m.Terminal.Background == BackgroundLight {
		return m.Terminal.Theme.OnLight(), true
	}
	return m.Terminal.Theme, true
}

func cityTheme(m *Room) string {
	if m.Snap == nil {
		return ""
	}
	return m.Snap.Console.Theme
}

func findTheme(m *Room, name string) *themes.Theme {
	return widget.First(m.Preferences.Themes, func(t *themes.Theme) bool {
		return t.Name == name && name != ""
	})
}
