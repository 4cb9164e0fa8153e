package actions

import (
	"fmt"

	"gcity/themes"
	"gcity/tui/keymap"
	"gcity/tui/state"
	"gcity/tui/widget"
)

// ThemeActions returns the actions that choose a theme.
func ThemeActions(all []themes.Theme) []state.Action {
	choose := func(name, does string) state.Action {
		return state.Action{ID: state.ThemeID + name, Key: keymap.Bind(does),
			Why: needColors,
			Run: noEffects(func(m *state.Room) { TryTheme(m, name) })}
	}
	actions := []state.Action{choose(state.AutoTheme, "use theme auto: dark or light, like "+
		"the terminal")}
	for i := range all {
		does := "use theme " + widget.Plain(all[i].Name)
		if d := widget.Plain(all[i].Description); d != "" {
			does += ": " + d
		}
		actions = append(actions, choose(all[i].Name, does))
	}
	return actions
}

func needColors(m *state.Room) string {
	if m.Terminal.NoColor {
		return "NO_COLOR is set, so there are no colors"
	}
	return ""
}

// TryTheme applies a theme until the user leaves.
func TryTheme(m *state.Room, name string) {
	m.ChosenTheme = name
	state.ApplyTheme(m)
	said := fmt.Sprintf("the theme is %s", widget.Plain(name))
	if m.Preferences.File != "" {
		said = fmt.Sprintf("to keep this theme after you quit, set theme = %q in %s",
			widget.Plain(name), widget.Plain(m.Preferences.File))
	}
	state.ShowSuccess(m, said)
}
