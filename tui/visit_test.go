package tui

import (
	"testing"
	"time"

	"gcity/city"
	"gcity/tui/feed"
	"gcity/tui/panel"
	"gcity/tui/state"
)

func attached(n int) func(*city.Agent) {
	return func(a *city.Agent) {
		s := *a.Session
		s.Viewers, s.Attached = n, n > 0
		a.Session = &s
	}
}

// A user who has just left is not shown as a viewer.
func TestOwnVisitEnds(t *testing.T) {
	s := demo(t, 120, 40)
	s.choose("idle")
	s.hear(feed.News{Pane: paneOf("idle", "idle-1")})
	s.hides("1 viewer")
	begun := state.BeginVisit(s.m, "idle")
	s.now = s.now.Add(time.Minute)
	state.EndVisit(s.m, s.now, begun)
	s.agent("idle", attached(1)) // counted during the visit, reported after it
	s.hides("1 viewer")
	s.agent("idle", attached(2)) // the second viewer is another user
	s.shows("1 viewer")
	s.agent("idle", attached(1))
	s.wait(s.m.Snap.Patrol.Interval + panel.CheckSlack)
	s.hides("1 viewer")
	s.wait(time.Second) // counted again after the visit: this is another user
	s.shows("1 viewer")
}

func TestOtherViewersStay(t *testing.T) {
	s := demo(t, 120, 40)
	s.choose("builder")
	s.hear(feed.News{Pane: paneOf("builder", "builder-1")})
	s.shows("1 viewer")
	state.EndVisit(s.m, s.now, state.BeginVisit(s.m, "builder"))
	s.shows("1 viewer")
	s.agent("builder", attached(2))
	s.shows("1 viewer")
	s.agent("builder", func(a *city.Agent) { a.Session = &city.Session{ID: "builder-2", Viewers: 2, Attached: true} })
	s.shows("2 viewers")
}

// A visit that ends before the first snapshot changes nothing.
func TestSwitchWithoutACity(t *testing.T) {
	s := newStage(t, Options{})
	state.EndVisit(s.m, s.now, state.BeginVisit(s.m, "idle"))
	s.wait(time.Hour)
	s.frame("nothing heard")
}
