package tui

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"gcity/city"
	"gcity/tui/state"
	"gcity/tui/view"
)

// Small screens also show the keys for the filter, for the help and for leaving.
func TestSmallScreensShowTheHelpKeys(t *testing.T) {
	for _, size := range [][2]int{{60, 20}, {80, 24}, {120, 40}} {
		for _, panel := range []string{"1", "2", "3"} {
			s := pooled(t, size[0], size[1])
			s.press(panel)
			rows := strings.Split(strings.TrimRight(s.text(), "\n"), "\n")
			foot := rows[len(rows)-1]
			what := map[string]string{"2": "S size", "3": "u release"}[panel]
			for _, hint := range []string{"/ filter", "! attention", "? help", "q quit", " enter ", what} {
				narrow := size[0] < 140 // narrow screens have room only for the actions on the selected row
				if !strings.Contains(foot, hint) && !(narrow && hint == "! attention") {
					t.Errorf("%v panel %s: no %q in %q", size, panel, hint, foot)
				}
			}
		}
	}
	s := demo(t, 80, 24)
	s.press("3")
	s.shows("u release  ")
}

// The verbs of the selected agent come before mail and the attention filter.
func TestFooterKeepsTheVerbs(t *testing.T) {
	foot := func(s *stage) string {
		rows := strings.Split(strings.TrimRight(s.text(), "\n"), "\n")
		return rows[len(rows)-1]
	}
	s := demo(t, 80, 24)
	s.change(func(n *city.Snapshot) { n.Mail.Unread = 3 })
	s.choose("builder")
	if got := foot(s); got != " enter zoom  a attach  r restart  D drain  s suspend  / filter  ? help  q quit" {
		t.Errorf("%q", got)
	}
	s.size(40, 10)
	if got := foot(s); got != " enter zoom  a attach  r restart  ? help" {
		t.Errorf("%q", got)
	}
	s.size(120, 40)
	s.press("enter")
	if got := foot(s); strings.Count(got, "attach") != 1 {
		t.Errorf("%q", got)
	}
	s = among(t, 80, 24)
	s.choose("builder")
	if got := foot(s); got != " enter zoom  a attach  r restart  D drain  s suspend  / filter  ? help  q quit" {
		t.Errorf("several cities: %q", got)
	}
	s.shows("@!4") // the header has the key for other cities
}

// The footer of the zoomed pane offers enter only if the agent has a terminal.
func TestZoomedFooterWithoutATerminal(t *testing.T) {
	s := demo(t, 120, 40)
	s.choose("scout")
	if s.press("0"); !strings.Contains(ansi.Strip(view.Footer(s.m, 120)), "enter zoom") {
		t.Errorf("before: %s", ansi.Strip(view.Footer(s.m, 120)))
	}
	if s.press("enter"); strings.Contains(ansi.Strip(view.Footer(s.m, 120)), "enter ") {
		t.Errorf("zoomed: %s", ansi.Strip(view.Footer(s.m, 120)))
	}
	s.press("enter")
	s.shows("cannot zoom or attach: scout is quarantined and has no session; u releases it")
	s.hides("Not attached")
}

// When the pane or a list is zoomed, the footer begins with the key that goes back.
func TestAZoomNamesTheWayBack(t *testing.T) {
	s := demo(t, 80, 24)
	s.choose("builder")
	for _, key := range []string{"enter", "f"} {
		s.hides("esc back")
		s.press(key)
		s.shows("\n esc back  ")
		s.press("esc")
		s.hides("esc back")
	}
}

// The footer says whether the quit key asks for confirmation.
func TestFooterDistinguishesLeaveFromQuit(t *testing.T) {
	s := demo(t, 80, 24)
	s.shows("q quit")
	s.m.Mode = state.Joined
	s.m.UI++
	s.shows("q quit")
}

// At 120 columns, the verbs for an agent have priority over keys that ? lists.
func TestTheFooterAt120ColumnsHasTheVerbsOfAnAgent(t *testing.T) {
	for _, fleet := range []bool{false, true} {
		s := demo(t, 120, 36)
		if fleet {
			s = among(t, 120, 36)
			withMail(s)
		}
		s.choose("builder")
		s.shows("enter zoom", "a attach", "r restart", "D drain", "s suspend", "i send", "d details", "/ filter", "? help")
	}
}
