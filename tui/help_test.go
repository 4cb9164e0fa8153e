package tui

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"gcity/city"
	"gcity/themes"
	"gcity/tui/dialog"
	"gcity/tui/feed"
	"gcity/tui/fleet"
	"gcity/tui/palette"
	"gcity/tui/panel"
	"gcity/tui/widget"
)

// The help can be scrolled to both ends, and shows its length.
func TestHelpIsReadToItsEnd(t *testing.T) {
	s := demo(t, 60, 20)
	s.press("?")
	s.shows("1 of ", "zoom into the terminal, or show crashes", "· Agents,", "Quarantine")
	s.press("pgdown")
	page := s.m.Dialogs.Finder().Cursor
	if page < 10 {
		t.Errorf("got a page of %d rows", page)
	}
	if s.press("pgdown"); s.m.Dialogs.Finder().Cursor < 2*page-2 {
		t.Errorf("pgdown by %d rows: got the cursor on %d", page, s.m.Dialogs.Finder().Cursor)
	}
	s.press("end")
	if n := len(s.m.Dialogs.Finder().Found); s.m.Dialogs.Finder().Cursor != n-1 {
		t.Errorf("end with %d entries: got the cursor on %d", n, s.m.Dialogs.Finder().Cursor)
	}
	if s.press("home"); s.m.Dialogs.Finder().Cursor != 1 {
		t.Errorf("home: got the cursor on %d", s.m.Dialogs.Finder().Cursor)
	}
	for s.m.Dialogs.Finder().Found[s.m.Dialogs.Finder().Cursor].Line != "pool.scale" {
		s.press("down")
	}
	s.shows("check decide ·", "asks")
}

// On a small screen, the mark for confirmation leaves enough room for the title.
func TestTitlesOfActionsThatAskFit(t *testing.T) {
	asks, mark := 0, regexp.MustCompile(` asks( for the name)? ┃`)
	for _, open := range []func() *stage{
		func() *stage { return demo(t, 80, 24) },
		func() *stage { return lobby(t, 80, 24, Options{}) },
	} {
		s := open()
		s.press("?")
		for range s.m.Dialogs.Finder().Found {
			for l := range strings.SplitSeq(s.text(), "\n") {
				if !mark.MatchString(l) {
					continue
				}
				if asks++; strings.Contains(l, "…") {
					t.Errorf("the title is cut off: %s", l)
				}
			}
			s.press("down")
		}
	}
	if asks == 0 {
		t.Error("no action asks")
	}
}

func TestHelpFits(t *testing.T) {
	s := demo(t, 100, 200)
	s.press("?")
	for _, l := range strings.Split(s.text(), "\n") {
		if strings.Contains(l, "┃   ") && strings.Contains(l, "…") && !strings.HasSuffix(l, " symbol ┃") &&
			!strings.HasSuffix(l, " file ┃") {
			t.Errorf("cut: %s", l)
		}
	}
	s.shows("release or undo: end quarantine, backoff or drain, or undo an action")
}

func TestHelpIgnoresALeadingSlash(t *testing.T) {
	s := demo(t, 120, 40)
	s.press("?", "/", "q", "/")
	if text := s.m.Dialogs.Finder().Edit.String(); text != "q/" {
		t.Errorf("the search text is %q", text)
	}
}

// The search in the help finds the meanings of symbols, and the preferences.
func TestHelpKnowsSignsAndPreferences(t *testing.T) {
	s := newStage(t, Options{Preferences: feed.Preferences{File: "~/.config/gcity/config.toml"}})
	s.size(120, 40)
	s.hear(feed.News{Snap: demoSnapshot(epoch)})
	for text, want := range map[string][]string{
		"prefer": {"columns = [", "[keys]", "in ~/.config/gcity/config.toml"}, "columns": {"the columns of Agents"},
		"prefs": {"theme"}, "legend": {"quarantined", "marked: actions apply to"}, "↻": {"will restart after a delay"}, "◌": {"waiting: it starts"},
		"is sorted": {"next to a column title"},
	} {
		s.press("?")
		s.press(strings.Split(text, "")...)
		s.shows(want...)
		s.press("enter")
		s.press("esc", "esc")
	}
	s.press("?", "↻", "enter")
	s.shows("will restart after a delay")
	s.hides("runs it")
}

// The legend explains the symbol of every state, in Unicode and in ASCII.
func TestTheLegendHasEveryState(t *testing.T) {
	for _, g := range []themes.Glyphs{themes.Unicode(), themes.ASCII()} {
		look := widget.NewStyles(themes.Colorless(), g)
		legend := palette.Legend[int](&look, func(string) string { return "" }, "")
		explained := func(sign, list, word string) {
			if !slices.ContainsFunc(legend, func(row dialog.Item[int]) bool {
				return row.Keys != nil && row.Keys[0] == sign && strings.Contains(row.Title, word)
			}) {
				t.Errorf("%s: %q (%s) is not in the legend", list, sign, word)
			}
		}
		for _, s := range city.States {
			sign, _ := panel.AgentSign(&look, s)
			explained(sign, "agents", string(s))
		}
		for _, s := range []panel.AutomationState{panel.AutomationBroken, panel.AutomationFailing,
			panel.AutomationRunning, panel.AutomationDue, panel.AutomationIdle, panel.AutomationManual, panel.AutomationOff} {
			sign, _ := panel.AutomationSign(&look, s)
			explained(sign, "automations", string(s))
		}
		growing, _ := panel.PoolSign(&look, "growing")
		explained(growing, "pools", "growing")
		for _, c := range demoFleet(epoch).Rows {
			h := fleet.HealthOf(&look, &c)
			explained(h.Sign, "cities", h.Word)
		}
	}
}

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

// The help says by which rule actions ask for confirmation.
func TestHelpExplainsWhichActionsAsk(t *testing.T) {
	s := demo(t, 80, 24)
	s.press("?")
	s.typeIn("asks")
	s.shows("it asks first: actions that stop agents ask, most others do not")
}
