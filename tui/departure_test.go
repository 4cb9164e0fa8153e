package tui

import (
	"fmt"
	"testing"
	"time"

	"gcity/city"
	"gcity/tui/actions"
	"gcity/tui/details"
	"gcity/tui/feed"
	"gcity/tui/keymap"
	"gcity/tui/panel"
	"gcity/tui/state"
	"gcity/tui/tuitest"
)

func few(n *city.Snapshot) {
	kept := n.Agents[:0]
	for _, a := range n.Agents {
		if a.Name == "builder" || a.Name == "chatty" || a.Name == "idle" {
			kept = append(kept, a)
		}
	}
	n.Agents = kept
}

func (s *stage) ended(names ...string) {
	for _, name := range names {
		s.agent(name, func(a *city.Agent) { a.Session.ID += "-next" }) // its next session has already started
	}
}

func TestDrainAllThenLeave(t *testing.T) {
	s := demo(t, 120, 40)
	s.change(few)
	s.press("q", "d")
	s.wants()
	s.shows("Drain 3 agents, then quit?", "do not restart", "or after 5m.")
	s.press("enter") // "no" is preselected
	s.wants()
	s.press("q", "d", "y")
	s.wants(city.Drain{Agent: "builder", Final: true}, city.Drain{Agent: "chatty", Final: true}, city.Drain{Agent: "idle", Final: true})
	s.shows("quitting when all agents have finished: 0 of 3 done, at most 5m left", "esc cancels")
	s.ended("builder", "idle")
	s.shows("2 of 3 done")
	if _, ok := effectOf[feed.Quit](s); ok {
		t.Fatal("the room closed before all agents had finished")
	}
	s.ended("chatty")
	if f, ok := effectOf[feed.Quit](s); !ok || f.Exit != feed.StopCity {
		t.Error("all agents have finished, but the room stays open")
	}
}

// A starting agent can have a session, but cannot be drained. Leaving does not wait for it.
func TestDrainAllSkipsStartingAgents(t *testing.T) {
	s := demo(t, 120, 40)
	s.change(few)
	s.agent("chatty", func(a *city.Agent) { a.State = city.Starting })
	s.press("q", "d")
	s.shows("Drain 2 agents, then quit?")
	s.press("y")
	s.wants(city.Drain{Agent: "builder", Final: true}, city.Drain{Agent: "idle", Final: true})
	s.ended("builder", "idle")
	if f, ok := effectOf[feed.Quit](s); !ok || f.Exit != feed.StopCity {
		t.Error("all drained agents have finished, but the room stays open")
	}
}

func TestDrainAllHasADeadline(t *testing.T) {
	s := demo(t, 120, 40)
	s.change(few)
	s.press("q", "d", "y")
	s.wait(details.DefaultDrainTimeout - 10*time.Second)
	if _, ok := effectOf[feed.Quit](s); ok {
		t.Fatal("left too early")
	}
	s.wait(10*time.Second + panel.CheckSlack)
	if f, ok := effectOf[feed.Quit](s); !ok || f.Exit != feed.StopCity {
		t.Error("the deadline has passed, but the room stays open")
	}
}

func TestEscStays(t *testing.T) {
	s := demo(t, 120, 40)
	s.change(few)
	drains := func(a *city.Agent) { a.State = city.Draining }
	s.agent("chatty", drains) // already draining before the question
	s.press("q", "d", "y")
	s.wants(city.Drain{Agent: "builder", Final: true}, city.Drain{Agent: "idle", Final: true})
	s.done("builder drains", "idle drains")
	s.agent("builder", func(a *city.Agent) { a.State, a.Running, a.Session = city.Exited, false, nil })
	s.press("esc")                                                       // idle's drain is not in the snapshot yet
	s.wants(city.Undrain{Agent: "builder"}, city.Undrain{Agent: "idle"}) // builder has exited; this restarts it
	s.hides("quitting when")
	s.ended("idle", "chatty")
	s.wait(2 * details.DefaultDrainTimeout)
	if _, ok := effectOf[feed.Quit](s); ok {
		t.Error("the room closed although the user chose to stay")
	}
}

