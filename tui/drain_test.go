package tui

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"gcity/city"
	"gcity/tui/feed"
	"gcity/tui/panel"
	"gcity/tui/state"
)

// D asks, y drains the agent, and undo cancels the drain.
func TestDrainOfOneAgentIsUndone(t *testing.T) {
	for _, keys := range [][]string{{"D", "y"}, {"2", "D", "m", "2", "enter"}, {"2", "D", "enter", "2", "enter"}} {
		for _, size := range [][2]int{{200, 60}, {80, 24}} {
			s := pooled(t, size[0], size[1])
			s.pick("worker")
			s.press("1")
			s.choose("worker-2")
			s.press(keys[:len(keys)-1]...)
			s.wants()
			s.press(keys[len(keys)-1])
			s.wants(city.Drain{Agent: "worker-2"})
			s.shows("draining worker-2")
			s.agent("worker-2", func(a *city.Agent) {
				a.State, a.Drain = city.Draining, &city.DrainInfo{By: "operator", Since: s.now}
			})
			s.press("u")
			s.wants(city.Undrain{Agent: "worker-2"})
		}
	}
}

// The members of a pool that is scaling down to zero are draining already.
func TestDrainOfAPoolThatScalesDown(t *testing.T) {
	s := pooled(t, 120, 40)
	s.pick("worker")
	for _, name := range []string{"worker-1", "worker-2", "worker-3"} {
		s.agent(name, func(a *city.Agent) {
			a.State, a.Drain = city.Draining, &city.DrainInfo{By: "pool", Since: s.now}
		})
	}
	s.press("D")
	s.wants()
	s.shows("running members of pool worker are draining because their pool is scaling down", "press 2, then >")
	s.press("esc")
	for _, name := range []string{"worker-1", "worker-2", "worker-3"} {
		s.agent(name, func(a *city.Agent) { a.State, a.Running = city.Exited, false })
	}
	s.press("D")
	s.shows("no member of pool worker is running")
}

func TestDrainAsksFirst(t *testing.T) {
	s := pooled(t, 120, 40)
	s.choose("builder")
	s.shows("D drain")
	s.press("D")
	s.wants()
	s.shows("Drain builder?", "It will be asked to finish. It stops when it reports done, or after 5m.", "it is declared")
	s.press("n")
	s.wants()
	s.hides("nothing was changed")
	s.press("D", "enter") // "no" is preselected
	s.wants()
	s.shows("nothing was changed")
	s.press("D", "y")
	s.wants(city.Drain{Agent: "builder"})
	s.shows("draining builder")
	s.press("r", "enter")
	s.shows("draining builder")
}

func TestDrainIsCanceled(t *testing.T) {
	s := pooled(t, 120, 40)
	s.choose("deployer")
	s.shows("D undrain")
	s.hides("u release") // the hint for D already contains the effect of u
	s.press("D")
	s.wants(city.Undrain{Agent: "deployer"})
	s.wait(state.UndoDuration)
	s.press("u")
	s.wants(city.Undrain{Agent: "deployer"})
}

func TestDrainNeedsSomethingToFinish(t *testing.T) {
	s := pooled(t, 120, 40)
	s.choose("scout")
	s.hides("D drain")
	s.press("D")
	s.wants()
	s.shows("scout is quarantined, so there is nothing to drain")
	s.choose("idle")
	s.agent("idle", func(a *city.Agent) { a.State = city.Stopping })
	s.press("D")
	s.wants()
	s.shows("idle is stopping, so there is nothing to drain")
}

// The only way to keep a surplus member is to scale its pool up.
func TestDrainOfASurplusMemberIsNotCanceled(t *testing.T) {
	s := pooled(t, 120, 40)
	s.choose("worker-3")
	s.hides("D undrain", "u release")
	s.press("u")
	s.wants()
	s.shows("worker-3 is draining because pool worker is scaling down; to keep the agent, press 2, then >")
	s.press("esc", "D")
	s.wants()
	s.shows("! worker-3 is already draining: pool worker wants 2, kill in", "; to keep the agent, press 2, then >")
	if s.m.Status.Failed {
		t.Error("the note is a failure")
	}
	s.press("esc")
	s.choose("worker-2")
	s.press("D")
	s.agent("worker-2", func(a *city.Agent) { a.State, a.Drain = city.Draining, &city.DrainInfo{By: "pool", Since: s.now} })
	s.shows("nothing was done: worker-2 is draining")
	if s.m.Dialogs.Choice() != nil {
		t.Error("the question about nothing stays open")
	}
	s.press("esc")
	s.line("undrain worker-3", "enter")
	s.wants()
	s.shows("draining because its pool is scaling down; scale worker up to keep the agent")
}

