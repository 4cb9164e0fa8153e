package tui

import (
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"gcity/tui/feed"
	"gcity/tui/state"
	"gcity/tui/widget"
)

// An answer that is wider than the dialog continues on the next line. A click on any of its lines chooses it.
func TestAnswersAreWrapped(t *testing.T) {
	titles := []string{"keep the agents, stop the controller (no restarts, no automations), and nobody starts them again",
		"守る人のいない町: 誰も見ていない間に終わったものは誰も始めない", "stay"}
	open := func(w, h int) (*stage, *int) {
		s, took := demo(t, w, h), -1
		c := &state.Choice{Title: "Leave?", Since: s.now}
		for i, title := range titles {
			c.Answers = append(c.Answers, state.Answer{Key: string(rune('a' + i)), Title: title, Do: func(*state.Room) []feed.Effect {
				took = i
				return nil
			}})
		}
		s.m.Dialogs.Open(c)
		s.now = s.now.Add(time.Second)
		s.send(feed.News{})
		return s, &took
	}
	for _, size := range [][2]int{{120, 40}, {80, 24}, {60, 20}, {40, 12}} {
		s, _ := open(size[0], size[1])
		inside := map[int]string{} // text between the borders, by row of the screen
		var said strings.Builder
		for y, l := range strings.Split(s.text(), "\n") {
			if parts := strings.Split(l, "┃"); len(parts) == 3 {
				inside[y] = parts[1]
				said.WriteString(strings.Join(strings.Fields(parts[1]), ""))
			}
		}
		for _, title := range titles {
			if !strings.Contains(said.String(), strings.ReplaceAll(title, " ", "")) {
				t.Errorf("%v: not all of %q is shown:\n%s", size, title, s.text())
			}
		}
		for _, last := range []struct {
			text string
			want int
		}{{"again", 0}, {"a  keep", 0}, {"始めない", 1}, {"stay", 2}} {
			found := false
			for y, l := range inside {
				if !strings.Contains(l, last.text) {
					continue
				}
				found = true
				fresh, took := open(size[0], size[1])
				x := widget.Width(strings.Split(strings.Split(s.text(), "\n")[y], last.text)[0])
				fresh.send(tea.MouseClickMsg{X: x, Y: y, Button: tea.MouseLeft})
				if *took != last.want {
					t.Errorf("%v: a click on %q chooses the answer %d, not %d", size, last.text, *took, last.want)
				}
			}
			if !found && size[0] > 40 {
				t.Errorf("%v: %q is not on the screen:\n%s", size, last.text, s.text())
			}
		}
	}
	s, _ := open(40, 7) // there is room for only one line per answer
	s.shows("a  keep the agents", "c  stay")
}

// The arrow keys stop at the first and the last answer: "down" on "no" does not choose "yes". Tab goes around.
func TestArrowsStopAtTheLastAnswer(t *testing.T) {
	for _, c := range []struct {
		keys []string
		runs int
	}{{[]string{"down", "enter"}, 0}, {[]string{"right", "enter"}, 0}, {[]string{"up", "up", "up", "enter"}, 1},
		{[]string{"left", "left", "down", "down", "enter"}, 0}, {[]string{"tab", "enter"}, 1},
		{[]string{"shift+tab", "shift+tab", "enter"}, 0}} {
		s := demo(t, 120, 40)
		s.choose("chatty")
		s.press("r")
		if q := s.m.Dialogs.Choice(); q == nil || !q.Answers[q.Cursor].Safe {
			t.Fatalf("the question does not begin at the safe answer: %+v", q)
		}
		if n := len(s.m.Dialogs.Choice().Answers); n != 2 {
			t.Fatalf("the question has %d answers", n)
		}
		s.press(c.keys...)
		if got := len(s.commands()); got != c.runs {
			t.Errorf("%v sends %d commands, want %d", c.keys, got, c.runs)
		}
	}
}
