package tui

import (
	"strings"
	"testing"
	"time"

	"gcity/city"
	"gcity/tui/actions"
	"gcity/tui/feed"
	"gcity/tui/state"
)

// Members of a pool with a long name can be told apart at every width at which there is a list.
func TestLongNamesAreDistinct(t *testing.T) {
	for w := 40; w <= 200; w += 5 {
		s := demo(t, w, 20)
		s.change(func(n *city.Snapshot) {
			n.Agents = nil
			for _, i := range []string{"12", "23", "35"} {
				n.Agents = append(n.Agents, city.Agent{Name: "warehouse/reviewers-of-everything-" + i, State: city.Quarantined})
			}
		})
		for _, panel := range []string{"1", "3"} {
			s.press(panel)
			for _, end := range []string{"ing-12", "ing-23", "ing-35"} {
				if !strings.Contains(s.text(), end) {
					t.Errorf("panel %s at %d columns: no name ends in %q:\n%s", panel, w, end, s.text())
				}
			}
		}
	}
}

func TestGoldenLongNames(t *testing.T) {
	s := demo(t, 80, 24)
	s.change(func(n *city.Snapshot) {
		for i := range n.Agents {
			n.Agents[i].Name = "warehouse/reviewers-of-" + n.Agents[i].Name
		}
	})
	golden(t, "testdata/names-80x24.txt", s.text())
}

// Short reasons from the city are shown to the user in an unambiguous form.
func TestReasonsReadWell(t *testing.T) {
	s := demo(t, 120, 40)
	s.agent("idle", func(a *city.Agent) { a.State, a.Suspended, a.Reason = city.Suspended, true, "in city.toml" })
	s.agent("chatty", func(a *city.Agent) {
		a.Description, a.Reason = "", "adopted: it was running when this controller started"
	})
	s.shows("suspended    idle           suspended in city.toml")
	s.hides("adopted")
	s.choose("flaky")
	s.press("a")
	s.shows("flaky is in backoff")
	narrow := demo(t, 40, 10)
	narrow.change(withPools)
	narrow.press("2")
	narrow.shows("open bea", "1/1 failed", "by hand")
}

// The message about a theme names the file that keeps it.
func TestThemeMessageNamesItsFile(t *testing.T) {
	s := newStage(t, Options{Preferences: feed.Preferences{File: "~/.config/gcity/config.toml"}})
	s.size(80, 24)
	s.hear(feed.News{Snap: demoSnapshot(epoch)})
	actions.TryTheme(s.m, "high-contrast")
	s.shows("to keep this theme after you quit, set theme = \"high-contrast\" in\n   ~/.config/gcity/config.toml")
}

// A question mentions a session only if there is one.
func TestRestartOfAStoppedAgent(t *testing.T) {
	s := demo(t, 120, 40)
	s.choose("scout")
	s.press("r")
	s.shows("No session is running", "This will end the", "quarantine.")
	s.press("esc")
	s.choose("builder")
	s.press("r")
	s.shows("The session will end, and a new one will start.")
}

// The last row of a small screen is never blank, whether it belongs to the status line or the footer.
func TestTheFootReachesTheLastRow(t *testing.T) {
	for _, size := range [][2]int{{40, 10}, {60, 20}} {
		for name, s := range map[string]*stage{"city": demo(t, size[0], size[1]),
			"all cities": lobby(t, size[0], size[1], Options{})} {
			state.ShowSuccess(s.m, strings.Repeat("word ", 2*size[0]/5))
			for range 12 {
				rows := strings.Split(strings.TrimSuffix(s.text(), "\n"), "\n")
				if len(rows) != size[1] || rows[len(rows)-1] == "" {
					t.Errorf("%s at %v, %v later:\n%s", name, size, s.now.Sub(epoch), s.text())
				}
				s.wait(time.Second)
			}
		}
	}
}

// A long text in the status line continues on the next row. The age of a text does not push it there.
func TestALongStatusContinuesOnTheNextRow(t *testing.T) {
	s := demo(t, 80, 24)
	s.choose("builder")
	s.press("D", "y")
	s.done("agent builder was asked to finish its current task; it is killed at 10:42:37 if it is still running")
	s.shows("✓ agent builder was asked to finish its current task; it is killed at 10:42:37", "   if it is still running  u undoes for 30s")
	state.ShowSuccess(s.m, strings.Repeat("x", 76))
	s.wait(state.StatusDuration / 2)
	s.shows(" ✓ " + strings.Repeat("x", 76))
	s.hides("ago")
	if n := state.FootHeight(s.m); n != 2 {
		t.Errorf("the status line and the footer have %d rows", n)
	}
}
