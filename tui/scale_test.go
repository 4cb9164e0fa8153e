package tui

import (
	"testing"
	"time"

	"gcity/city"
	"gcity/tui/feed"
	"gcity/tui/state"
)

func TestScaleByHand(t *testing.T) {
	s := pooled(t, 120, 40)
	s.pick("worker")
	s.press("S")
	s.shows("scale worker to (1-5, or auto; check: 2): ")
	s.press("4", "enter")
	s.wants(city.Scale{Pool: "worker", Size: 4})
	s.shows("scaling pool worker to 4")
	s.pick("batch")
	s.press("S", "A", "u", "t", "o", "enter")
	s.wants() // two members would leave, so the room asks for confirmation
	s.shows("Let batch's check set the size again?", "batch-3, batch-4", "They will be asked to finish. They stop when they report done, or after", "5m.")
	s.press("y")
	s.wants(city.Scale{Pool: "batch", Auto: true})
	s.press("S", "esc")
	s.wants()
	s.press("S", "enter")
	s.wants()
	if s.m.Dialogs.Prompt() != nil || s.m.Dialogs.Choice() != nil {
		t.Error("an empty size does something")
	}
}

// An invalid size is rejected in the input line with the reason, and no command is sent.
func TestSizesOutOfBoundsAreRefusedWhereTheyAreTyped(t *testing.T) {
	for _, w := range []int{120, 60} {
		s := pooled(t, w, 24)
		s.pick("worker")
		for text, why := range map[string]string{
			"9": "max is 5 (city.toml:200:1)", "0": "min is 1 (city.toml:200:1)", "-": `invalid size "-"`, "x": `invalid size "x"`,
		} {
			s.press("S", text, "enter")
			s.wants()
			s.shows(why)
			s.press("backspace")
			s.hides(why)
			s.press("3", "esc")
			s.wants()
			if s.m.Dialogs.Prompt() != nil {
				t.Fatal("the prompt stays after esc")
			}
		}
	}
}

func TestScaleAsksBeforeMembersLeave(t *testing.T) {
	s := pooled(t, 120, 40)
	s.pick("worker")
	s.press("S", "1", "enter")
	s.wants()
	s.shows("Scale worker to 1?", "worker-2", "or after 2m.")
	s.hides("worker-1 ", "worker-1,") // the question does not list worker-1, and it covers Pools
	s.press("n")
	s.wants()
	s.press("<", "y")
	s.wants(city.Scale{Pool: "worker", Size: 1})
	s.press(">")
	s.wants(city.Scale{Pool: "worker", Size: 2})
}

// Busy members leave last. The question names the member that will leave.
func TestScaleNamesTheIdleMember(t *testing.T) {
	s := pooled(t, 120, 40)
	s.agent("worker-2", func(a *city.Agent) { a.Task = "gc-7 fix the retry test" })
	s.pick("worker")
	s.press("<")
	s.shows("Scale worker to 1?", "┃ worker-1 ")
	s.press("n")
	s.agent("worker-1", func(a *city.Agent) { a.Task = "gc-8 paint the fence" })
	s.press("<")
	s.shows("Scale worker to 1?", "┃ worker-2 ")
	s.press("n")
	s.press("S", "1", "enter")
	s.shows("┃ worker-2 ")
}

// If > is pressed again before the city has responded, the requested size increases by one.
func TestRepeatedMoreAddsUp(t *testing.T) {
	s := pooled(t, 120, 40)
	s.pick("worker")
	s.press(">", ">", ">")
	s.wants(city.Scale{Pool: "worker", Size: 3}, city.Scale{Pool: "worker", Size: 4}, city.Scale{Pool: "worker", Size: 5})
	s.press(">")
	s.wants()
	s.shows("worker is at its maximum: 5 (city.toml:200:1)")
	s.wait(state.StatusDuration) // the city has not changed the size in time, so > starts from the city's size again
	s.press("esc", ">")
	s.wants(city.Scale{Pool: "worker", Size: 3})
	s.hear(feed.News{Results: []feed.Result{{ID: s.m.Status.ID, Total: 1, Failures: []string{"worker: the loop does not turn"}}}})
	s.press(">")
	s.wants(city.Scale{Pool: "worker", Size: 3})
	s.pick("batch")
	s.press(">")
	s.wants(city.Scale{Pool: "batch", Size: 5})
}

