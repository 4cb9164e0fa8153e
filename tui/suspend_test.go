package tui

import (
	"testing"

	"gcity/city"
	"gcity/describe"
)

func TestSuspendAPool(t *testing.T) {
	s := pooled(t, 120, 40)
	s.choose("builder")
	s.pick("worker")
	s.shows("s suspend")
	s.press("s")
	s.shows("Suspend pool worker?", "3 sessions will stop, and none will start")
	if got := describe.SessionsStop(1); got != "1 session will stop" {
		t.Error(got)
	}
	s.press("y")
	s.wants(city.Suspend{Agent: "worker"})
	s.shows("suspending pool worker")
	s.pool("worker", func(p *city.Pool) {
		p.Suspended, p.SuspendedReason, p.SuspendedBy = true, "in city.toml", city.AgentLevel
	})
	s.shows("u undo suspending pool worker", "suspended  worker        2/2      1-5  suspended in city.toml")
	s.press("s")
	s.wants(city.Resume{Agent: "worker"})
	s.pick("merge")
	s.press("s", "y")
	s.wants(city.Suspend{Agent: "merge"})
}

// An agent that is still stopping after it was suspended can be resumed.
func TestResumeWhileTheAgentStops(t *testing.T) {
	s := pooled(t, 120, 40)
	s.choose("builder")
	s.agent("builder", func(a *city.Agent) {
		a.State, a.Suspended, a.SuspendedBy = city.Stopping, true, city.AgentLevel
	})
	s.shows("s resume")
	s.press("r")
	s.shows("cannot restart builder: it is suspended; s resumes it")
	s.press("esc", "s")
	s.wants(city.Resume{Agent: "builder"})
	s.line("suspend builder", "enter")
	s.wants()
	s.shows("builder is already suspended")
	s.press("esc")
	s.line("resume builder", "enter")
	s.wants(city.Resume{Agent: "builder"})
}

func TestSuspendNeedsTheNameOfTheRig(t *testing.T) {
	s := pooled(t, 120, 40)
	s.line("suspend rig", "enter")
	s.wants()
	s.shows("the name of the rig is missing; down selects the closest match")
	s.press("down", "enter", "y")
	s.wants(city.SuspendRig{Rig: "attic"})
}

// If an agent is suspended with its rig or city, the room offers to resume the rig or city.
func TestResumeWhatIsSuspendedFromAbove(t *testing.T) {
	s := pooled(t, 120, 40)
	s.pick("shop/tester")
	s.press("s")
	s.wants()
	s.shows("Resume rig shop?", "pool shop/tester is suspended with its rig")
	s.press("y")
	s.wants(city.ResumeRig{Rig: "shop"})
	s.press("1")
	s.choose("shop/writer")
	s.press("s", "n")
	s.wants()
	s.change(func(n *city.Snapshot) { n.Suspended = true })
	s.agent("shop/writer", func(a *city.Agent) { a.Reason, a.SuspendedBy = "with the city", city.CityLevel })
	s.press("s")
	s.shows("Resume bright-lights?")
	s.press("y")
	s.wants(city.Resume{})
	s.change(func(n *city.Snapshot) { n.Suspended = false })
	s.agent("shop/writer", func(a *city.Agent) { a.Reason, a.SuspendedBy = "in city.toml", city.AgentLevel })
	s.press("s")
	s.wants(city.Resume{Agent: "shop/writer"})
}

// If a pool can have several members, a member cannot be suspended on its own.
func TestAMemberIsSuspendedWithItsPool(t *testing.T) {
	s := pooled(t, 120, 40)
	s.choose("worker-1")
	s.press("s")
	s.shows("Suspend pool worker?", "worker-1 is a member of a pool: all members are suspended together.")
	s.press("y")
	s.wants(city.Suspend{Agent: "worker"})
	s.choose("merge")
	s.press("s")
	s.shows("Suspend merge?")
	s.press("y")
	s.wants(city.Suspend{Agent: "merge"})
	for _, name := range []string{"builder", "worker-1", "worker-2"} {
		s.choose(name)
		s.press("space")
	}
	s.press("s")
	s.shows("Suspend 1 marked agent and 1 pool?", "builder, pool worker")
	s.press("y")
	s.wants(city.Suspend{Agent: "builder"}, city.Suspend{Agent: "worker"})
	s.hides("3 marked")
}

