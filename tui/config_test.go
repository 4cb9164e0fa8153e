package tui

import (
	"testing"

	"gcity/city"
	"gcity/tui/feed"
	"gcity/tui/state"
)

// held returns a change that adds a held configuration. The configuration removes the given agents.
func held(removes ...string) func(*city.Snapshot) {
	return func(n *city.Snapshot) {
		n.Config.Held = &city.Held{Revision: "9f8e7d6c5b4a", Since: epoch, Removes: removes, Running: len(removes) + 1,
			Plan: []string{"added shop/buyer", "changed monitor: its command"}}
	}
}

func TestAHeldConfigurationIsConfirmed(t *testing.T) {
	s := demo(t, 120, 40)
	s.press("C")
	s.wants()
	s.shows("no configuration is held")
	s.press("esc")
	s.change(held("builder", "chatty", "idle"))
	s.shows("! configuration held: removes 3 of 4 running agents  C shows the plan", "C confirm")
	s.press("C")
	s.shows("Apply configuration 9f8e7d6c5b4a?", "which stop: builder, chatty, idle.", "added shop/buyer", "changed monitor: its command")
	s.press("n")
	s.wants()
	s.press("C", "enter") // "no" is preselected
	s.wants()
	s.press("C", "y")
	s.wants(city.Reload{Confirm: true, Revision: "9f8e7d6c5b4a"})
	s.change(func(n *city.Snapshot) { n.Config.Held = nil })
	s.hides("configuration held")
}

func TestManyRemovalsAreTyped(t *testing.T) {
	s := demo(t, 120, 40)
	s.change(held("a", "b", "c", "d", "e"))
	s.press("C")
	s.press("y", "enter")
	s.wants()
	s.press("backspace", "5", "enter")
	s.wants(city.Reload{Confirm: true, Revision: "9f8e7d6c5b4a"})
}

// A confirmation applies only to the plan that was visible in the question.
func TestAnotherConfigurationIsNotConfirmed(t *testing.T) {
	for _, change := range []func(*city.Snapshot){
		func(n *city.Snapshot) { n.Config.Held = nil },
		func(n *city.Snapshot) {
			n.Config.Held = &city.Held{Revision: "111111111111", Removes: []string{"idle"}}
		},
	} {
		s := demo(t, 120, 40)
		s.change(held("builder", "chatty", "idle"))
		s.press("C")
		s.change(change)
		s.press("y")
		s.wants()
		s.shows("not confirmed: the configuration has changed")
	}
}

func TestCityReportsRigsAndPlans(t *testing.T) {
	s := pooled(t, 120, 40)
	s.change(held("builder", "chatty", "idle"))
	s.press("c")
	s.shows("Held configuration 9f8e7d6c5b4a, since 10:42:07", "added shop/buyer", "Rigs", "attic · 0 of 0 agents running · /srv/attic · its folder does not exist",
		"shop · 1 of 2 agents running · /srv/shop · suspended")
	ro := newStage(t, Options{Mode: state.ReadOnly})
	ro.size(120, 40)
	ro.hear(feed.News{Snap: s.m.Snap})
	ro.shows("configuration held: removes 3 of 4 running agents\n")
	ro.hides("C shows")
}
