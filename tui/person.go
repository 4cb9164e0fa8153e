package tui

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"

	"gcity/internal/detach"
	"gcity/themes"
	"gcity/tui/feed"
	"gcity/tui/keymap"
	"gcity/tui/panel"
	"gcity/tui/widget"
)

// AutoTheme follows the terminal: dark or light. While its background is unknown, the theme of Options applies.
const AutoTheme = "auto"

// surroundings are the known properties of the terminal, apart from preferences.
type surroundings struct {
	theme   themes.Theme
	ascii   bool
	calm    bool
	noColor bool
	below   bool // the pane is below the lists by default
	ground  ground
}

func newSurroundings(o Options) surroundings {
	return surroundings{theme: o.Theme, ascii: o.ASCII, calm: o.ReducedMotion, noColor: o.NoColor,
		below: o.OverSSH, ground: groundOf(o.Environ)}
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
	m.ui++
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

// mistakesOf returns the problems of the preferences and of the city's theme, for the header.
func mistakesOf(m *model) []string {
	var all []string
	for _, p := range append(m.person.Problems[:len(m.person.Problems):len(m.person.Problems)],
		m.unbound...) {
		all = append(all, "preferences: "+widget.PlainText(p))
	}
	if name := cityTheme(m); name != "" && themeCalled(m, name) == nil && name != AutoTheme {
		all = append(all, fmt.Sprintf("city.toml asks for the unknown theme %q",
			widget.Plain(name)))
	}
	return all
}

// relook applies the wanted theme and characters. It asks for the terminal's background if a theme depends on it.
func relook(m *model) {
	ascii := m.around.ascii
	if m.person.ASCII != nil {
		ascii = *m.person.ASCII
	}
	names := themeNames(m)
	if !m.glanced && m.around.ground == groundUnknown && slices.Contains(names[:], AutoTheme) {
		m.glanced = true
		m.todo = append(m.todo, feed.AskBackground{})
	}
	t := wantedTheme(m)
	if t == m.theme && ascii == m.ascii {
		return
	}
	glyphs := themes.Unicode()
	if ascii {
		glyphs = themes.ASCII()
	}
	m.theme, m.ascii = t, ascii
	m.look = widget.NewStyles(t, glyphs)
	m.ui++
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

// lit handles the terminal's answer about its background.
func lit(m *model, msg tea.BackgroundColorMsg) {
	m.around.ground = groundLight
	if msg.Color == nil || msg.IsDark() {
		m.around.ground = groundDark
	}
	relook(m)
}

const themeID = "theme."

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
