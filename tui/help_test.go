package tui

import (
	"strings"
	"testing"

	"gcity/tui/feed"
)

// The help can be scrolled by pages and to its ends. It shows its length, and the full text of a row under the cursor
// that is shortened.
func TestHelpIsReadToItsEnd(t *testing.T) {
	s := demo(t, 60, 20)
	s.press("?")
	s.shows("1 of ", "zoom into the terminal; in Quarantine: show the", "Agents, Quarantine")
	s.press("pgdown")
	page := s.m.Dialogs.Finder().Cursor
	if page < 10 {
		t.Errorf("a page of %d rows", page)
	}
	if s.press("pgdown"); s.m.Dialogs.Finder().Cursor < 2*page-2 {
		t.Errorf("a page of %d rows moves the cursor to %d", page, s.m.Dialogs.Finder().Cursor)
	}
	s.press("end")
	if n := len(s.m.Dialogs.Finder().Found); s.m.Dialogs.Finder().Cursor != n-1 {
		t.Errorf("the last of %d entries is %d", n, s.m.Dialogs.Finder().Cursor)
	}
	if s.press("home"); s.m.Dialogs.Finder().Cursor != 1 { // below the first heading
		t.Errorf("the first entry is %d", s.m.Dialogs.Finder().Cursor)
	}
	for s.m.Dialogs.Finder().Found[s.m.Dialogs.Finder().Cursor].Line != "pool.scale" {
		s.press("down")
	}
	s.shows("Pools, asks for confirmation")
}

// On a screen of 100 columns, no action in the help is cut.
func TestHelpFits(t *testing.T) {
	s := demo(t, 100, 200)
	s.press("?")
	for _, l := range strings.Split(s.text(), "\n") {
		if strings.Contains(l, "┃   ") && strings.Contains(l, "…") && !strings.HasSuffix(l, " symbol ┃") &&
			!strings.HasSuffix(l, " file ┃") {
			t.Errorf("cut: %s", l)
		}
	}
	s.shows("release or undo: end quarantine, backoff or drain; otherwise undo (30s)")
}

// The key that searches elsewhere does not become part of the search in the help.
func TestHelpIgnoresALeadingSlash(t *testing.T) {
	s := demo(t, 120, 40)
	s.press("?", "/", "q", "/")
	if text := s.m.Dialogs.Finder().Edit.String(); text != "q/" {
		t.Errorf("the search text is %q", text)
	}
}

// The meanings of the symbols, and the preferences file, are found by words that a user would search for.
func TestHelpKnowsSignsAndPreferences(t *testing.T) {
	s := newStage(t, Options{Preferences: feed.Preferences{File: "~/.config/gcity/config.toml"}})
	s.size(120, 40)
	s.hear(feed.News{Snap: demoSnapshot(epoch)})
	for text, want := range map[string][]string{
		"prefer": {"columns = [", "[keys]", "in ~/.config/gcity/config.toml"}, "columns": {"the columns of Agents"},
		"prefs": {"theme"}, "legend": {"quarantined", "marked: actions apply to"}, "↻": {"restarts after a delay"}, "◌": {"waiting: it starts"},
		"is sorted": {"next to a column title"},
	} {
		s.press("?")
		s.press(strings.Split(text, "")...)
		s.shows(want...)
		s.press("enter")
		s.press("esc", "esc")
	}
	s.press("?", "↻", "enter")
	s.shows("restarts after a delay")
	s.hides("runs it")
}

// The help begins with the keys of the focused panel. The other keys follow by section. A search hides the headings.
func TestHelpBeginsWithWhatWorksHere(t *testing.T) {
	for key, want := range map[string][]string{"1": {"Works here: Agents", "agent.zoom"}, "2": {"Works here: Pools", "pool.member"}, "0": {"Works here: Pane", "peek"}} {
		s := pooled(t, 120, 40)
		s.choose("builder")
		s.press(key, "?")
		f := s.m.Dialogs.Finder()
		s.shows(want[0])
		var heads []string
		for i, item := range f.Found {
			if item.Heading {
				heads = append(heads, item.Title)
			} else if len(heads) == 1 && item.WhyUnavailable() != "" {
				t.Errorf("%q does not work here: %s", item.Line, item.WhyUnavailable())
			}
			if i == f.Cursor && !strings.HasPrefix(item.Line, want[1]) && key != "0" {
				t.Errorf("%s: the cursor is on %q", want[0], item.Line)
			}
		}
		if all := strings.Join(heads, ","); !strings.Contains(all, "Move,Look,Agent,") || !strings.HasSuffix(all, "Screen,Symbols and files") {
			t.Errorf("sections: %s", all)
		}
		for range f.Found {
			if f.Current().Heading {
				t.Fatal("the cursor is on a heading")
			}
			s.press("down")
		}
		s.press("m", "o", "v", "e")
		for _, item := range f.Found {
			if item.Heading {
				t.Errorf("a search shows the heading %q", item.Title)
			}
		}
	}
}
