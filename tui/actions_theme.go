package tui

import (
	"fmt"
	"gcity/themes"
	"gcity/tui/feed"
	"gcity/tui/keymap"
	"gcity/tui/widget"
)

// themeActions returns the actions that choose a theme. The finder previews the theme under the cursor.
func themeActions(all []themes.Theme) []action {
	choose := func(name, does string) action {
		return action{ID: themeID + name, Key: keymap.Bind(does),
			In: []keymap.Zone{keymap.Everywhere}, Why: needColours,
			Run: func(m *model) []feed.Effect { tryTheme(m, name); return nil }}
	}
	actions := []action{choose(AutoTheme, "theme: dark or light, like the terminal")}
	for i := range all {
		does := "theme: " + widget.Plain(all[i].Name)
		if d := widget.Plain(all[i].Description); d != "" {
			does += ", " + d
		}
		actions = append(actions, choose(all[i].Name, does))
	}
	return actions
}

func needColours(m *model) string {
	if m.around.noColor {
		return "NO_COLOR is set, so there are no colours"
	}
	return ""
}

// tryTheme applies a theme until the user leaves, and shows how to keep it.
func tryTheme(m *model, name string) {
	m.tried = name
	relook(m)
	said := fmt.Sprintf("the theme is %s", widget.Plain(name))
	if m.person.File != "" { // The file comes first, because narrow screens cut the end.
		said = fmt.Sprintf("theme = %q in %s keeps the theme; otherwise it is lost when you leave",
			widget.Plain(name), widget.Plain(m.person.File))
	}
	say(m, said)
}
