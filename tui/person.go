package tui

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"gcity/internal/detach"
	"gcity/themes"
	"gcity/tui/feed"
	"gcity/tui/panel"
	"gcity/tui/widget"
)

func newSurroundings(o Options) surroundings {
	return surroundings{theme: o.Theme, ASCII: o.ASCII, calm: o.ReducedMotion, noColor: o.NoColor,
		below: o.OverSSH, ground: groundOf(o.Environ)}
}

func takePerson(m *model, p feed.Person) {
	if p.Themes == nil {
		p.Themes = m.person.Themes
	}
	m.person = p
	m.calm = m.around.calm || p.ReducedMotion
	m.confirm = map[string]confirm{"always": confirmAlways, "never": confirmNever}[p.Confirm]
	m.Agents.Wanted = panel.ChosenColumns(p.Columns)
	m.keys = newRegistry(m.Panels)
	m.keys.Include(themeActions(p.Themes))
	m.unbound = m.keys.Rebind(p.Keys)
	for _, id := range []string{"agent.attach"} { // the description contains the key that detaches
		a := m.keys.ByID(id)
		a.Key.SetHelp(a.Key.Help().Key, strings.ReplaceAll(a.Title(), detach.Usual,
			p.Detach.String()))
	}
	m.theme, m.preview = themes.Theme{}, ""
	relook(m)
}

// reread applies changed preferences and reports the change.
func reread(m *model, p feed.Person) {
	m.UI++
	takePerson(m, p)
	if m.snap != nil {
		m.relist()
	}
	if n := len(p.Problems) + len(m.unbound); n > 0 {
		complain(m, fmt.Sprintf("the preferences were reloaded, with %s; %s shows all",
			widget.Count(n, "error"), m.keys.KeyOf("city.details")))
		return
	}
	say(m, "the preferences were reloaded")
}

// lit handles the terminal's answer about its background.
func lit(m *model, msg tea.BackgroundColorMsg) {
	m.around.ground = groundLight
	if msg.Color == nil || msg.IsDark() {
		m.around.ground = groundDark
	}
	relook(m)
}

// previewTheme applies the theme under the cursor of the finder until the cursor moves.
func previewTheme(m *model) {
	want := ""
	if name, ok := strings.CutPrefix(underFinder(m), themeID); ok && !m.around.noColor {
		want = name
	}
	if want != m.preview {
		m.preview = want
		relook(m)
	}
}

// underFinder returns the line of the row under the finder's cursor, or "". The line of an action is its ID.
func underFinder(m *model) string {
	if f := m.dialogs.finder(); f != nil && f.Current() != nil {
		return f.Current().Line
	}
	return ""
}