// In Pools, D drains all running members of the pool, or of the marked pools.
func TestDrainWholePools(t *testing.T) {
	s := pooled(t, 120, 40)
	s.choose("builder")
	s.press("space")
	s.pick("worker")
	s.shows("D drain")
	s.press("D")
	s.shows("Drain pool worker?", "worker-1, worker-2", "asked to finish", "> m  choose just one member", "a  yes, drain both members")
	s.press("a")
	s.wants(city.Drain{Agent: "worker-1"}, city.Drain{Agent: "worker-2"})
	for _, name := range []string{"worker-1", "worker-2"} {
		s.agent(name, func(a *city.Agent) { a.State, a.Drain = city.Draining, &city.DrainInfo{By: "operator", Since: s.now} })
	}
	s.shows("u undo draining 2 agents")
	s.press("D")
	s.shows("Cancel the drain of pool worker?")
	s.press("y")
	s.wants(city.Undrain{Agent: "worker-1"}, city.Undrain{Agent: "worker-2"})
	s.pick("batch")
	s.press("space")
	s.pick("merge")
	s.press("space", "D")
	s.shows("Drain 5 members of 2 marked pools?", "batch-1, batch-2, batch-3, batch-4, merge", "type 5")
	s.press("5", "enter")
	if n := len(s.commands()); n != 5 || len(s.m.Pools.Marks) > 0 || !s.m.Agents.Marks["builder"] {
		t.Errorf("%d commands, marked are %v and %v", n, s.m.Pools.Marks, s.m.Agents.Marks)
	}
	s.pick("shop/tester")
	s.press("D")
	s.wants()
	s.shows("no member of pool shop/tester is running")
	s.line("drain builder", "enter", "y")
	s.wants(city.Drain{Agent: "builder"})
}

// In Pools, D m lists the members of the pool, and enter drains the selected member.
func TestDrainOneMemberOfAPool(t *testing.T) {
	for _, keys := range [][]string{{"2"}, {"w", "2"}, {"down"}, {"down", "down", "up"}} {
		s := pooled(t, 80, 24)
		s.pick("worker")
		s.press("D", "m")
		s.shows("> worker-1  ● running", "worker-3  ↓ draining")
		s.hides("all members")
		s.press(keys...)
		s.shows("> worker-2  ● running", "drains it", "when it reports done, or after 2m")
		s.press("enter")
		s.wants(city.Drain{Agent: "worker-2"})
		s.shows("draining worker-2")
	}
}

// The same keys cancel a member's drain. For a member that cannot drain, a message says why.
func TestAMemberOfAPoolThatCannotDrain(t *testing.T) {
	s := pooled(t, 120, 40)
	s.agent("worker-2", func(a *city.Agent) { a.State, a.Drain = city.Draining, &city.DrainInfo{By: "operator", Since: s.now} })
	s.agent("worker-1", func(a *city.Agent) { a.State, a.Running = city.Quarantined, false })
	s.pick("worker")
	s.press("D", "m", "2")
	s.shows("enter cancels its drain", "it will keep running")
	s.press("enter")
	s.wants(city.Undrain{Agent: "worker-2"})
	s.press("D", "m", "1")
	s.shows("worker-1 is quarantined, so there is nothing to drain")
	s.press("enter")
	s.wants()
	s.press("D", "m", "3")
	s.shows("worker-3 is already draining: pool worker wants 2", "enter does nothing")
	s.press("enter")
	s.wants()
	s.shows("! worker-3 is already draining: pool worker wants 2")
	s.hides("cannot worker-3")
	s.press("y")
	if s.m.Dialogs.Top() != nil || strings.Contains(s.m.Status.Text, "question") {
		t.Errorf("y opened %T: %q", s.m.Dialogs.Top(), s.m.Status.Text)
	}
}