// The question about a city that does not respond can be answered although news keep arriving.
func TestTheQuestionAboutALostCityAcceptsAnswers(t *testing.T) {
	s := newStage(t, Options{Mode: state.Joined})
	s.size(120, 40)
	s.hear(feed.News{Snap: demoSnapshot(epoch)})
	s.line("stop city", "enter")
	why := "the controller has exited"
	s.hear(feed.News{Unreachable: &why})
	s.shows("Quit bright-lights?", "┃ no controller for 0s")
	s.wait(2 * keymap.DialogGuard)
	s.wait(2 * time.Second)
	s.shows("┃ no controller for 2s")
	s.send(tuitest.KeyPress("l"))
	if f, ok := effectOf[feed.Quit](s); !ok || f.Exit != feed.Leave {
		t.Errorf("the room stays open:\n%s", s.text())
	}
}

// A question about stopping the city returns after a short interruption, and requires the confirmation again.
func TestTheQuestionAboutStoppingReturns(t *testing.T) {
	for _, agents := range []int{6, 3} {
		s := newStage(t, Options{Mode: state.Joined})
		s.size(120, 40)
		s.hear(feed.News{Snap: demoSnapshot(epoch)})
		if agents == 3 {
			s.change(few)
		}
		s.line("stop city", "enter")
		if agents == 6 {
			s.press("6")
		}
		title := fmt.Sprintf("Stop %d agents and the city?", agents)
		why := "the connection was lost"
		s.hear(feed.News{Unreachable: &why})
		s.shows("Quit bright-lights?")
		s.hides(title)
		if s.m.Dialogs.Choice().Cursor != 1 {
			t.Error("quitting is preselected")
		}
		s.press("up")
		why = ""
		s.hear(feed.News{Unreachable: &why})
		s.shows(title)
		s.press("enter") // "no" is preselected
		if _, ok := effectOf[feed.Quit](s); ok {
			t.Errorf("%d agents: enter left the room", agents)
		}
		s.line("stop city", "enter")
		why = "the connection was lost"
		s.hear(feed.News{Unreachable: &why})
		s.press("enter")
		if _, ok := effectOf[feed.Quit](s); ok {
			t.Errorf("%d agents: enter left the room of a city that does not respond", agents)
		}
	}
}

// Stopping the city asks for confirmation even if the preferences turn confirmations off.
func TestStoppingTheCityAsks(t *testing.T) {
	s := newStage(t, Options{Mode: state.Joined})
	s.size(120, 40)
	s.hear(feed.News{Snap: demoSnapshot(epoch)})
	s.m.Confirm = state.ConfirmNever
	left := func() bool {
		f, ok := effectOf[feed.Quit](s)
		return ok && f.Exit == feed.StopCity
	}
	s.line("stop city", "enter")
	s.shows("Stop 6 agents and the city?", "type 6")
	s.press("esc")
	s.change(few)
	s.line("stop city", "enter")
	s.shows("Stop 3 agents and the city?")
	s.press("enter") // "no" is preselected
	if left() {
		t.Fatal("stopped without a confirmation")
	}
	s.line("stop city", "enter")
	why := "the controller has exited"
	s.hear(feed.News{Unreachable: &why})
	s.shows("Quit bright-lights?")
	s.press("n")
	why = ""
	s.hear(feed.News{Unreachable: &why})
	s.line("stop city", "enter", "y")
	if !left() {
		t.Error("the city is not stopped")
	}
	s.change(func(n *city.Snapshot) { n.Agents = nil })
	s.line("stop city", "enter")
	if !left() {
		t.Error("no agent is running, but the room asks a question")
	}
}