func TestMixedMarksAreSuspendedAndUndoneEachOnItsOwn(t *testing.T) {
	s := pooled(t, 120, 40)
	s.agent("builder", func(a *city.Agent) {
		a.State, a.Running, a.Session = city.Suspended, false, nil
		a.Reason, a.SuspendedBy = "in city.toml", city.AgentLevel
	})
	for _, name := range []string{"shop/writer", "builder", "idle"} {
		s.choose(name)
		s.press("space")
	}
	s.press("s")
	s.shows("Suspend marked agent idle?", "2 others are already suspended")
	s.press("y")
	s.wants(city.Suspend{Agent: "idle"})
	s.press("u")
	s.wants(city.Resume{Agent: "idle"})
	for _, name := range []string{"shop/writer", "builder"} {
		s.choose(name)
		s.press("space")
	}
	s.shows("s resume")
	s.press("s") // the writer is suspended with its rig, not by its own flag
	s.wants(city.Resume{Agent: "builder"})
	s.press("u")
	s.wants()

	s.pool("worker", func(p *city.Pool) {
		p.Suspended, p.SuspendedReason, p.SuspendedBy = true, "in city.toml", city.AgentLevel
	})
	s.pick("merge")
	s.press("space")
	s.pick("worker")
	s.press("space", "s")
	s.shows("Suspend marked pool merge?")
	s.press("y")
	s.wants(city.Suspend{Agent: "merge"})
	s.press("u")
	s.wants(city.Resume{Agent: "merge"})
}

func TestRigsAreSuspendedByThePalette(t *testing.T) {
	s := pooled(t, 120, 40)
	run := func(id string) { s.out = perform(s.m, actionOf(s.m, id)) }
	s.choose("shop/reviewer")
	run("rig.suspend")
	s.shows("rig shop is already suspended")
	run("rig.resume")
	s.wants(city.ResumeRig{Rig: "shop"})
	s.change(func(n *city.Snapshot) { n.Rigs = []city.Rig{{Name: "shop", Agents: 7, Running: 2}} })
	run("rig.resume")
	s.shows("rig shop is not suspended")
	run("rig.suspend")
	s.wants()
	s.shows("Suspend rig shop?", "7 agents belong to it (2 running)")
	s.press("y")
	s.wants(city.SuspendRig{Rig: "shop"})
	s.pick("shop/tester")
	run("rig.suspend")
	s.shows("Suspend rig shop?")
	s.press("esc")
	s.pick("merge")
	run("rig.suspend")
	s.shows("merge belongs to no rig")
	s.press("esc", "1")
	s.choose("builder")
	run("rig.suspend")
	s.shows("builder belongs to no rig")
	s.change(func(n *city.Snapshot) { n.Rigs = []city.Rig{{Name: "shop", Agents: 7, Running: 6}} })
	s.choose("shop/writer")
	run("rig.suspend")
	s.press("y", "enter")
	s.wants() // many sessions would stop, so the user must type their number
	s.press("backspace", "6", "enter")
	s.wants(city.SuspendRig{Rig: "shop"})
}

func TestALongQuestionKeepsItsAnswers(t *testing.T) {
	s := pooled(t, 40, 10)
	s.choose("worker-1")
	s.press("s")
	s.shows("yes, suspend", "no, leave it", "more line")
	s.press("esc", "q")
	s.shows("stay")
	s.size(120, 40)
	s.shows("tab next answer")
}

// Questions about agents mention the sessions that exist: several, one or none.
func TestQuestionsNameExistingSessions(t *testing.T) {
	s := demo(t, 120, 40)
	s.choose("builder")
	s.press("space", "space", "r")
	s.shows("Restart 2 marked agents?", "Each session will end, and a new one will start.")
	s.press("esc", "esc")
	s.choose("scout")
	s.press("s")
	s.shows("Suspend scout?", "No session will start until you press s again")
}
