package tui

import (
	"strings"
	"testing"

	"gcity/city"
)

// What is copied is what was said, not what is shown of it.
func TestTypewrittenIsNotCopied(t *testing.T) {
	s := newStage(t, Options{ASCII: true})
	s.size(120, 40)
	s.hear(news{snap: demoSnapshot(epoch)})
	s.agent("scout", func(a *city.Agent) { a.Reason = "crashed 7×" })
	s.choose("scout")
	s.shows("crashed 7x")
	s.press("y")
	s.typeIn("state")
	s.press("enter")
	c, ok := effectOf[clip](s)
	if !ok || !strings.Contains(c.text, "7×") {
		t.Errorf("copied: %v %q", ok, c.text)
	}
}
