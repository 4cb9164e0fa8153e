package tui

import (
	"strings"
	"testing"
	"time"

	"gcity/city"
)

func TestFitName(t *testing.T) {
	for _, c := range []struct {
		name string
		w    int
		want string
	}{
		{"builder", 9, "builder  "},
		{"builder", 7, "builder"},
		{"shop/polisher-1", 9, "sh…sher-1"},
		{"shop/polisher-12", 8, "s…her-12"},
		{"warehouse/very-long-pool-17", 20, "w…/very-long-pool-17"},
		{"shop/polisher-1", 5, "s…r-1"},
		{"shop/polisher-1", 2, "sh"},
		{"shop/polisher-1", 0, ""},
		{"日本語エージェント", 9, "日…ェント"},
		{"日本語エージェント", 8, "…ェント "},
	} {
		if got := fitName(c.name, c.w, "…"); got != c.want {
			t.Errorf("%q in %d: %q, want %q", c.name, c.w, got, c.want)
		}
	}
}

// Instances of a pool that share a long beginning are told apart at every width that has a list.
func TestLongNamesAreToldApart(t *testing.T) {
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
					t.Errorf("panel %s at %d columns: nobody ends in %q:\n%s", panel, w, end, s.text())
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

func TestSpan(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0s", 5 * time.Minute: "5m", 90 * time.Second: "1m30s", 2 * time.Hour: "2h", 150 * time.Minute: "2h30m",
		time.Hour + time.Second: "1h0m1s", 500 * time.Millisecond: "500ms", 10 * time.Second: "10s", 20 * time.Minute: "20m",
	} {
		if got := span(d); got != want {
			t.Errorf("%v: %q, want %q", d, got, want)
		}
	}
}

// What the city says in few words is said to an operator so that nobody takes it for something else.
func TestReasonsReadWell(t *testing.T) {
	s := demo(t, 120, 40)
	s.agent("idle", func(a *city.Agent) { a.State, a.Suspended, a.Reason = city.Suspended, true, "by agent" })
	s.agent("chatty", func(a *city.Agent) {
		a.Description, a.Reason = "", "adopted: it ran already when this controller began"
	})
	s.shows("by its own setting")
	s.hides("by agent", "adopted")
	s.choose("flaky")
	s.press("a")
	s.shows("flaky is in backoff")
	narrow := demo(t, 40, 10)
	narrow.change(withPools)
	narrow.press("2")
	narrow.shows("work: 5", "1/1 failed", "by hand")
}

// The file that keeps a theme is named first: narrow screens cut the end.
func TestThemeMessageNamesItsFile(t *testing.T) {
	s := newStage(t, Options{Person: Person{File: "~/.config/gcity/config.toml"}})
	s.size(80, 24)
	s.hear(news{snap: demoSnapshot(epoch)})
	s.m.tryTheme("high-contrast")
	s.shows(`theme = "high-contrast" in ~/.config/gcity/config.toml keeps it`)
}

// A question speaks of a session only where there is one.
func TestRestartOfWhatDoesNotRun(t *testing.T) {
	s := demo(t, 120, 40)
	s.choose("scout")
	s.press("r")
	s.shows("There is no session to end")
	s.press("esc")
	s.choose("builder")
	s.press("r")
	s.shows("The session ends and a new one begins.")
}
