package tui

import (
	"testing"
	"time"

	"gcity/city"
	"gcity/tui/feed"
	"gcity/tui/state"
)

// If an agent crashes again later, the crash replaces the result of the restart on the screen.
func TestACrashAfterARestartReplacesItsResult(t *testing.T) {
	s := demo(t, 120, 40)
	s.choose("scout")
	s.press("r", "y")
	s.wants(city.Restart{Agent: "scout"})
	id := s.m.Status.ID
	s.agent("scout", func(a *city.Agent) { a.State, a.Running = city.Running, true })
	s.hear(feed.News{Results: []feed.Result{{ID: id, Total: 1, Receipts: []string{"agent scout is running, pid 7"}}}})
	s.shows("✓ agent scout is running, pid 7")
	s.agent("scout", func(a *city.Agent) {
		a.State, a.Running = city.Backoff, false
		a.Exit = &city.Exit{Code: 3, At: s.now, Uptime: time.Second}
	})
	s.shows("scout crashed again: exit 3 after 1s; it is in backoff")
	s.hides("agent scout is running")
	s.wait(state.StatusDuration + time.Second)
	s.hides("crashed again")
}

// An agent can crash before the result of its release arrives. The result is then outdated and is not shown.
func TestACrashBeforeTheResultReplacesIt(t *testing.T) {
	s := demo(t, 120, 40)
	s.choose("scout")
	s.press("u")
	s.wants(city.Release{Agent: "scout"})
	id := s.m.Status.ID
	s.agent("scout", func(a *city.Agent) {
		a.State, a.Running = city.Quarantined, false
		a.Exit = &city.Exit{Code: 3, At: s.now, Uptime: time.Second}
	})
	s.shows("releasing scout")
	s.hear(feed.News{Results: []feed.Result{{ID: id, Total: 1, Receipts: []string{"agent scout is running, pid 7"}}}})
	s.shows("scout crashed again: exit 3 after 1s")
	s.hides("agent scout is running")
}

func TestACrashLongAfterARestartIsNotItsResult(t *testing.T) {
	s := demo(t, 120, 40)
	s.choose("scout")
	s.press("r", "y")
	id := s.m.Status.ID
	s.agent("scout", func(a *city.Agent) { a.State, a.Running = city.Running, true })
	s.hear(feed.News{Results: []feed.Result{{ID: id, Total: 1, Receipts: []string{"agent scout is running, pid 7"}}}})
	s.wait(time.Hour)
	s.agent("scout", func(a *city.Agent) {
		a.State, a.Running = city.Backoff, false
		a.Exit = &city.Exit{Code: 3, At: s.now, Uptime: time.Hour}
	})
	s.hides("crashed again")
}

func TestTheTitleOfQuarantineCountsReleasedRows(t *testing.T) {
	s := demo(t, 120, 40)
	s.press("3")
	s.shows("3 Quarantine 1")
	s.agent("scout", func(a *city.Agent) { a.State, a.Running = city.Running, true })
	s.shows("3 Quarantine 0 (1 released)", "now running")
	s.hides("u release")
	s.press("1")
	s.wait(state.IdleAfter)
	s.shows("3 Quarantine 0")
	s.hides("released")
}

// The message about a crash disappears when the agent runs.
func TestTheMessageAboutACrashIsAboutNow(t *testing.T) {
	s := demo(t, 120, 40)
	s.choose("scout")
	s.press("r", "y")
	id := s.m.Status.ID
	s.agent("scout", func(a *city.Agent) { a.State, a.Running = city.Running, true })
	s.hear(feed.News{Results: []feed.Result{{ID: id, Total: 1, Receipts: []string{"agent scout is running, pid 7"}}}})
	for _, state := range []city.State{city.Backoff, city.Quarantined} {
		s.agent("scout", func(a *city.Agent) {
			a.State, a.Running, a.Exit = state, false, &city.Exit{Code: 3, At: s.now, Uptime: time.Second}
		})
		s.shows("it " + state.Is())
	}
	s.hides("it is in backoff")
	s.agent("scout", func(a *city.Agent) { a.State, a.Running = city.Running, true })
	s.hides("crashed again")
}

func TestAFailureByAnInvalidConfigurationEndsWithIt(t *testing.T) {
	s := demo(t, 120, 40)
	s.choose("builder")
	s.press("s", "y")
	why := "city.toml:4:1: unknown key"
	s.hear(feed.News{Results: []feed.Result{{ID: s.m.Status.ID, Total: 1, Failures: []string{"nothing was written: " + why}}}})
	s.shows("nothing was written: " + why)
	s.change(func(n *city.Snapshot) { n.Config.Rejected = why })
	s.wait(time.Hour)
	s.shows("nothing was written: " + why)
	s.change(func(n *city.Snapshot) { n.Config.Rejected = "" })
	s.hides("nothing was written")
}
