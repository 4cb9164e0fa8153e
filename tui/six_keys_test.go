package tui

import (
	"fmt"
	"testing"
	"time"

	"gcity/city"
	"gcity/tui/feed"
	"gcity/tui/panel"
	"gcity/tui/state"
)

// A member of a pool with many members can be drained with six keys.
func TestAMemberOfALongPoolDrainsInSixKeys(t *testing.T) {
	for _, keys := range [][]string{
		{"/", "1", "7", "enter", "D", "y"},
		{"/", "w", "1", "7", "enter", "D", "y"},
		{":", "1", "7", "enter", "D", "y"},
	} {
		s := longPool(t)
		s.press(keys...)
		s.wants(city.Drain{Agent: "worker-17"})
	}
	s := longPool(t)
	s.pick("worker")
	s.press("enter", "1", "7", "enter", "D", "y")
	s.wants(city.Drain{Agent: "worker-17"})
	s = longPool(t)
	s.press("2", "j", "j", "j", "j", "D", "m", "3", "enter")
	s.wants(city.Drain{Agent: "worker-3"})
}

// In a command line, a member's number can stand for its name.
func TestAMemberIsNamedByItsNumber(t *testing.T) {
	s := longPool(t)
	s.line("drain 14", "enter", "y")
	s.wants(city.Drain{Agent: "worker-14"})
	s.change(func(n *city.Snapshot) {
		n.Agents = append(n.Agents, city.Agent{Name: "shop/tester-14", Pool: "shop/tester",
			State: city.Running, Running: true, Since: epoch})
	})
	s.line("drain 14")
	if row := s.m.Dialogs.Finder().Runnable(); row != nil {
		t.Errorf("%q is marked", row.Line)
	}
	s.shows("2 similar")
	s.press("enter")
	s.shows(`unknown agent "14"`, "down selects the closest match")
	s.press("down", "down", "enter", "y")
	s.wants(city.Drain{Agent: "shop/tester-14"})
}

func longPool(t *testing.T) *stage {
	t.Helper()
	s := pooled(t, 80, 24)
	s.change(func(n *city.Snapshot) {
		n.Agents = nil
		for i := 1; i <= 40; i++ {
			n.Agents = append(n.Agents, city.Agent{Name: fmt.Sprintf("worker-%d", i), Pool: "worker",
				State: city.Running, Running: true, Since: epoch})
		}
	})
	return s
}

func TestThePoolLeadsToItsMembers(t *testing.T) {
	s := pooled(t, 120, 40)
	s.pick("worker")
	s.press(".")
	s.shows("/pool:worker 3 of ")
	s.press("esc")
	s.hides("/pool:worker")
	if s.m.Focus != panel.IDPools {
		t.Errorf("esc goes to %s", s.m.Focus)
	}
	s.press("enter", "enter")
	s.shows("/pool:worker 3 of ")
}

// A chosen member is selected in the list of all members, and esc goes back to the pool.
func TestAMemberIsChosenFromItsPool(t *testing.T) {
	s := pooled(t, 120, 40)
	s.pick("worker")
	s.press("enter")
	s.shows("Members of worker", "all members", "worker-1", "worker-3")
	s.press("2", "enter")
	s.shows("/pool:worker 3 of ")
	if s.m.Agents.SelectedKey != "worker-2" {
		t.Errorf("%s is selected", s.m.Agents.SelectedKey)
	}
	if kept := state.SavedRoomOf(s.m).Filters["agents"]; kept != "" {
		t.Errorf("the next visit begins with the filter %q", kept)
	}
	s.press("/", "r", "-", "3", "enter", "esc")
	if s.m.Focus != panel.IDPools || s.m.Agents.Filter.Active() {
		t.Errorf("esc goes to %s, filter %q", s.m.Focus, s.m.Agents.Filter.Text)
	}
	s.press("1", "esc")
	if s.m.Focus != panel.IDAgents {
		t.Errorf("a later esc goes to %s", s.m.Focus)
	}
}

// The question about restarting one member offers to restart the entire pool instead.
func TestAMemberLeadsToTheRestartOfItsPool(t *testing.T) {
	s := longPool(t)
	s.press("r")
	s.shows("p  pool: restart all 40 members of worker, one after the other")
	s.press("p")
	s.wants(city.RestartPool{Pool: "worker", Rolling: true})
	s.members("worker", 2)
	s.press("r")
	s.shows("p  pool: restart both members of worker, one after the other")
	s = demo(t, 80, 24)
	s.choose("builder")
	s.press("r")
	s.hides("pool: restart")
}

func TestAKeyOfAnotherPanelSaysWhereItWorks(t *testing.T) {
	s := pooled(t, 120, 40)
	s.press("K")
	s.shows("! \"K\" works in Pools (press 2): run the pool's check now")
	s.press("t")
	s.shows("\"t\" works in Automations (press 4): fire the automation now")
	s.press("Z")
	s.shows("\"Z\" does nothing here; ? lists the keys")
	s.press("f1")
	s.shows("\"f1\" does nothing here; ? lists the keys")
	s.wants()
}

// If a filter leaves only one agent, the prompt names it.
func TestAttachToAnotherAgent(t *testing.T) {
	s := pooled(t, 120, 40)
	s.press("/", "t", "r", "i")
	s.shows("enter selects triage-1")
	s.press("enter", "a")
	if e, _ := effectOf[feed.Attach](s); e.Agent != "triage-1" {
		t.Errorf("%+v", s.out)
	}
}

// A note about a key that does nothing disappears on esc, on the next key that does something, and after some time.
func TestANoteAboutAKeyGoes(t *testing.T) {
	const note = "\"Z\" does nothing here"
	s := pooled(t, 80, 24)
	s.press("2", "Z")
	s.shows("! " + note)
	s.press("esc")
	s.hides(note)
	if s.m.Focus != panel.IDPools {
		t.Errorf("the esc that dismisses a note goes to %s", s.m.Focus)
	}
	s.press("Z", "j")
	s.hides(note)
	s.press("Z")
	s.shows(note)
	s.wait(state.NoteDuration - time.Second)
	s.shows(note)
	s.wait(time.Second)
	s.hides(note)
	s.press("1", "K")
	s.shows("\"K\" works in Pools (press 2)")
	s.press("2")
	s.hides("works in Pools")
	s.press("1", "K")
	s.click("2 Pools")
	s.hides("works in Pools")
}
