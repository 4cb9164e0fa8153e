package tui

import (
	"fmt"
	"strings"
	"testing"

	"gcity/city"
	"gcity/events"
	"gcity/themes"
	"gcity/tui/feed"
	"gcity/tui/state"
	"gcity/tui/tuitest"
	"gcity/tui/view"
)

func mistakes(n int) string {
	lines := make([]string, n)
	for i := range lines {
		lines[i] = fmt.Sprintf("city.toml:%d:1: unknown key \"comand\"; did you mean \"command\"?", 12+i)
	}
	return strings.Join(lines, "\n")
}

// A single line contains the first error and the number of the others.
func TestManyMistakes(t *testing.T) {
	s := demo(t, 120, 40)
	s.change(func(n *city.Snapshot) { n.Config.Rejected = mistakes(36) })
	s.hear(feed.News{Events: []events.Event{{Seq: 9000, TS: epoch, Type: events.ConfigRejected, Actor: "controller", Message: mistakes(36)}}})
	s.shows(`city.toml:12:1: unknown key "comand"; did`, "and 35 more  c shows all")
	s.press("c")
	s.shows("config invalid: city.toml:12:1: unknown key", "city.toml:13:1: unknown key", "city.toml:30:1: unknown key")
	s.press("G")
	s.shows("patrol")
	s.press("esc", "5", "G")
	s.shows(`city.toml:12:1: unknown key "comand"; did`, "… and 35 more\n")
	s.press("enter")
	s.shows("message     city.toml:12:1: ", "            city.toml:13:1: ")
	s.hides("␊")
	s.press("esc")
	for _, c := range "47:1" {
		if c == '4' {
			s.press("/")
		}
		s.press(string(c))
	}
	if len(s.m.Events.List.Shown) != 1 {
		t.Errorf("filter for the last mistake: got %d events", len(s.m.Events.List.Shown))
	}
}

// Warnings about the configuration come after its errors, in less prominent colors.
func TestWarningsAreQuieter(t *testing.T) {
	s := demo(t, 120, 40)
	s.change(func(n *city.Snapshot) {
		n.Config.Warnings = []string{"city.toml:9:15: agents.overlay_dir: overlays/none does not exist"}
		n.Config.Rejected = mistakes(1)
	})
	s.shows("config invalid: city.toml:", "warning: city.toml:9:15")
	lines := state.AlertLines(s.m, 3)[1:]
	bad, warn := s.m.Look.Paint(themes.Bad, s.m.Look.Glyphs.Alert), s.m.Look.Paint(themes.Warn, s.m.Look.Glyphs.Alert)
	if bad == warn {
		t.Fatal("errors and warnings have the same style")
	}
	color := strings.Split(bad, s.m.Look.Glyphs.Alert)[0]
	if !strings.Contains(lines[0], color) || strings.Contains(lines[1], color) {
		t.Errorf("%q\n%q", lines[0], lines[1])
	}
	s.press("c")
	s.shows("warning: city.toml:9:15")
}

// A failure that is too long for one row takes up more rows until the user dismisses it.
func TestALongFailureIsReadable(t *testing.T) {
	why := "cannot do it: the configuration says otherwise, and what it says cannot be changed from here as long as the file is open in an editor"
	for _, size := range [][2]int{{120, 40}, {80, 24}, {60, 20}, {40, 10}} {
		s := demo(t, size[0], size[1])
		before := s.text()
		state.ShowFailure(s.m, why)
		text := s.text()
		if got := strings.Count(text, "\n"); got != size[1] {
			t.Errorf("%v: %d rows", size, got)
		}
		joined := strings.Join(strings.Fields(text), " ")
		if size[0] > 60 && !strings.Contains(joined, why) || !strings.Contains(text, "esc dismisses") {
			t.Errorf("%v: cut:\n%s", size, text)
		}
		s.send(tuitest.KeyPress("esc"))
		if s.text() != before {
			t.Errorf("%v: not dismissed:\n%s", size, s.text())
		}
	}
	s := demo(t, 80, 24)
	state.ShowFailure(s.m, "short")
	if rows := view.StatusRows(s.m, 80); len(rows) != 1 {
		t.Errorf("got %d status rows for one word", len(rows))
	}
}
