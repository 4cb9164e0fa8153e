package tui

import (
	"fmt"
	"strings"
	"testing"

	"gcity/city"
	"gcity/tui/feed"
	"gcity/tui/panel"
	"gcity/tui/state"
)

// The title of a list contains the numbers of rows above and below its window.
func TestHiddenRowsAreCounted(t *testing.T) {
	for _, c := range []struct {
		w, h  int
		ascii bool
		up    string
		down  string
	}{{200, 60, false, "↑", "↓"}, {120, 40, false, "↑", "↓"}, {80, 24, false, "↑", "↓"}, {80, 24, true, "^", "v"}, {60, 20, false, "↑", "↓"}} {
		s := newStage(t, Options{ASCII: c.ascii})
		s.size(c.w, c.h)
		const all = 80
		s.hear(feed.News{Snap: crowd(all), Events: demoEvents(epoch)})
		s.press("g")
		rows := len(s.m.Agents.List.Shown) - s.below(t, c.down)
		if rows < 3 {
			t.Fatalf("%dx%d: got %d of %d visible rows in the title:\n%s",
				c.w, c.h, rows, all, s.text())
		}
		s.hides("Agents 80 " + c.up)
		s.press("G")
		s.shows(fmt.Sprintf("Agents 80 %s%d ", c.up, all-rows))
		s.hides(c.down + fmt.Sprint(all-rows))
		for range rows {
			s.press("k")
		}
		s.shows(fmt.Sprintf("Agents 80 %s%d %s1 ", c.up, all-rows-1, c.down))
		if c.w == 120 {
			s.click("Pools")
			if s.m.Focus != panel.IDPools {
				t.Errorf("%dx%d: a click on another title goes to %v", c.w, c.h, s.m.Focus)
			}
		}
	}
}

// If no row matches the filter, verbs have nothing to act on.
func TestAVerbNeedsAVisibleRow(t *testing.T) {
	s := demo(t, 120, 40)
	s.press("/")
	s.typeIn("zzq")
	s.press("enter")
	for _, key := range []string{"r", "D", "s", "a", "i", "ctrl+k", "d", "enter"} {
		s.press(key)
		s.shows("no agent is selected: the filter hides all rows")
		s.closeNotice()
		if s.m.Dialogs.Top() != nil || s.m.Zoomed {
			t.Fatalf("%s acts on an agent that is not shown:\n%s", key, s.text())
		}
		s.m.Status = state.Status{}
	}
	s.press("esc", "r", "y")
	s.wants(city.Restart{Agent: s.m.Agents.SelectedKey})
}

func (s *stage) below(t *testing.T, sign string) int {
	t.Helper()
	text := s.text()
	_, after, found := strings.Cut(text, "Agents 80 "+sign)
	n := 0
	if _, err := fmt.Sscan(after, &n); !found || err != nil {
		t.Fatalf("the title shows no rows below:\n%s", text)
	}
	last := len(s.m.Agents.List.Shown) - n - 1
	for i, seen := range []bool{true, false} {
		name := s.m.Agents.Rows[s.m.Agents.List.Shown[last+i]].Shown
		if strings.Contains(text, " "+name+" ") != seen {
			t.Errorf("with %d rows below, %s is not visible = %v:\n%s", n, name, seen, text)
		}
	}
	return n
}

func TestNothingHiddenIsNotCounted(t *testing.T) {
	s := demo(t, 200, 60)
	s.hides("Agents 14 ↓", "Agents 14 ↑")
	s.press("2")
	s.hides("↑")
	l := lobby(t, 120, 40, Options{})
	l.hides("Cities 8 ↓")
	l.size(60, 10)
	l.shows("Cities 8 ↓")
}

func TestHiddenRowsCostNoTitle(t *testing.T) {
	if testing.Short() {
		t.Skip("draws many frames")
	}
	for w := 40; w <= 130; w++ {
		s := newStage(t, Options{})
		s.size(w, 20)
		s.hear(feed.News{Snap: crowd(300), Events: demoEvents(epoch)})
		s.press("G", "k", "k", "k", "k", "k", "k", "k", "k", "k", "k", "k", "k", "k", "k")
		line := strings.Split(s.text(), "\n")[2]
		for _, key := range []string{"1 Agents 300", " 2 ", " 3 ", " 4 ", " 5"} {
			if !strings.Contains(line+" ", key) {
				t.Errorf("%d columns: %q is missing: %s", w, key, line)
			}
		}
	}
}

func TestHiddenRowsCostNoTrouble(t *testing.T) {
	for w := 60; w <= 140; w++ {
		s := pooled(t, w, 24)
		s.press("G")
		line := func() string { return strings.Split(s.text(), "\n")[2] }
		with := strings.Contains(line(), "failing")
		s.m.Agents.List.Shown = s.m.Agents.List.Shown[:1]
		s.m.UI++
		if without := strings.Contains(line(), "failing"); with != without {
			t.Errorf("%d columns: failing pools shown %v, without hidden rows %v: %s",
				w, with, without, line())
		}
	}
}
