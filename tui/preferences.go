package tui

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"gcity/internal/detach"
	"gcity/themes"
	"gcity/tui/actions"
	"gcity/tui/feed"
	"gcity/tui/panel"
	"gcity/tui/state"
	"gcity/tui/widget"
)

func newTerminalDefaults(o Options) state.TerminalDefaults {
	return state.TerminalDefaults{Theme: o.Theme, ASCII: o.ASCII, ReducedMotion: o.ReducedMotion,
		NoColor: o.NoColor,
		Below:   o.OverSSH, Background: state.BackgroundOf(o.Environ)}
}

func applyPreferences(m *state.Room, p feed.Preferences) {
	if p.Themes == nil {
		p.Themes = m.Preferences.Themes
	}
	m.Preferences = p
	m.ReducedMotion = m.Terminal.ReducedMotion || p.ReducedMotion
	m.Confirm = map[string]state.Confirm{"always": state.ConfirmAlways,
		"never": state.ConfirmNever}[p.Confirm]
	m.Agents.Chosen = panel.ChosenColumns(p.Columns)
	m.Keys = actions.NewRegistry(m.Panels)
	m.Keys.Add(actions.ThemeActions(p.Themes))
	m.Unbound = m.Keys.Rebind(p.Keys)
	for _, id := range []string{"agent.attach"} { // its description contains the detach key
		a := m.Keys.ByID(id)
		a.Key.SetHelp(a.Key.Help().Key, strings.ReplaceAll(a.Title(), detach.Default,
			p.Detach.String()))
	}
	m.Theme, m.PreviewedTheme = themes.Theme{}, ""
	state.ApplyTheme(m)
}

func reloadPreferences(m *state.Room, p feed.Preferences) {
	m.UI++
	applyPreferences(m, p)
	if m.Snap != nil {
		m.Relist()
	}
	if n := len(p.Problems) + len(m.Unbound); n > 0 {
		state.ShowFailure(m, fmt.Sprintf("the preferences were reloaded, with %s; %s shows all",
			widget.Count(n, "error"), m.Keys.KeyText("city.details")))
		return
	}
	state.ShowSuccess(m, "the preferences were reloaded")
}

func receiveBackground(m *state.Room, msg tea.BackgroundColorMsg) {
	m.Terminal.Background = state.BackgroundLight
	if msg.Color == nil || msg.IsDark() {
		m.Terminal.Background = state.BackgroundDark
	}
	state.ApplyTheme(m)
}

func previewTheme(m *state.Room) {
	want := ""
	if name, ok := strings.CutPrefix(finderRowLine(m), state.ThemeID); ok && !m.Terminal.NoColor {
		want = name
	}
	if want != m.PreviewedTheme {
		m.PreviewedTheme = want
		state.ApplyTheme(m)
	}
}

func finderRowLine(m *state.Room) string {
	if f := m.Dialogs.Finder(); f != nil && f.Current() != nil {
		return f.Current().Line
	}
	return ""
}
