package tui

import (
	"slices"
	"strings"
	"testing"
	"time"

	"gcity/city"
	"gcity/tui/actions"
	"gcity/tui/feed"
	"gcity/tui/fleet"
	"gcity/tui/state"
	"gcity/tui/tuitest"
)

// If the user types "y" out of habit after suspending or resuming, no other dialog opens.
func TestAHabitualYesOpensNoOtherDialog(t *testing.T) {
	closed := func(s *stage) {
		t.Helper()
		if last := s.m.Messages[len(s.m.Messages)-1]; !strings.Contains(last.Text, "no question was open") ||
			strings.Contains(s.m.Status.Text, "question") {
			t.Errorf("the status %q, the last message %q", s.m.Status.Text, last.Text)
		}
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
			t.Error("a later y did not copy")
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
		s.press("r")
		refusal := s.m.Status.Text
		s.press("y")
		s.wants()
		if s.m.Dialogs.Top() != nil || s.m.Status.Text != refusal {
			t.Errorf("y changes %q to %q, and opens %T", refusal, s.m.Status.Text, s.m.Dialogs.Top())
		}
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

// If a kill is refused while the user is typing the agent's name, the letters do not run verbs.
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
		t.Error("the typed name ran actions")
	}
}

// If an input closes by itself while the user types, the rest of the text runs no verbs.
func TestTextTypedForAClosedInputRunsNothing(t *testing.T) {
	type test struct {
		open func() *stage
		end  func(s *stage)
		rest []string
	}
	open := func(keys ...string) func() *stage {
		return func() *stage {
			s := demo(t, 120, 40)
			s.choose("chatty")
			s.hear(feed.News{Pane: paneOf("chatty", "chatty-1")})
			s.press(keys...)
			return s
		}
	}
	gone := func(s *stage) { s.change(without("chatty")) }
	for name, c := range map[string]test{
		"name":   {open("ctrl+k", "c", "h"), gone, []string{"a", "t", "t", "y", "enter"}},
		"search": {open("0", "/", "r"), gone, []string{"a", "q", "enter"}},
		"yes":    {open("r"), gone, []string{"y"}},
		"letter": {open("r"), gone, []string{"a", "p", "q"}},
		"city": {func() *stage {
			s := lobby(t, 120, 40, Options{})
			s.sail("harbour")
			s.press("ctrl+k", "h")
			return s
		}, func(s *stage) {
			f := demoFleet(epoch)
			f.Rows = slices.DeleteFunc(f.Rows, func(c fleet.City) bool { return c.Info.Name == "harbour" })
			s.hear(feed.News{Fleet: f})
		}, []string{"a", "q", "enter"}},
		"refused city": {func() *stage {
			s := lobby(t, 120, 40, Options{})
			s.press("tab", "ctrl+k") // the cursor is on an agent
			return s
		}, func(*stage) {}, []string{"q", "s", "a"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := c.open()
			c.end(s)
			focus := s.m.Focus
			for _, k := range c.rest {
				s.now = s.now.Add(50 * time.Millisecond)
				s.send(tuitest.KeyPress(k))
				for _, e := range s.out {
					switch e.(type) {
					case feed.Watch, feed.SaveRoom:
					default:
						t.Errorf("%s has the effect %#v", k, e)
					}
				}
			}
			if s.m.Dialogs.Top() != nil || s.m.Focus != focus {
				t.Errorf("the keys opened %T, and the focus is on %s", s.m.Dialogs.Top(), s.m.Focus)
			}
			s.press(":") // a later key works
			if s.m.Dialogs.Top() == nil {
				t.Error("the room ignores all keys")
			}
		})
	}
}

// The name typed for a refused kill does not run verbs, even after an arrow key.
func TestAMoveDoesNotEndARefusedKill(t *testing.T) {
	s := demo(t, 120, 40)
	s.change(func(n *city.Snapshot) { n.Agents = nil })
	s.press("ctrl+k")
	before := s.m.Focus
	for _, k := range []string{"down", "b", "7", "t"} {
		s.send(tuitest.KeyPress(k))
	}
	if s.m.Focus != before || len(s.commands()) > 0 {
		t.Error("the typed name ran actions")
	}
}

// Keys that arrive together have the same effect as keys that arrive one by one.
func TestKeysTypedAtOnceKeepTheirMeaning(t *testing.T) {
	s := demo(t, 120, 40)
	s.choose("builder")
	s.press("ctrl+k")
	for _, k := range []string{"up", "b", "u", "i", "l", "d", "e", "r", "enter"} {
		s.send(tuitest.KeyPress(k))
	}
	s.wants()
	s.shows("enter came too early")
	s.press("enter")
	s.wants(city.Stop{Agent: "builder"})
}

// After a failed attach, a dialog shows the reason and takes the keys that are meant for the agent.
func TestKeysTypedAfterAFailedAttachDoNothing(t *testing.T) {
	for name, fail := range map[string]func(s *stage){
		"refused": func(s *stage) {
			s.choose("scout")
			s.press("a")
			s.shows("scout is quarantined and has no session")
		},
		"failed": func(s *stage) {
			s.choose("builder")
			actions.ReportNotAttached(s.m, "cannot attach to builder: no response within 10s", time.Time{})
			s.wait(time.Minute) // the guard begins with the first message
			s.shows("no response within 10s")
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := demo(t, 80, 24)
			fail(s)
			for _, k := range []string{"q", "enter", "D", "esc", "y", "ctrl+c", "l", "s", "q", "enter", "ctrl+k", "enter"} {
				s.now = s.now.Add(100 * time.Millisecond)
				s.send(tuitest.KeyPress(k))
				s.wants()
				s.shows("Not attached")
			}
			s.shows("enter came too early")
			if last := s.m.Messages[len(s.m.Messages)-1]; !strings.Contains(last.Text, "cannot attach") {
				t.Errorf("the last message is %+v", last)
			}
			s.press("D", "down")
			s.shows("Not attached", "press q to close")
			s.press("q")
			s.hides("Not attached")
			fail(s)
			s.press("enter")
			s.hides("Not attached")
			fail(s)
			s.press("esc")
			s.hides("Not attached")
		})
	}
}

// Keys that the user types for an ended session run no verbs of the room.
func TestKeysTypedForAnEndedSession(t *testing.T) {
	s := demo(t, 120, 40)
	s.choose("builder")
	s.m.SessionEnded, s.m.StrayKeyAt = true, time.Time{}
	state.ShowSuccess(s.m, "the session of builder has ended")
	s.wait(time.Second) // the room resumes now, and keyPause starts
	for _, k := range []string{"s", "y", "enter", "s", "ctrl+k"} {
		s.now = s.now.Add(keyPause - 1)
		s.send(tuitest.KeyPress(k))
		if s.m.Dialogs.Top() != nil {
			t.Fatalf("%s opened %T", k, s.m.Dialogs.Top())
		}
	}
	s.shows("has ended; the keys you typed for it had no effect")
	s.now = s.now.Add(keyPause)
	s.send(tuitest.KeyPress("s"))
	s.shows("Suspend builder?")
}

// The dialog after a refused attach says why in a sentence.
func TestTheReasonOfARefusedAttachIsASentence(t *testing.T) {
	s := automated(t, 80, 24)
	s.point("nightly")
	s.press("a")
	s.shows("Not attached", "Cannot attach: this panel shows automations; press 1 for the agents.", "esc closes")
}
