package tui

import (
	"slices"
	"testing"
	"time"

	"gcity/city"
	"gcity/tui/state"
)

func TestRowUnderTheCursorStays(t *testing.T) {
	s := demo(t, 120, 40)
	s.press("/")
	s.typeIn("state:running")
	s.press("enter")
	s.choose("chatty")
	s.agent("chatty", func(a *city.Agent) { a.State, a.Running, a.Session = city.Backoff, false, nil })
	s.wait(time.Minute)
	s.press("r")
	s.shows("Restart chatty?")
	s.press("esc", "j")
	if !slices.Contains(s.order(), "chatty") {
		t.Error("the list changes while the user works")
	}
	s.wait(state.IdleAfter)
	if slices.Contains(s.order(), "chatty") || s.m.Agents.SelectedKey == "chatty" {
		t.Errorf("still shown in %v", s.order())
	}

	s = demo(t, 120, 40)
	s.press("!")
	s.choose("flaky")
	s.agent("flaky", func(a *city.Agent) {
		a.State, a.Running, a.PID = city.Running, true, 99
		a.Session = &city.Session{Name: "flaky", ID: "flaky-2", Started: s.now}
	})
	s.wait(time.Minute)
	if s.m.Agents.SelectedKey != "flaky" {
		t.Errorf("the cursor moved to %s", s.m.Agents.SelectedKey)
	}
	s.press("!", "!") // setting the filter again removes the row
	if slices.Contains(s.order(), "flaky") {
		t.Errorf("shown: %v", s.order())
	}
}

// With the attention filter, the row under the cursor stays even if it no longer needs attention.
func TestEveryListHoldsTheRowUnderTheCursor(t *testing.T) {
	s := automated(t, 120, 40)
	s.change(func(n *city.Snapshot) {
		for i := range n.Agents {
			if n.Agents[i].Name == "flaky" {
				n.Agents[i].State = city.Quarantined
			}
		}
	})
	s.press("3", "g")
	first := s.m.Quarantine.SelectedKey
	s.agent(first, func(a *city.Agent) { a.State = city.Starting })
	s.wait(time.Minute)
	s.shows("3 Quarantine 1", "starting")
	if s.m.Quarantine.SelectedKey != first {
		t.Errorf("the cursor moved from %s to %s", first, s.m.Quarantine.SelectedKey)
	}
	s.press("1")
	s.wait(time.Minute)
	s.press("3")
	if s.m.Quarantine.SelectedKey == first {
		t.Errorf("%s is in Quarantine", first)
	}
	s.press("2", "!")
	s.pick("triage")
	s.pool("triage", func(p *city.Pool) { p.Check.Problem = "" })
	s.wait(time.Minute)
	if p := s.m.Pools.Current(); p == nil || p.Name != "triage" {
		t.Errorf("the cursor is on %+v", p)
	}
	s.point("prune-branches")
	s.automation("prune-branches", func(a *city.Automation) { a.Failures, a.State, a.Last = 0, city.AutomationIdle, nil })
	s.wait(time.Minute)
	if r := state.Automation(s.m); r == nil || r.Name != "prune-branches" {
		t.Errorf("the cursor is on %+v", r)
	}
}
