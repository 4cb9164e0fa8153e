package tui

import (
	"slices"
	"testing"

	tea "charm.land/bubbletea/v2"

	"gcity/city"
	"gcity/tui/panel"
	"gcity/tui/state"
)

// On screens of at least 180 columns, the pane has at least 100 columns.
func TestListsWidth(t *testing.T) {
	for w, want := range map[int]int{160: 72, 179: 80, 180: 79, 200: 99, 220: 119, 221: 120, 235: 134, 240: 139, 300: 146} {
		if got := state.ListsWidth(w); got != want {
			t.Errorf("%d columns: %d, want %d", w, got, want)
		}
	}
	for w := 180; w <= 400; w++ {
		if pane := w - 1 - state.ListsWidth(w); pane < 100 {
			t.Errorf("%d columns: got a pane of %d columns", w, pane)
		}
	}
}

// On a screen of 247 columns, rows are complete.
func TestABroadScreenShowsWholeRows(t *testing.T) {
	s := demo(t, 247, 60)
	s.shows("for    cpu  from 10:42", "mem  restarts      pid", "110M         -     4202", `"./prober": no such file; is it built? · restarts in 18s`,
		`waits for a line that starts with "> " · ready within 57s`, "crashed 6× in 4m, last: exit 3 · retries in 54m")
	s = demo(t, 200, 60)
	s.shows("for    cpu  from 10:42", "    mem ", "builds and tests", "· attached")
	s.change(func(n *city.Snapshot) {
		for i := range n.Agents {
			a := &n.Agents[i]
			a.Reason, a.Description, a.Until, a.Drift = "ready at once", "builds the demo project", nil, nil
		}
	})
	s.shows("for    cpu  from 10:42", "    mem ", "builds the d")
	s.hides("mem  restarts")
}

func TestTinyScreenSaysWhatItNeeds(t *testing.T) {
	for _, size := range [][2]int{{39, 9}, {30, 4}, {20, 5}} {
		s := demo(t, size[0], size[1])
		s.shows("bright", "needs 40x10")
	}
	demo(t, 39, 9).shows("3 in trouble", "needs 40x10, this is 39x9")
	demo(t, 20, 5).shows("…")
	demo(t, 40, 10).hides("needs")
}

// On screens of at least 120 columns, the details of the selected agent are next to the pane.
func TestDetailsAreNextToThePane(t *testing.T) {
	for _, size := range [][2]int{{119, 40}, {120, 40}, {159, 45}, {200, 60}} {
		s := demo(t, size[0], size[1])
		s.choose("builder")
		s.m.Agents.Chosen = panel.ChosenColumns([]string{"name"}) // there is no column for reasons
		at := slices.IndexFunc(state.Areas(s.m), func(a state.Area) bool { return a.Panel == panel.IDDetail })
		if at >= 0 != (size[0] >= 120) {
			t.Fatalf("%v: the details have the index %d", size, at)
		}
		if at < 0 {
			continue
		}
		s.shows("builds and tests the demo project", "ready after 0.4s", "in /srv/bright-lights")
		a := state.Areas(s.m)[at]
		s.send(tea.MouseClickMsg{X: a.X + 3, Y: a.Y + 2, Button: tea.MouseLeft})
		if s.m.Focus != panel.IDAgents || s.m.Agents.SelectedKey != "builder" {
			t.Errorf("%v: a click on the details goes to %s", size, s.m.Focus)
		}
		s.click("0 builder")
		if s.m.Focus != panel.IDPeek {
			t.Errorf("%v: a click on the pane goes to %s", size, s.m.Focus)
		}
	}
}
