package tui

import (
	"image/color"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"gcity/city"
	"gcity/internal/detach"
	"gcity/themes"
	"gcity/tui/feed"
	"gcity/tui/keymap"
	"gcity/tui/panel"
	"gcity/tui/state"
	"gcity/tui/view"
	"gcity/tui/widget"
)

// The user's theme has priority over the city's theme, and the city's theme over the default.
func TestThemePriority(t *testing.T) {
	for _, c := range []struct {
		person, city string
		noColor      bool
		want         string
	}{
		{"", "", false, "terminal"},
		{"", "light", false, "light"},
		{"dark", "light", false, "dark"},
		{"", "no-such-theme", false, "terminal"},
		{"auto", "light", false, "light"}, // the background is not known yet
		{"dark", "", true, "colorless"},
	} {
		s := newStage(t, Options{NoColor: c.noColor, Preferences: feed.Preferences{Theme: c.person}})
		s.size(120, 40)
		s.hear(feed.News{Snap: demoSnapshot(epoch)})
		s.change(func(n *city.Snapshot) { n.Console.Theme = c.city })
		if got := s.m.Theme.Name; got != c.want {
			t.Errorf("user %q, city %q: %s, want %s", c.person, c.city, got, c.want)
		}
		if unknown := c.city == "no-such-theme"; unknown != strings.Contains(s.text(), `sets an unknown theme: "no-such-theme"`) {
			t.Errorf("city %q: the unknown theme is reported: %v", c.city, !unknown)
		}
	}
}

func TestAutoFollowsTheTerminal(t *testing.T) {
	for env, want := range map[string]string{"COLORFGBG=15;0": "dark", "COLORFGBG=0;15": "light", "COLORFGBG=0;default;7": "light",
		"COLORFGBG=": "terminal", "COLORFGBG=0;99": "terminal", "LANG=C": "terminal"} {
		s := newStage(t, Options{Environ: []string{env}, Preferences: feed.Preferences{Theme: state.AutoTheme}})
		if got := s.m.Theme.Name; got != want {
			t.Errorf("%s: %s, want %s", env, got, want)
		}
	}
	s := newStage(t, Options{Environ: []string{"COLORFGBG=15;0"}, Preferences: feed.Preferences{Theme: state.AutoTheme}})
	s.wait(time.Second)
	if _, asked := effectOf[feed.QueryBackground](s); asked {
		t.Error("a known background is queried again")
	}
	s.send(tea.BackgroundColorMsg{Color: color.White})
	if got := s.m.Theme.Name; got != "light" {
		t.Errorf("in a light terminal: %s", got)
	}
}

// If the theme depends on an unknown background, the room queries the background once.
func TestAutoAsksOnce(t *testing.T) {
	s := newStage(t, Options{Preferences: feed.Preferences{Theme: "dark"}})
	s.size(120, 40)
	if _, asked := effectOf[feed.QueryBackground](s); asked {
		t.Error("the terminal is queried although the theme does not depend on it")
	}
	s.hear(feed.News{Preferences: &feed.Preferences{Theme: state.AutoTheme}})
	if _, asked := effectOf[feed.QueryBackground](s); !asked {
		t.Error("the terminal is not queried")
	}
	s.hear(feed.News{Preferences: &feed.Preferences{Theme: state.AutoTheme}})
	if _, asked := effectOf[feed.QueryBackground](s); asked {
		t.Error("the terminal is queried again")
	}
	s.send(tea.BackgroundColorMsg{Color: color.Black})
	if got := s.m.Theme.Name; got != "dark" {
		t.Errorf("in a dark terminal: %s", got)
	}
}

// The default theme has darker colors on a light background.
func TestDefaultThemeOnALightBackground(t *testing.T) {
	warning := func(o Options, msgs ...tea.Msg) string {
		s := newStage(t, o)
		s.size(120, 40)
		_, asked := effectOf[feed.QueryBackground](s)
		s.hear(feed.News{Snap: demoSnapshot(epoch)})
		if depends := o.Preferences.Theme == "" && !o.NoColor; asked != depends {
			t.Errorf("theme %q: the terminal is queried: %v", o.Preferences.Theme, asked)
		}
		for _, m := range msgs {
			s.send(m)
		}
		return s.m.Theme.Style(themes.Warn).Text
	}
	light, chosen := tea.BackgroundColorMsg{Color: color.White}, feed.Preferences{Theme: "terminal"}
	for want, got := range map[string][]string{
		"94": {warning(Options{}, light)},
		"3": {warning(Options{}), warning(Options{}, tea.BackgroundColorMsg{Color: color.Black}),
			warning(Options{Preferences: chosen}, light)},
		"": {warning(Options{NoColor: true}, light)},
	} {
		for i, g := range got {
			if g != want {
				t.Errorf("%s, case %d: the color of warnings is %q", want, i, g)
			}
		}
	}
}

