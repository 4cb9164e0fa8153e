package tui

import (
	"slices"
	"testing"
	"time"

	"gcity/city"
	"gcity/tui/actions"
	"gcity/tui/feed"
	"gcity/tui/panel"
	"gcity/tui/state"
)

// The pane shows the agent that the watchdog under the cursor watches.
func TestWatchdogsAndTheirAgents(t *testing.T) {
	s := demo(t, 120, 40)
	guarded(s)
	s.press("1", "space")
	s.pointWatchdog("late")
	s.shows("0 worker-1")
	s.press("r", "y")
	if got := s.commands(); !slices.Equal(got, []city.Command{city.Restart{Agent: "worker-1"}}) {
		t.Errorf("r does %+v", got)
	}
	s.press(".")
	if s.m.Focus != panel.IDAgents || s.m.Agents.SelectedKey != "worker-1" {
		t.Errorf("key . selected panel %s, agent %s", s.m.Focus, s.m.Agents.SelectedKey)
	}
	s.watchdog("late", func(w *city.Watchdog) { w.Watches = "gone" })
	s.pointWatchdog("late")
	s.press("r")
	s.shows("the watched agent does not exist")
	if len(s.commands()) > 0 || s.m.Dialogs.Choice() != nil {
		t.Errorf("key r acted on a different agent: %+v", s.commands())
	}
	s.press("esc", ".")
	s.shows("gone does not exist")
}

func TestWatchdogVerbs(t *testing.T) {
	s := demo(t, 120, 40)
	guarded(s)
	s.pointWatchdog("calm")
	s.press("t")
	if got := s.commands(); !slices.Equal(got, []city.Command{city.Beat{Watchdog: "calm"}}) {
		t.Errorf("t does %+v", got)
	}
	s.pointWatchdog("chain")
	s.press("t")
	if s.shows("cannot run the watchdog's check now: boot has been checking for"); len(s.commands()) > 0 {
		t.Errorf("t does %+v", s.commands())
	}
	s.press("esc", "u")
	if got := s.commands(); !slices.Equal(got, []city.Command{city.Acknowledge{Watchdog: "chain", By: "operator"}}) {
		t.Errorf("u does %+v", got)
	}
	s.shows("! 1 calling", "watchdog chain calls overseer: builder is no better after 3 wakes  press 6, u there acknowledges")
	s.watchdog("chain", func(w *city.Watchdog) {
		seen := *w.Escalated
		seen.Seen, seen.By, w.Escalated = true, "operator", &seen
	})
	s.hides("calling", "calls overseer")
	s.press("u")
	if got := s.commands(); len(got) > 0 {
		t.Errorf("key u without a call: got %+v", got)
	}
	s.press("d")
	s.shows("very stale", "seen by operator")
}

// A panel that has nothing to show has no title among the other titles until it gets the focus.
func TestTitlesOmitEmptyOptionalPanels(t *testing.T) {
	s := demo(t, 120, 40)
	s.shows("5 Events ━━ 8 Work 0")
	s.press("6")
	s.shows("6 Watchdogs 0")
}

// Commands in the palette have the same effect as keys.
func TestWatchdogLines(t *testing.T) {
	s := demo(t, 120, 40)
	guarded(s)
	for line, want := range map[string]city.Command{"check calm": city.Beat{Watchdog: "calm"}, "acknowledge chain": city.Acknowledge{Watchdog: "chain", By: "operator"}} {
		todo, why := actions.Table(s.m).Run(s.m, line)
		if len(todo) == 0 || why != "" || !slices.Equal(todo[0].(feed.SendCommands).Commands, []city.Command{want}) {
			t.Errorf("%s: %+v, %s", line, todo, why)
		}
	}
	for line, want := range map[string]string{
		"check chan": `unknown pool or watchdog "chan"; did you mean "chain"?`, "acknowledge calm": "calm is not calling for attention",
		"goto lat": `unknown agent, pool, automation or watchdog "lat"; did you mean "late"?`,
	} {
		if todo, why := actions.Table(s.m).Run(s.m, line); len(todo) > 0 || why != want {
			t.Errorf("%s: %+v, %q", line, todo, why)
		}
	}
	if _, why := actions.Table(s.m).Run(s.m, "details night"); why != "" || s.m.Watchdogs.SelectedKey != "night" ||
		s.m.Dialogs.Reader() == nil || s.m.Dialogs.Reader().Title != "watchdog night" {
		t.Errorf("details of %s: %s", s.m.Watchdogs.SelectedKey, why)
	}
	s.m.Mode = state.ReadOnly
	if _, why := actions.Table(s.m).Run(s.m, "check calm"); why != "this control room is read-only" {
		t.Errorf("%q", why)
	}
}

