package tui

import (
	"testing"

	"gcity/tui/feed"
	"gcity/tui/panel"
	"gcity/tui/state"
	"gcity/tui/terminal"
)

// A single panel below a list shows the details of the selected row, not the terminal of an unrelated agent.
func TestTheLowerHalfIsAboutTheSelectedRow(t *testing.T) {
	s := pooled(t, 80, 24)
	for _, key := range []string{"2", "7"} {
		s.press("1", key)
		if state.OnScreen(s.m, panel.IDPeek) || !state.OnScreen(s.m, panel.IDDetail) {
			t.Errorf("%s shows the pane of an agent below the list", s.m.Focused().About().Title)
		}
		s.press("0")
		if !state.OnScreen(s.m, panel.IDPeek) || state.OnScreen(s.m, panel.IDDetail) {
			t.Errorf("%s has no pane", s.m.Focused().About().Title)
		}
	}
	s.press("2")
	s.pick("worker")
	s.shows("─ pool worker ──", "● running      worker-1")
	s.press("1")
	s.hides("─ pool worker ──")
	s.size(120, 40)
	s.press("8")
	if !state.OnScreen(s.m, panel.IDPeek) || !state.OnScreen(s.m, panel.IDDetail) {
		t.Error("a large screen does not show both the pane and the details")
	}
	s.press("2") // the pane would show an agent that has nothing to do with the pool
	if state.OnScreen(s.m, panel.IDPeek) || !state.OnScreen(s.m, panel.IDDetail) {
		t.Error("the pane of another agent is next to the pool")
	}
}

// If a filter hides all rows, the pane and the description show that nothing is selected.
func TestNothingIsDescribedWhileAFilterHidesAllRows(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {120, 40}, {200, 60}} {
		for id, noun := range map[string]string{"agents": "agent", "pools": "pool", "rigs": "rig", "automations": "automation",
			"work": "bead", "mail": "message", "events": "event", "watchdogs": "watchdog"} {
			s := pooled(t, size[0], size[1])
			s.choose("builder")
			s.hear(feed.News{Pane: &terminal.News{Agent: "builder", Session: "builder-1", Screen: terminalWith("output of builder\r\n")}})
			s.shows("output of builder")
			s.out = perform(s.m, actionOf(s.m, "focus."+id))
			if _, _, _, total := s.m.Focused().Cursor(); total == 0 {
				continue
			}
			s.press("/")
			s.typeIn("zzqq")
			s.press("enter")
			s.shows("No " + noun + " is selected: the filter hides all rows.")
			s.hides("output of builder", "keeps the main branch green")
			if got := state.Watching(s.m).Agent; got != "" {
				t.Errorf("%v, %s: the pane shows %s", size, id, got)
			}
		}
	}
}