// Moving the cursor to a theme in the palette previews it, and esc restores the old theme.
func TestThemePreview(t *testing.T) {
	s := newStage(t, Options{Preferences: feed.Preferences{File: "/home/a/.config/gcity/config.toml"}})
	s.size(120, 40)
	s.hear(feed.News{Snap: demoSnapshot(epoch)})
	find := func(name string) {
		s.press(":")
		s.typeIn("theme " + name)
	}
	find("high-contrast")
	if got := s.m.Theme.Name; got != "high-contrast" {
		t.Fatalf("over the theme: %s", got)
	}
	s.press("esc")
	if got := s.m.Theme.Name; got != "terminal" {
		t.Fatalf("after esc: %s", got)
	}
	find("high-contrast")
	s.press("enter")
	if got := s.m.Theme.Name; got != "high-contrast" {
		t.Fatalf("after enter: %s", got)
	}
	s.shows(`theme = "high-contrast" in /home/a/.config/gcity/config.toml`)
}

// Changed preferences take effect immediately, and every text that contains a key shows the new key.
func TestPreferencesAreReloadedInAnOpenRoom(t *testing.T) {
	s := demo(t, 120, 40)
	leave, err := detach.Parse("ctrl+]")
	if err != nil {
		t.Fatal(err)
	}
	yes := true
	s.hear(feed.News{Preferences: &feed.Preferences{Theme: "light", ASCII: &yes, Detach: leave, Keys: []keymap.Binding{
		{Action: "agent.restart", Keys: []string{"R"}, Position: "config.toml:3:1"}, {Action: "focus.pools", Keys: []string{"Y"}, Position: "config.toml:4:1"}, {Action: "agent.attach", Keys: nil, Position: "config.toml:5:1"}}}})
	if s.m.Theme.Name != "light" || !s.m.ASCII {
		t.Errorf("theme %s, ascii %v", s.m.Theme.Name, s.m.ASCII)
	}
	s.shows("R restart", "Y Pools", "the preferences were reloaded")
	s.hides("r restart", "a attach", "●")
	s.press("R")
	if s.m.Dialogs.Choice() == nil {
		t.Error("R does not restart")
	}
	s.press("esc", "?")
	s.press(strings.Split("terminal; ", "")...)
	s.shows("ctrl+] detaches")
	s.hear(feed.News{Preferences: &feed.Preferences{Problems: []string{"config.toml:1:9: theme: \"drak\" is not known"},
		Keys: []keymap.Binding{{Action: "agent.restrat", Keys: []string{"R"},
			Position: "config.toml:3:1"}}}})
	s.press("esc")
	s.shows(`drak`, "with 2 errors", "r restart")
	if s.m.Theme.Name != "terminal" {
		t.Errorf("after the theme was removed: %s", s.m.Theme.Name)
	}
	s.press("c")
	s.shows(`preferences: config.toml:3:1: keys: unknown action "agent.restrat"; did you mean "agent.restart"?`)
}

// The color of a city is the background of its name. It does not change the width of the line.
func TestCityBadge(t *testing.T) {
	s := demo(t, 120, 40)
	before := view.Draw(s.m).Lines[0]
	s.change(func(n *city.Snapshot) { n.Console.Color = "5" })
	after := view.Draw(s.m).Lines[0]
	if before == after || !strings.Contains(after, "35") || widget.Width(after) != 120 {
		t.Errorf("the header with a color, %d columns: %q", widget.Width(after), after)
	}
	s.change(func(n *city.Snapshot) { n.Console.Color = "\x1b[2J" })
	if got := view.Draw(s.m).Lines[0]; strings.Contains(got, "2J") {
		t.Errorf("an invalid color is painted: %q", got)
	}
	plainly := newStage(t, Options{NoColor: true})
	plainly.size(120, 40)
	plainly.hear(feed.News{Snap: demoSnapshot(epoch)})
	plainly.change(func(n *city.Snapshot) { n.Console.Color = "5" })
	if got := view.Draw(plainly.m).Lines[0]; strings.Contains(got, "35") {
		t.Errorf("NO_COLOR and a color: %q", got)
	}
}

