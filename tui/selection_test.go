package tui

import (
	"strings"
	"testing"

	"gcity/city"
	"gcity/tui/feed"
	"gcity/tui/panel"
	"gcity/tui/state"
)

// A visit to another panel does not change the selection in Agents.
func TestEachPanelKeepsItsSelection(t *testing.T) {
	s := worked(t)
	guarded(s)
	s.press("1")
	s.choose("builder")
	for _, key := range []string{"2", "3", "4", "5", "6", "7", "8", "9"} {
		s.press(key, "j", "k", "k", "1")
		if s.m.Agents.SelectedKey != "builder" {
			t.Fatalf("after %s, %s is selected", key, s.m.Agents.SelectedKey)
		}
	}
	s.press("8")
	s.pickWork("gc-7")
	s.press("j")
	at := s.m.Work.SelectedKey
	s.press("1", "j", "8")
	if s.m.Work.SelectedKey != at {
		t.Errorf("the cursor of Work moved from %s to %s", at, s.m.Work.SelectedKey)
	}
}

// If the row under the cursor is not about any agent, the pane says so.
func TestThePaneNamesARowWithoutAnAgent(t *testing.T) {
	s := demo(t, 200, 60)
	guarded(s)
	s.choose("builder")
	s.press("5", "g")
	if w := state.Watching(s.m); w.Agent != "" {
		t.Errorf("the pane shows %q", w.Agent)
	}
	s.shows("The event " + s.m.Events.Called() + " does not belong to an agent that exists.")
	s.watchdog("late", func(w *city.Watchdog) { w.Watches = "gone" })
	s.pointWatchdog("late")
	s.shows("The watchdog late does not belong to an agent that exists.")
	s.press("1")
	s.hides("does not belong to an agent that exists")
	if w := state.Watching(s.m); w.Agent != "builder" {
		t.Errorf("the pane shows %q", w.Agent)
	}
}

// While the pane has the focus, it keeps its agent, although Events moves to the next event.
func TestThePaneKeepsItsAgentWhileItHasTheFocus(t *testing.T) {
	s := demo(t, 200, 60)
	s.press("5", "0")
	shown := state.Watching(s.m).Agent
	s.press("w")
	s.hear(feed.News{Events: happened(1000, 6)})
	s.press("w")
	if w := state.Watching(s.m).Agent; w != shown || shown == "" {
		t.Errorf("the pane went from %q to %q", shown, w)
	}
}

// When a filter is removed, the row that it hid is selected again.
func TestAFilterGivesTheSelectionBack(t *testing.T) {
	for _, size := range [][2]int{{200, 60}, {80, 24}} {
		s := pooled(t, size[0], size[1])
		selects := func(what, want string) {
			t.Helper()
			if got := s.m.Focused().Key(); got != want {
				t.Errorf("%v, %s: %s is selected, not %s", size, what, got, want)
			}
		}
		s.choose("idle")
		for _, keys := range [][]string{{"!", "!"}, {"/", "z", "z", "enter", "esc"}, {"/", "f", "l", "a", "esc"},
			{"/", "f", "z", "z", "z", "enter", "/", "b", "esc"}, {"!", "/", "z", "z", "enter", "esc", "esc"}} {
			s.press(keys...)
			selects(strings.Join(keys, " "), "idle")
		}
		s.press("/", "f", "l", "a", "k", "y", "enter", "esc")
		selects("after a search", "flaky")
		s.choose("idle")
		s.press("!", "j")
		at := s.m.Agents.SelectedKey
		s.press("!")
		selects("after a move", at)
		s.press("2")
		s.pick("worker")
		s.press("!", "!", "/", "z", "z", "enter", "esc")
		selects("in Pools", "worker")
	}
}

// While rows are marked, the footer says so at every size.
func TestMarksAreNamed(t *testing.T) {
	for _, size := range [][2]int{{200, 60}, {120, 40}, {80, 24}, {60, 20}, {40, 10}} {
		s := pooled(t, size[0], size[1])
		s.choose("builder")
		s.press("space", "space", "g")
		lines := strings.Split(strings.TrimSpace(s.text()), "\n")
		if last := lines[len(lines)-1]; !strings.HasPrefix(last, " 2 marked  ") {
			t.Errorf("%v: the footer is %q", size, last)
		}
		s.press("r")
		s.shows("Restart 2 marked agents?")
		s.press("y")
		if e, _ := effectOf[feed.SendCommands](s); e.Title != "restarting 2 marked agents" {
			t.Errorf("%v: the result is about %q", size, e.Title)
		}
		s.choose("builder")
		s.press("space", "g", "s")
		s.shows("Suspend marked agent builder?")
		s.press("esc", "2", "space", "space", "s")
		s.shows("Suspend 2 marked pools?")
		s.press("esc", "5")
		s.hides(" marked  ")
	}
}

// A rig has no terminal, so no pane is shown next to it.
func TestNoPaneShowsAnUnrelatedAgent(t *testing.T) {
	for _, below := range []bool{false, true} {
		for _, size := range [][2]int{{80, 24}, {120, 40}, {200, 60}} {
			s := rigged(t, size[0], size[1])
			s.m.Below = below
			s.shows("path        /srv/attic")
			if state.OnScreen(s.m, panel.IDPeek) {
				t.Errorf("%v: a pane is shown for a rig", size)
			}
			s.press("8")
			s.hear(feed.News{Found: []feed.FoundBeads{}})
			s.m.Work.Known = true
			if s.shows("No bead is selected."); s.m.Watched.Agent != "" {
				t.Errorf("%v: the pane shows %s", size, s.m.Watched.Agent)
			}
			s.press("0")
			s.shows("prober")
		}
	}
}
