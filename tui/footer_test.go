package tui

import (
	"strings"
	"testing"
)

// Small screens also show the keys of the palette and the help.
func TestSmallScreensTellTheKeysThatHelp(t *testing.T) {
	for _, size := range [][2]int{{60, 20}, {80, 24}, {120, 40}} {
		for _, panel := range []string{"1", "2", "3"} {
			s := pooled(t, size[0], size[1])
			s.press(panel)
			rows := strings.Split(strings.TrimRight(s.text(), "\n"), "\n")
			foot := rows[len(rows)-1]
			what := map[string]string{"2": "S size", "3": "u release"}[panel]
			for _, hint := range []string{"/ filter", "! attention", "? help", "q quit", " enter ", what} {
				narrow := size[0] < 76 // what can be done here is worth more there
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
