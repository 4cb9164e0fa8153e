package tui

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"

	"gcity/internal/detach"
	"gcity/themes"
	"gcity/tui/keymap"
	"gcity/tui/panel"
	"gcity/tui/widget"
)

// Person is what belongs to whoever sits in front of the screen. It may change while the room is open; nothing in it is
// changed by the room. The zero value asks for nothing.
type Person struct {
	// one of Themes by name, AutoTheme, or "" = the city's, else that of the Options
	Theme         string
	Themes        []themes.Theme   // that can be chosen; nil = those that come with gcity
	ASCII         *bool            // nil = as the Options say
	ReducedMotion bool             // besides what the Options say
	Columns       []string         // of agents, see ColumnNames; nil = the usual ones
	Confirm       string           // "normal", "always" or "never"; "" = normal
	Detach        detach.Key       // leaves an attached terminal
	Keys          []keymap.Binding // in the order in which they were written
	File          string           // where all of this is written, "" = nowhere; for texts
	Problems      []string         // what could not be read of it, each with its place
}

// AutoTheme is dark or light as the terminal is, and the theme of the Options while that is not known.
const AutoTheme = "auto"

// surroundings are what the room knows of its terminal before it knows whose it is.
type surroundings struct {
	theme   themes.Theme
	ascii   bool
	calm    bool
	noColor bool
	below   bool // the pane usually is
	ground  ground
}

func newSurroundings(o Options) surroundings {
	return surroundings{theme: o.Theme, ascii: o.ASCII, calm: o.ReducedMotion, noColor: o.NoColor,
		below: o.OverSSH, ground: groundOf(o.Environ)}
}

// ground says whether the terminal is dark or light.
type ground int

const (
	groundUnknown ground = iota
	groundDark
	groundLight
)

// groundOf reads COLORFGBG, which some terminals set: "15;0", the last number is the background.
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

// takePerson lets what a person prefers count from now on.
func (m *model) takePerson(p Person) {
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
	for _, id := range []string{"agent.attach"} { // what it does names the key
		a := m.keys.ByID(id)
		a.Key.SetHelp(a.Key.Help().Key, strings.ReplaceAll(a.Title(), detach.Usual,
			p.Detach.String()))
	}
	m.theme, m.preview = themes.Theme{}, ""
	m.relook()
}

// reread is takePerson while the room is open, and says so.
func (m *model) reread(p Person) {
	m.ui++
	m.takePerson(p)
	if m.snap != nil {
		m.relist()
	}
	if n := len(p.Problems) + len(m.unbound); n > 0 {
		m.complain(fmt.Sprintf("the preferences were read anew, with %s; %s shows all",
			widget.Count(n, "mistake"), m.keys.KeyOf("city.details")))
		return
	}
	m.say("the preferences were read anew")
}

// mistakes are what is wrong with the preferences, for the problems of the header.
func (m *model) mistakes() []string {
	var all []string
	for _, p := range append(m.person.Problems[:len(m.person.Problems):len(m.person.Problems)],
		m.unbound...) {
		all = append(all, "preferences: "+widget.PlainText(p))
	}
	if name := m.cityTheme(); name != "" && m.themeCalled(name) == nil && name != AutoTheme {
		all = append(all, fmt.Sprintf("city.toml asks for the theme %q, which is not here",
			widget.Plain(name)))
	}
	return all
}

// relook paints everything as the theme that is wanted now asks for it.
func (m *model) relook() {
	ascii := m.around.ascii
	if m.person.ASCII != nil {
		ascii = *m.person.ASCII
	}
	names := m.themeNames()
	if !m.glanced && m.around.ground == groundUnknown && slices.Contains(names[:], AutoTheme) {
		m.glanced = true
		m.todo = append(m.todo, glance{})
	}
	t := m.wantedTheme()
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

// glance asks how bright the terminal is. Nobody waits for the answer: it may never come.
type glance struct{}

func (glance) effect() {}

// themeNames are the themes that somebody wants, who counts most first, "" = none: what the palette shows just now,
// what was chosen there, the person's own, the city's.
func (m *model) themeNames() [4]string {
	return [4]string{m.preview, m.tried, m.person.Theme, m.cityTheme()}
}

// wantedTheme is the first of them that there is.
func (m *model) wantedTheme() themes.Theme {
	if m.around.noColor {
		return themes.Colourless()
	}
	for _, name := range m.themeNames() {
		if name == AutoTheme {
			name = [...]string{"", "dark", "light"}[m.around.ground]
		}
		if t := m.themeCalled(name); t != nil {
			return *t
		}
	}
	return m.around.theme
}

func (m *model) cityTheme() string {
	if m.snap == nil {
		return ""
	}
	return m.snap.Console.Theme
}

func (m *model) themeCalled(name string) *themes.Theme {
	for i := range m.person.Themes {
		if t := &m.person.Themes[i]; t.Name == name && name != "" {
			return t
		}
	}
	return nil
}

// lit takes the terminal's answer to how bright it is.
func (m *model) lit(msg tea.BackgroundColorMsg) {
	m.around.ground = groundLight
	if msg.Color == nil || msg.IsDark() {
		m.around.ground = groundDark
	}
	m.relook()
}

const themeID = "theme."

// themeActions choose a theme. Over one of them the finder shows it at once.
func themeActions(all []themes.Theme) []action {
	choose := func(name, does string) action {
		return action{ID: themeID + name, Key: keymap.Bind(does),
			In: []keymap.Zone{keymap.Everywhere}, Why: needColours,
			Run: func(m *model) []effect { m.tryTheme(name); return nil }}
	}
	actions := []action{choose(AutoTheme, "theme: dark or light, as the terminal is")}
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
		return "NO_COLOR is set, so there is only bold and faint"
	}
	return ""
}

// tryTheme takes a theme until the room is left, and says what makes it stay.
func (m *model) tryTheme(name string) {
	m.tried = name
	m.relook()
	said := fmt.Sprintf("the theme is %s", widget.Plain(name))
	if m.person.File != "" { // the file first: narrow screens cut the end
		said = fmt.Sprintf("theme = %q in %s keeps it; else it is so until you leave",
			widget.Plain(name), widget.Plain(m.person.File))
	}
	m.say(said)
}

// previewTheme shows the theme under the cursor of the finder, and takes it back when the cursor leaves it.
func (m *model) previewTheme() {
	want := ""
	if name, ok := strings.CutPrefix(m.underFinder(), themeID); ok && !m.around.noColor {
		want = name
	}
	if want != m.preview {
		m.preview = want
		m.relook()
	}
}

// underFinder is what the line under the finder's cursor would type, of an action its id, "" = none.
func (m *model) underFinder() string {
	if f := m.dialogs.finder(); f != nil && f.Current() != nil {
		return f.Current().Line
	}
	return ""
}