// D in Pools always asks, like r, because the size of a pool can change at any time. If the pool has only one member,
// there is no choice.
func TestDrainOfAPoolAlwaysAsks(t *testing.T) {
	for _, confirm := range []state.Confirm{state.ConfirmNever, state.ConfirmAlways} {
		s := pooled(t, 120, 40)
		s.m.Confirm = confirm
		s.pick("merge")
		s.press("D")
		s.wants()
		s.shows("Drain pool merge?", "It will be asked to finish", "y  yes, drain merge", "> n  no, leave it")
		s.hides("choose just one member")
		s.press("y")
		s.wants(city.Drain{Agent: "merge"})
	}
	s := pooled(t, 120, 40)
	s.pick("worker")
	s.press("D", "m", "2", "enter")
	s.wants(city.Drain{Agent: "worker-2"})
	s.press("D", "m", "9")
	s.shows("No member matches. Type a part of a member's name")
	s.press("esc", "D", "n")
	s.wants()
	s.members("worker", 7)
	s.press("D", "a")
	s.wants()
	s.shows("Drain 7 members of pool worker?", "type 7")
}

// The question about draining one member offers to drain the entire pool instead, as the question about a restart does.
func TestAMemberLeadsToTheDrainOfItsPool(t *testing.T) {
	s := pooled(t, 80, 24)
	s.choose("worker-1")
	s.press("D")
	s.shows("Drain worker-1?", "p  pool: drain both members of worker")
	s.press("p")
	s.wants(city.Drain{Agent: "worker-1"}, city.Drain{Agent: "worker-2"})
	s.choose("builder")
	s.press("D")
	s.hides("pool: drain")
}

// For a named agent, the palette asks about a drain as it asks about a restart.
func TestThePaletteAsksAboutADrainAsAboutARestart(t *testing.T) {
	for line, want := range map[string]city.Command{
		"drain worker-2": city.Drain{Agent: "worker-2"}, "restart worker-2": city.Restart{Agent: "worker-2"},
	} {
		s := pooled(t, 80, 24)
		s.line(line, "enter")
		s.wants()
		s.press("y")
		s.wants(want)
	}
}

// From the question about restarting a pool, the user can go to one of the pool's members.
func TestRestartOneMemberOfAPool(t *testing.T) {
	s := pooled(t, 80, 24)
	s.pick("worker")
	s.press("r")
	s.shows("m  choose just one member")
	s.press("m", "2", "enter")
	s.wants(city.Restart{Agent: "worker-2"})
	s.agent("worker-2", func(a *city.Agent) { a.NoRestart = "a restart would only stop it" })
	s.press("r", "m", "2")
	s.shows("a restart would only stop it")
	s.hides("restarts it")
	s.press("enter")
	s.wants()
	s.pick("merge")
	s.press("r")
	s.hides("choose just one member")
}

// If several agents are marked, D drains those that can be drained.
func TestDrainOfMany(t *testing.T) {
	s := pooled(t, 120, 40)
	mark := func(names ...string) {
		s.press("esc", "esc", "esc")
		for _, name := range names {
			s.choose(name)
			s.press("space")
		}
	}
	mark("builder", "scout", "worker-1", "worker-3")
	s.press("D")
	s.shows("Drain 2 marked agents?", "builder, worker-1", "when they report done, or at", "surplus members")
	s.press("y")
	s.wants(city.Drain{Agent: "builder"}, city.Drain{Agent: "worker-1"})
	mark("deployer", "scout", "worker-3")
	s.press("D")
	s.wants(city.Undrain{Agent: "deployer"})
	mark("flaky", "scout")
	s.press("D")
	s.wants()
	s.shows("no selected agent is running, so there is nothing to drain")
	mark("deployer", "scout", "flaky")
	s.press("u")
	s.wants(city.Release{Agent: "scout"}, city.Release{Agent: "flaky"}, city.Undrain{Agent: "deployer"})
	s.press("esc", "*", "D", "y", "enter") // with many agents, the user must type their number
	s.wants()
	s.press("backspace", "1", "3", "enter")
	if n := len(s.commands()); n != 13 {
		t.Errorf("%d commands, want 13", n)
	}
}

func TestDrainWithoutDeadlineIsShown(t *testing.T) {
	s := pooled(t, 120, 40)
	s.pool("worker", func(p *city.Pool) { p.Timeout = 0 })
	s.choose("worker-1")
	s.press("D")
	s.shows(", without a")
	s.press("n")
	s.pool("worker", func(p *city.Pool) { p.Timeout = 90 * time.Second })
	s.press("D")
	s.shows("or after", "1m30s.")
}