func TestChosenColumns(t *testing.T) {
	s := newStage(t, Options{Preferences: feed.Preferences{Columns: []string{"cpu", "name", "why", "age", "task", "pid", "restarts"}}})
	s.size(200, 60)
	s.hear(feed.News{Snap: demoSnapshot(epoch), Events: demoEvents(epoch)})
	head := headLine(t, s)
	at := -1
	for _, want := range []string{"cpu", "name", "why", "for", "pid", "restarts"} {
		next := strings.Index(head, want)
		if next <= at {
			t.Errorf("%q: %s is not at the configured position", head, want)
		}
		at = next
	}
	if strings.Contains(head, "task") || strings.Contains(head, "state") {
		t.Errorf("%q has a column without data, or one that is not configured", head)
	}
	s.size(60, 30)
	if head := headLine(t, s); strings.Contains(head, "restarts") || !strings.Contains(head, "name") {
		t.Errorf("narrow: %q", head)
	}
	for w := 20; w < 220; w += 7 {
		for _, names := range [][]string{{"name"}, {"why", "name"}, panel.ColumnNames(), {"pid", "state", "name"}} {
			s.m.Agents.Chosen = panel.ChosenColumns(names)
			c := s.m.Agents.Columns(s.m.Env(), s.m.Agents.Visible(), w)
			if len(c) == 0 {
				t.Fatalf("%d columns: got none of %v", w, names)
			}
			for i := range s.m.Agents.Rows {
				l := panel.RowLine(&s.m.Look, c, s.m.Agents.Rows[i], widget.RowState{})
				if line := l.Fill(w); widget.Width(line) != w {
					t.Fatalf("%v in %d columns: got %d columns, %q",
						names, w, widget.Width(line), line)
				}
			}
		}
	}
}

func headLine(t *testing.T, s *stage) string {
	t.Helper()
	for line := range strings.SplitSeq(s.text(), "\n") {
		if strings.Contains(line, "name") && (strings.Contains(line, "why") || strings.Contains(line, "cpu")) {
			return line
		}
	}
	t.Fatalf("no headings:\n%s", s.text())
	return ""
}

func TestOwnThemes(t *testing.T) {
	mine, err := themes.Parse("mine", []byte("description = 'sand'\n[styles]\naccent = '#c2b280'"))
	if err != nil {
		t.Fatal(err)
	}
	s := newStage(t, Options{Preferences: feed.Preferences{Theme: "mine", Themes: []themes.Theme{mine}}})
	s.size(120, 40)
	s.hear(feed.News{Snap: demoSnapshot(epoch)})
	if s.m.Theme.Name != "mine" {
		t.Errorf("theme: %s", s.m.Theme.Name)
	}
	s.press(":")
	s.press(strings.Split("sand", "")...)
	s.shows("use theme mine: sand")
	other, _ := themes.Parse("mine", []byte("[styles]\naccent = 'red'"))
	s.hear(feed.News{Preferences: &feed.Preferences{Theme: "mine", Themes: []themes.Theme{other}}})
	if s.m.Theme != other {
		t.Error("a changed theme is not drawn again")
	}
	s.wait(time.Second)
}

// The user's preference determines when the room asks for confirmation.
func TestHowMuchIsAsked(t *testing.T) {
	s := demo(t, 120, 40)
	s.choose("builder")
	s.hear(feed.News{Preferences: &feed.Preferences{Confirm: "never"}})
	s.press("r")
	if s.m.Dialogs.Choice() != nil || len(s.commands()) != 1 {
		t.Errorf("confirm = never: asked %v, got %d commands",
			s.m.Dialogs.Choice() != nil, len(s.commands()))
	}
	s.hear(feed.News{Preferences: &feed.Preferences{}})
	s.press("r")
	if s.m.Dialogs.Choice() == nil {
		t.Error("confirm = normal: got no question")
	}
}
