package tui

import (
	"strings"
	"testing"

	"gcity/city"
	"gcity/tui/feed"
	"gcity/tui/state"
)

// In ASCII mode, no sign looks like the prompt of a filter or like a comparison.
func TestASCIISigns(t *testing.T) {
	s := newStage(t, Options{ASCII: true})
	s.m.Folder = "/srv/bright-lights"
	s.size(80, 24)
	s.hear(feed.News{Snap: demoSnapshot(epoch), Fleet: demoFleet(epoch)})
	s.agent("scout", func(a *city.Agent) { a.Reason = "scales 3 → 1" })
	s.shows("scales 3 -> 1")
	s.press("-")
	s.shows(` ! "-" does nothing here; ? lists the keys`)
	state.ShowSuccess(s.m, "agent scout is running")
	s.shows(" ok agent scout is running")
	s.press("@")
	s.shows("  h bright-lights ")
}

// In ASCII mode, copied text is the original text, not the ASCII form on the screen.
func TestASCIIScreensAreNotCopied(t *testing.T) {
	s := newStage(t, Options{ASCII: true})
	s.size(120, 40)
	s.hear(feed.News{Snap: demoSnapshot(epoch)})
	s.agent("scout", func(a *city.Agent) { a.Reason = "crashed 7×" })
	s.choose("scout")
	s.shows("crashed 7x")
	s.press("y")
	s.typeIn("state")
	s.press("enter")
	c, ok := effectOf[feed.Copy](s)
	if !ok || !strings.Contains(c.Text, "7×") {
		t.Errorf("copied: %v %q", ok, c.Text)
	}
}