// If the user presses esc before the results of the drain commands arrive, the drains are canceled once they arrive.
func TestEscStaysBeforeTheAnswer(t *testing.T) {
	s := demo(t, 120, 40)
	s.change(few)
	s.press("q", "d", "y")
	p, _ := effectOf[feed.SendCommands](s)
	s.press("esc")
	s.wants()
	s.shows("not quitting; the drains will be canceled")
	s.hear(feed.News{Results: []feed.Result{{ID: p.ID, Title: p.Title, Total: 3, Receipts: []string{"", ""}, Failures: []string{"chatty: no session"}, FailedIndexes: []int{1}}}})
	s.wants(city.Undrain{Agent: "builder"}, city.Undrain{Agent: "idle"})
	s.wait(2 * details.DefaultDrainTimeout)
	if _, ok := effectOf[feed.Quit](s); ok {
		t.Error("the room closed although the user chose to stay")
	}
}

// A room that is left while its agents drain cancels the drains first, because the next controller would complete them.
func TestLeavingCancelsTheDrains(t *testing.T) {
	for key, want := range map[string]feed.Exit{"b": feed.HandOver, "a": feed.KeepAgents} {
		s := demo(t, 120, 40)
		s.change(few)
		s.press("q", "d", "y")
		drains := feed.News{Results: []feed.Result{{ID: s.m.Departure.ID, Total: 3, Receipts: []string{"", "", ""}}}}
		s.press("q", key)
		s.wants()
		s.shows("quitting when the city has canceled the drains")
		s.hear(drains)
		s.wants(city.Undrain{Agent: "builder"}, city.Undrain{Agent: "chatty"}, city.Undrain{Agent: "idle"})
		if _, ok := effectOf[feed.Quit](s); ok {
			t.Fatalf("%s: left before the drains were canceled", key)
		}
		s.shows("quitting when the city has canceled the drains")
		if state.StartSwitch(s.m, feed.SwitchCity{Name: "alpha"}) != nil {
			t.Fatalf("%s: the user can go to another city, where the room does not quit", key)
		}
		if all := state.DepartureUndrains(s.m); len(all) != 3 {
			t.Errorf("%s: a hangup cancels the drains %v", key, all)
		}
		undrains := feed.News{Results: []feed.Result{{ID: s.m.Departure.ID, Total: 3, Receipts: []string{"", "", ""}}}}
		s.press("esc") // dismisses why the room did not switch
		s.hear(undrains)
		if f, ok := effectOf[feed.Quit](s); !ok || f.Exit != want {
			t.Errorf("%s: the drains are canceled, but the room stays open: %+v", key, s.out)
		}
	}
	s := demo(t, 120, 40)
	s.change(few)
	s.press("q", "d", "y")
	s.done("builder drains", "chatty drains", "idle drains")
	s.press("q", "b")
	p, _ := effectOf[feed.SendCommands](s)
	s.hear(feed.News{Results: []feed.Result{{ID: p.ID, Title: p.Title, Total: 3, Receipts: []string{"", ""}, Failures: []string{"idle is stopping"}, FailedIndexes: []int{2}}}})
	s.shows("idle is stopping")
	if _, ok := effectOf[feed.Quit](s); ok {
		t.Error("the room closed although a drain was not canceled")
	}
	s.press("q", "b")
	if f, ok := effectOf[feed.Quit](s); !ok || f.Exit != feed.HandOver {
		t.Error("the user cannot leave after the failure")
	}
}

// The user can quit without waiting for the city to cancel the drains, or stay with esc.
func TestLeavingDoesNotRequireAResponse(t *testing.T) {
	for _, responds := range []bool{false, true} { // to the drains
		leaving := func() *stage {
			s := demo(t, 120, 40)
			s.change(few)
			s.press("q", "d", "y")
			if responds {
				s.done("builder drains", "chatty drains", "idle drains")
			}
			s.press("q", "b")
			if _, ok := effectOf[feed.Quit](s); ok {
				t.Fatal("left before the drains were canceled")
			}
			return s
		}
		s := leaving()
		s.press("q", "b")
		if f, ok := effectOf[feed.Quit](s); !ok || f.Exit != feed.HandOver {
			t.Errorf("the user cannot leave: responds = %v", responds)
		}
		s = leaving()
		result := feed.News{Results: []feed.Result{{ID: s.m.Departure.ID, Total: 3, Receipts: []string{"", "", ""}}}}
		s.press("esc")
		s.hides("quitting when")
		s.hear(result)
		if _, ok := effectOf[feed.Quit](s); ok {
			t.Errorf("left although the user chose to stay: responds = %v", responds)
		}
	}
}

