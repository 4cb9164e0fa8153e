package tui

import (
	"testing"

	"gcity/tui/panel"
	"gcity/tui/state"
)

// If there is room for only one panel below a list, that panel shows the details of the selected row, and not the
// terminal of an unrelated agent. The pane comes back when it gets the focus.
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
		t.Error("a screen with room for both does not show both")
	}
	s.press("2") // the pane would show an agent that has nothing to do with the pool
	if state.OnScreen(s.m, panel.IDPeek) || !state.OnScreen(s.m, panel.IDDetail) {
		t.Error("the pane of another agent is next to the pool")
	}
}