// A watchdog that has decided to do nothing is not shown as undecided.
func TestWatchdogThatDoesNothing(t *testing.T) {
	s := demo(t, 120, 40)
	guarded(s)
	s.watchdog("calm", func(w *city.Watchdog) {
		w.Last, w.Recent = &city.Judgement{Decision: "nothing", By: "thresholds", At: epoch, Reason: "it is fresh"}, nil
	})
	s.pointWatchdog("calm")
	s.press("enter")
	s.shows("No decisions yet. (\"do nothing\" is not recorded)")
	s.hides("None yet.")
	s.watchdog("calm", func(w *city.Watchdog) { w.Last = nil })
	s.shows("None yet.")
}

// Ages increase even without new data.
func TestWatchdogsInTime(t *testing.T) {
	s := demo(t, 120, 40)
	guarded(s)
	s.press("6")
	s.shows("1m, stale in 3m", "check in 1m")
	s.wait(2 * time.Minute)
	s.shows("3m, stale in 1m", "check now")
	s.press("!")
	s.shows("2 of 4")
	s.hides("3m, stale in 1m")
	s.press("!", "/", "s", "t", "a", "t", "e", ":", "f", "r", "enter")
	s.shows("1 of 4", "3m, stale in 1m")
	s.press("esc", "1", "!")
	s.shows("monitor", "stuck", "watchdog chain calls: builder")
	s.hides("chatty", "worker-2")
	s.press("!", "/", "s", "t", "a", "t", "e", ":", "s", "t", "u", "enter")
	s.shows("1 of 21")
}

// In a city without watchdogs the panel is hidden until it gets the focus.
func TestHiddenWatchdogsAreSkipped(t *testing.T) {
	ring := func(s *stage) (seen []panel.ID) {
		s.press("1")
		for range len(s.m.Panels) + 1 {
			s.press("tab")
			if seen = append(seen, s.m.Focus); s.m.Focus == panel.IDAgents {
				break
			}
		}
		return seen
	}
	s := demo(t, 120, 40)
	s.hides("Watchdogs")
	if why := state.NothingSelected(s.m, s.m.Watchdogs); why != "there are no watchdogs" {
		t.Errorf("key of a hidden panel: got %q", why)
	}
	if slices.Contains(ring(s), panel.IDWatchdogs) {
		t.Error("tab goes to the hidden Watchdogs")
	}
	s.press("6")
	s.shows("6 Watchdogs 0", "No watchdogs: no agent's heartbeat", "[[watchdogs]]")
	guarded(s)
	if seen := ring(s); !slices.Equal(seen, []panel.ID{panel.IDPools, panel.IDQuarantine, panel.IDAutomations, panel.IDEvents, panel.IDWatchdogs, panel.IDRigs, panel.IDWork, panel.IDMail, panel.IDPeek, panel.IDAgents}) {
		t.Errorf("tab goes through %v", seen)
	}
}

// The details contain what the watched agent says about other agents.
func TestWatchdogReports(t *testing.T) {
	s := demo(t, 120, 40)
	guarded(s)
	well, ill := 3, 1
	s.watchdog("late", func(w *city.Watchdog) { w.HealthyAgents, w.UnhealthyAgents = &well, &ill })
	s.pointWatchdog("late")
	s.press("d")
	s.shows("agents: 3 healthy, 1 unhealthy")
}
