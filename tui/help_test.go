package tui

import (
	"strings"
	"testing"
)

// The help is walked through by pages and to its ends, says how long it is, and shows what its rows have no room for.
func TestHelpIsReadToItsEnd(t *testing.T) {
	s := demo(t, 60, 20)
	s.press("?")
	s.shows("1 of ", "zoom into the terminal; in Quarantine: the crashes", "Agents, Quarantine")
	page := s.m.finder.page
	if s.press("pgdown"); s.m.finder.at != page || page < 10 {
		t.Errorf("a page of %d rows leads to %d", page, s.m.finder.at)
	}
	s.press("end")
	if n := len(s.m.finder.found); s.m.finder.at != n-1 {
		t.Errorf("the end of %d is %d", n, s.m.finder.at)
	}
	if s.press("home"); s.m.finder.at != 0 {
		t.Errorf("the beginning is %d", s.m.finder.at)
	}
	for s.m.finder.found[s.m.finder.at].line != "pool.scale" {
		s.press("down")
	}
	s.shows("Pools, asks first")
	wide := demo(t, 200, 60)
	wide.press("?")
	wide.shows("undo or release: the last verb for 10 s; else quarantine, backoff, drain; a watchdog's call ")
}

// What signs stand for, and where preferences are written, is found by the words somebody would look for.
func TestHelpKnowsSignsAndPreferences(t *testing.T) {
	s := newStage(t, Options{Person: Person{File: "~/.config/gcity/config.toml"}})
	s.size(120, 40)
	s.hear(news{snap: demoSnapshot(epoch)})
	for text, want := range map[string][]string{
		"prefer": {"columns = [", "[keys]", "in ~/.config/gcity/config.toml"}, "columns": {"which columns Agents has"},
		"prefs": {"theme"}, "legend": {"quarantined", "marked: what is done next"}, "↻": {"starts again by itself"}, "◌": {"waiting: it starts"},
		"o:need": {"who needs somebody first"},
	} {
		s.press("?")
		s.press(strings.Split(text, "")...)
		s.shows(want...)
		s.press("enter")
		s.press("esc", "esc")
	}
	s.press("?", "↻", "enter")
	s.shows("starts again by itself")
	s.hides("runs it")
}