// The user can drain all agents again only after the earlier drains are canceled, because esc cancels only the latest drains.
func TestDrainAllTwice(t *testing.T) {
	s := demo(t, 120, 40)
	s.change(few)
	s.press("q", "d", "y")
	s.done("builder drains", "chatty drains", "idle drains")
	s.press("q", "d")
	s.shows("cannot drain all agents again: quitting when all agents have finished: 0 of 3 done")
	s.press("esc", "esc")
	s.wants(city.Undrain{Agent: "builder"}, city.Undrain{Agent: "chatty"}, city.Undrain{Agent: "idle"})
	undrains := feed.News{Results: []feed.Result{{ID: s.m.Departure.ID, Total: 3, Receipts: []string{"", "", ""}}}}
	s.press("q", "d")
	s.shows("cannot drain all agents again: the previous drains are not canceled yet")
	s.hear(undrains)
	s.press("esc", "q", "d", "y")
	s.wants(city.Drain{Agent: "builder", Final: true}, city.Drain{Agent: "chatty", Final: true}, city.Drain{Agent: "idle", Final: true})
}

// Leaving does not wait for agents that cannot be drained.
func TestDrainAllIsRefused(t *testing.T) {
	s := demo(t, 120, 40)
	s.change(few)
	s.press("q", "d", "y")
	p, _ := effectOf[feed.SendCommands](s)
	s.ended("builder", "idle")
	s.hear(feed.News{Results: []feed.Result{{ID: p.ID, Title: p.Title, Total: 3, Receipts: []string{"", ""}, Failures: []string{"chatty: no session"}, FailedIndexes: []int{1}}}})
	if f, ok := effectOf[feed.Quit](s); !ok || f.Exit != feed.StopCity {
		t.Errorf("left: %v", ok)
	}
}

func TestDrainAllOfMany(t *testing.T) {
	s := demo(t, 120, 40)
	s.press("q", "d")
	s.shows("type 5") // shop/reviewer is starting
	s.press("y", "enter")
	s.wants()
	s.press("backspace", "5", "enter")
	if n := len(s.commands()); n != 4 { // deployer is already draining
		t.Errorf("%d agents are asked to finish", n)
	}
	s.change(func(n *city.Snapshot) {
		for i := range n.Agents {
			n.Agents[i].Running, n.Agents[i].Session = false, nil
		}
	})
	if _, ok := effectOf[feed.Quit](s); !ok {
		t.Error("no agent is running, but the city does not stop")
	}
	s = demo(t, 120, 40)
	s.change(func(n *city.Snapshot) { n.Agents = nil })
	s.press("q", "d")
	if _, ok := effectOf[feed.Quit](s); !ok {
		t.Error("there is no agent to wait for, but the room stays open")
	}
}

// If the user stays, the room switches back to the city in which the user pressed the quit key.
func TestStayGoesBack(t *testing.T) {
	for _, keys := range [][]string{{"esc"}, {"n"}, {"d", "esc"}, {"s", "n"}, {"s", "enter"}} {
		s := demo(t, 120, 40)
		s.change(few)
		actions.AskLeave(s.m, func(m *state.Room) []feed.Effect {
			return state.StartSwitch(m, feed.SwitchCity{Name: "harbour", Path: "/harbour"})
		})
		s.wait(time.Second)
		s.press(keys...)
		if e, ok := effectOf[feed.SwitchCity](s); !ok || e.Name != "harbour" {
			t.Errorf("%v: %+v", keys, s.out)
		}
	}
}