// An undo asks no question, so it stops no agents.
func TestUndoStopsNoAgents(t *testing.T) {
	for why, act := range map[string]func(s *stage){
		"canceling the drain of deployer has no undo": func(s *stage) { s.choose("deployer"); s.press("D") },
		"resuming builder has no undo": func(s *stage) {
			s.agent("builder", func(a *city.Agent) { a.State, a.Reason, a.Running = city.Suspended, "in city.toml", false })
			s.choose("builder")
			s.press("s")
		},
		"it would drain worker-3": func(s *stage) {
			s.pick("worker")
			s.press(">")
			s.shows("u undoes for") // no member has started yet
			s.members("worker", 3)
		},
	} {
		t.Run(why, func(t *testing.T) {
			s := pooled(t, 120, 40)
			act(s)
			s.hides("u undo")
			s.line("undo", "enter")
			s.wants()
			s.shows(why)
		})
	}
}

func TestAPoolIsNotShortOfAMemberThatTheUserDrains(t *testing.T) {
	s := pooled(t, 120, 40)
	s.press("2")
	drained := func(by string, n int) {
		s.agent("worker-2", func(a *city.Agent) {
			a.State, a.Drain = city.Draining, &city.DrainInfo{By: by, Since: s.now}
		})
		s.pool("worker", func(p *city.Pool) { p.Size, p.Desired, p.Draining = 2-n, 2, []string{"worker-2"} })
	}
	drained("operator", 1)
	s.wait(2 * panel.MaxShort)
	drained("operator", 1)
	s.shows("draining   worker", "waiting for worker-2 to finish")
	drained("operator", 2)
	s.wait(panel.MaxShort)
	s.shows("short      worker")
	drained("operator", 1)
	s.pool("worker", func(p *city.Pool) { p.Draining = nil })
	s.shows("growing    worker")
	s.wait(panel.MaxShort)
	s.shows("short      worker")
	s.pool("worker", func(p *city.Pool) { p.Size = 2 })
	drained("pool", 1)
	s.wait(panel.MaxShort)
	s.shows("short      worker")
}

// The question about several agents names those that are omitted, and says why.
func TestADrainNamesTheOmittedAgents(t *testing.T) {
	s := demo(t, 80, 24)
	s.choose("flaky")
	s.press("space")
	s.choose("builder")
	s.press("space", "D")
	s.shows("Not drained: flaky is in backoff.")
}

// The question and the list of members are about the pool that their titles name, even after a reload.
func TestDrainOfAllMembersKeepsItsPool(t *testing.T) {
	gone := func(n *city.Snapshot) {
		n.Pools = slices.DeleteFunc(n.Pools, func(p city.Pool) bool { return p.Name != "merge" })
		n.Agents = slices.DeleteFunc(n.Agents, func(a city.Agent) bool { return a.Pool == "worker" })
	}
	for _, size := range [][2]int{{200, 60}, {80, 24}} {
		s := pooled(t, size[0], size[1])
		s.pick("worker")
		s.press("D", "m")
		s.change(gone)
		if at := s.m.Pools.SelectedKey; at != "merge" {
			t.Fatalf("%v: the cursor of Pools is on %s", size, at)
		}
		s.press("enter")
		s.wants()

		s = pooled(t, size[0], size[1])
		s.pick("worker")
		s.press("D")
		s.shows("Drain pool worker?", "worker-1, worker-2")
		s.change(gone)
		s.wants()
		s.shows("nothing was done: worker no longer")
	}
}

// The picker for members counts all entries, and names no effect of enter if no member matches.
func TestThePickerCountsEntries(t *testing.T) {
	for _, size := range [][2]int{{200, 60}, {80, 24}} {
		for _, keys := range [][]string{{"D", "m"}, {"enter"}} {
			s := pooled(t, size[0], size[1])
			s.pick("worker")
			s.press(keys...)
			if len(keys) == 1 {
				s.shows("> all members", "1 of 4 ┃")
				s.press("down")
				s.shows("2 of 4 ┃")
			} else {
				s.shows("1 of 3 ┃")
			}
			s.typeIn("xyz")
			s.shows("No member matches", "esc closes")
			s.hides("enter runs", "enter goes", "enter drains")
		}
	}
	s := among(t, 120, 40)
	s.hear(feed.News{Fleet: unsupervisedFleet()})
	s.press("@")
	all := len(state.Listed(s.m)) + 2
	s.shows(fmt.Sprintf("2 of %d ┃", all))
	s.press("end")
	s.shows(">   how to start a supervisor", fmt.Sprintf("%d of %d ┃", all, all))
}