func TestLessAndMoreKnowTheBounds(t *testing.T) {
	s := pooled(t, 120, 40)
	s.pick("triage")
	s.hides("< one less")
	s.press("<")
	s.wants()
	s.shows("triage is at its minimum: 1 (city.toml:180:1)")
	s.press("esc")
	s.pick("merge")
	s.hides("> one more")
	s.press(">")
	s.wants()
	s.shows("merge is at its maximum: 1 (city.toml:140:1)")
	s.press("esc")
	s.pick("shop/tester")
	s.pool("shop/tester", func(p *city.Pool) { p.Min = 2 })
	s.press(">") // the pool is suspended and has no members, but its minimum size is 2
	s.wants(city.Scale{Pool: "shop/tester", Size: 3})
}

func TestManyMembersLeaveOnlyByTheirNumber(t *testing.T) {
	s := pooled(t, 120, 40)
	s.change(func(n *city.Snapshot) {
		for i := 5; i <= 8; i++ {
			n.Agents = append(n.Agents, city.Agent{Name: "batch-" + string(rune('0'+i)), Pool: "batch", State: city.Running, Running: true})
		}
	})
	s.pool("batch", func(p *city.Pool) { p.Size, p.Desired, p.Override = 8, 8, nil })
	s.pick("batch")
	s.press("S", "2", "enter")
	s.shows("batch-3, batch-4, batch-5, batch-6, batch-7, batch-8", "type 6 to confirm:")
	s.press("y", "enter")
	s.wants()
	s.press("backspace", "6", "enter")
	s.wants(city.Scale{Pool: "batch", Size: 2})
}

// A prompt scales only the pool that its label names.
func TestAPoolThatIsGoneIsNotScaled(t *testing.T) {
	s := pooled(t, 120, 40)
	s.pick("worker")
	s.press("S", "4")
	s.change(func(n *city.Snapshot) { n.Pools = n.Pools[:1] })
	s.press("enter")
	s.wants()
	s.shows("cannot scale worker: the pool is no longer part of the city")
}

func TestPoolRestart(t *testing.T) {
	s := pooled(t, 120, 40)
	s.pick("worker")
	s.press("r")
	s.shows("Restart worker?")
	s.wait(2 * time.Second)
	s.press("y")
	s.wants(city.RestartPool{Pool: "worker", Rolling: true})
	s.press("r")
	s.wait(2 * time.Second)
	s.press("a")
	s.wants(city.RestartPool{Pool: "worker"})
	s.press("r", "esc")
	s.wants()
}

// A pool with one running member can be restarted in only one way.
func TestRestartOfAPoolWithOneMember(t *testing.T) {
	s := pooled(t, 120, 40)
	s.change(without("worker-2"))
	s.pool("worker", func(p *city.Pool) {
		p.Size, p.Desired, p.Draining = 1, 2, []string{"worker-3"}
	})
	s.pick("worker")
	s.shows("waiting for worker-3 to finish")
	s.press("r")
	s.shows("1 member will restart: worker-1.", "Skipped: worker-3 is draining.", "yes, restart it")
	s.hides("one member after the other")
	s.press("y")
	s.wants(city.RestartPool{Pool: "worker"})
}

// The question says whether a new session starts after the member has drained.
func TestTheDrainOfAMemberSaysWhatFollows(t *testing.T) {
	s := pooled(t, 160, 40)
	s.m.Confirm = state.ConfirmAlways
	s.choose("worker-1")
	s.pool("worker", func(p *city.Pool) { p.Size, p.Desired, p.Min = 2, 2, 1 })
	s.press("D")
	s.shows("Pool worker wants 2 members (min is 1), so a new session will start.")
	s.press("n")
	s.pool("worker", func(p *city.Pool) { p.Size, p.Desired, p.Min = 3, 2, 1 })
	s.press("D")
	s.shows("no new session will")
}

func TestPoolCheck(t *testing.T) {
	s := pooled(t, 120, 40)
	s.pick("worker")
	s.press("K")
	s.wants(city.CheckPool{Pool: "worker"})
	s.pick("merge")
	s.press("K")
	s.wants()
	s.shows("has no check")
}
