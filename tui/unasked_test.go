package tui

import (
	"testing"
	"time"

	"gcity/city"
	"gcity/tui/tuitest"
)

// Suspending asks for confirmation and resuming does not. A "y" that follows either from habit opens no other dialog.
func TestAHabitualYesOpensNoOtherDialog(t *testing.T) {
	closed := func(s *stage) {
		t.Helper()
		s.shows("there was no question, so y did nothing")
		if s.m.Dialogs.Top() != nil {
			t.Errorf("y opened %T", s.m.Dialogs.Top())
		}
	}
	t.Run("agent", func(t *testing.T) {
		s := demo(t, 120, 40)
		s.choose("builder")
		s.press("s", "y")
		s.wants(city.Suspend{Agent: "builder"})
		s.agent("builder", func(a *city.Agent) { a.State, a.Reason, a.Running = city.Suspended, "in city.toml", false })
		s.press("s", "y")
		s.wants(city.Resume{Agent: "builder"})
		closed(s)
		s.wait(answerWindow)
		s.press("y")
		if s.m.Dialogs.Finder() == nil {
			t.Error("a later y does not copy")
		}
	})
	t.Run("pool", func(t *testing.T) {
		s := pooled(t, 120, 40)
		s.pick("worker")
		s.pool("worker", func(p *city.Pool) { p.Suspended, p.SuspendedReason = true, "in city.toml" })
		s.press("s", "y")
		s.wants(city.Resume{Agent: "worker"})
		closed(s)
	})
	t.Run("rig", func(t *testing.T) {
		s := demo(t, 120, 40)
		s.change(func(n *city.Snapshot) { n.Rigs = []city.Rig{{Name: "shop", Path: "/shop", Suspended: true}} })
		s.press("7", "s", "y")
		s.wants(city.ResumeRig{Rig: "shop"})
		closed(s)
	})
	t.Run("refused", func(t *testing.T) {
		s := demo(t, 120, 40)
		s.change(func(n *city.Snapshot) { n.Agents = nil })
		s.press("r", "y")
		s.wants()
		closed(s)
	})
	t.Run("palette", func(t *testing.T) {
		s := demo(t, 120, 40)
		s.agent("builder", func(a *city.Agent) { a.State, a.Reason, a.Running = city.Suspended, "in city.toml", false })
		s.press(":")
		s.typeIn("resume builder")
		s.press("enter", "y")
		s.wants(city.Resume{Agent: "builder"})
		closed(s)
	})
	t.Run("cancel of a drain", func(t *testing.T) {
		s := demo(t, 120, 40)
		s.agent("builder", func(a *city.Agent) { a.State = city.Draining })
		s.choose("builder")
		s.press("D", "y")
		s.wants(city.Undrain{Agent: "builder"})
		closed(s)
	})
}

// A name that the user types for a refused kill runs no verbs.
func TestANameTypedForARefusedKillRunsNothing(t *testing.T) {
	s := demo(t, 120, 40)
	s.change(func(n *city.Snapshot) { n.Agents = nil })
	s.press("ctrl+k")
	before := s.m.Focus
	for _, k := range "b7t" {
		s.now = s.now.Add(50 * time.Millisecond)
		s.send(tuitest.KeyPress(string(k)))
	}
	if s.m.Focus != before || len(s.commands()) > 0 {
		t.Error("the typed name ran verbs")
	}
}
