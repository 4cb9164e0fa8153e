package tui

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"gcity/city"
	"gcity/tui/feed"
	"gcity/tui/state"
	"gcity/tui/terminal"
)

func (s *stage) done(said ...string) {
	s.t.Helper()
	p, ok := effectOf[feed.SendCommands](s)
	if !ok {
		s.t.Fatal("no action is in progress")
	}
	s.hear(feed.News{Results: []feed.Result{{ID: p.ID, Title: p.Title, Total: len(p.Commands), Receipts: said}}})
}

func TestUndoRevertsTheLastVerb(t *testing.T) {
	s := demo(t, 120, 40)
	s.choose("builder")
	s.press("s", "y")
	s.shows("suspending builder", "u undoes for 30s", "u undo")
	s.wait(8 * time.Second)
	s.shows("u undoes for 22s")
	s.press("j") // the verb is undone, wherever the cursor is
	s.press("u")
	s.wants(city.Resume{Agent: "builder"})
	s.shows("undoing: suspending builder")
	s.done("agent builder is resumed")
	s.hides("u undoes")
	s.press("u")
	if got := s.commands(); len(got) > 0 {
		t.Errorf("a second u does %v", got)
	}
}

// The time left never exceeds the time limit, although the time of a frame can be older than the action.
func TestUndoIsNotOfferedForTooLong(t *testing.T) {
	s := pooled(t, 120, 40)
	s.pick("worker")
	s.wait(s.now.Truncate(time.Second).Add(1100 * time.Millisecond).Sub(s.now))
	s.shows("worker") // the first frame of this second
	s.press(">")
	s.shows("u undoes for 30s")
}

// The time limit for undo starts when the verb has ended.
func TestUndoAfterTheEnd(t *testing.T) {
	s := demo(t, 120, 40)
	s.choose("builder")
	s.press("space", "space", "space", "D", "y")
	p, _ := effectOf[feed.SendCommands](s)
	s.wait(9 * time.Second)
	s.hear(feed.News{Results: []feed.Result{{ID: p.ID, Title: p.Title, Total: 3, Receipts: []string{"builder drains", "idle drains"},
		Failures: []string{"chatty has no session"}, FailedIndexes: []int{1}}}})
	s.wait(9 * time.Second)
	s.press("u")
	s.wants(city.Undrain{Agent: "builder"}, city.Undrain{Agent: "idle"})
	s.choose("builder")
	s.press("s", "y")
	p, _ = effectOf[feed.SendCommands](s)
	s.hear(feed.News{Results: []feed.Result{{ID: p.ID, Title: p.Title, Total: 1, Failures: []string{"refused"}, FailedIndexes: []int{0}}}})
	s.press("u")
	s.wants()
	s.shows("the latest action failed; only agents in quarantine, in backoff or draining")
}

func TestWhatCanBeUndone(t *testing.T) {
	s := pooled(t, 120, 40)
	five := 5
	s.pool("batch", func(p *city.Pool) { p.Override = &five })
	for _, c := range []struct{ do, back city.Command }{
		{city.Suspend{Agent: "x"}, city.Resume{Agent: "x"}}, {city.Resume{}, nil},
		{city.SuspendRig{Rig: "r"}, city.ResumeRig{Rig: "r"}}, {city.ResumeRig{Rig: "r"}, nil},
		{city.Drain{Agent: "x"}, city.Undrain{Agent: "x"}}, {city.Undrain{Agent: "x"}, nil},
		{city.Scale{Pool: "worker", Size: 4}, city.Scale{Pool: "worker", Auto: true}},
		{city.Scale{Pool: "batch", Size: 1}, city.Scale{Pool: "batch", Size: 5}},
		{city.Scale{Pool: "batch", Auto: true}, city.Scale{Pool: "batch", Size: 5}},
		{city.Scale{Pool: "gone", Size: 1}, nil},
		{city.Restart{Agent: "x"}, nil}, {city.Kill{Agent: "x"}, nil}, {city.Stop{Agent: "x"}, nil}, {city.Nudge{Agent: "x"}, nil},
		{city.Fire{Automation: "x"}, nil}, {city.Release{Agent: "x"}, nil}, {city.Reload{}, nil},
	} {
		if got := state.Reverse(s.m, c.do); !reflect.DeepEqual(got, c.back) {
			t.Errorf("%#v is undone by %#v, want %#v", c.do, got, c.back)
		}
	}
	s.choose("builder")
	s.press("s", "y", "r", "y") // the latest verb is a restart, which cannot be undone
	s.hides("undoes")
}

func TestUndoScaling(t *testing.T) {
	s := pooled(t, 120, 40)
	s.pick("worker")
	s.press(">", "u")
	if got := s.commands(); !reflect.DeepEqual(got, []city.Command{city.Scale{Pool: "worker", Size: 3}, city.Scale{Pool: "worker", Auto: true}}) {
		t.Errorf("one more, undone: %#v", got)
	}
	s.press(">", ">", "u") // the city has not reported the first change yet
	got := s.commands()
	if want := (city.Scale{Pool: "worker", Size: 3}); got[len(got)-1] != want {
		t.Errorf("two more, the last undone: %#v", got)
	}
}

// In Quarantine, u releases the agent under the cursor.
func TestUndoLeavesQuarantineItsKey(t *testing.T) {
	s := demo(t, 120, 40)
	s.choose("builder")
	s.press("s", "y", "3")
	s.hides("u undoes")
	s.press("u")
	s.wants(city.Release{Agent: "scout"})
}

// If there is no agent to release and nothing to undo, the message for u says both.
func TestNothingToUndoAmongAutomations(t *testing.T) {
	s := automated(t, 120, 40)
	s.press("4", "u")
	s.wants()
	s.shows("no action to undo yet; to release an agent, press 1 for the agents")
}

// The hint about undo appears only next to its verb.
func TestMessagesAreAboutNow(t *testing.T) {
	s := demo(t, 120, 40)
	s.choose("builder")
	s.press("D", "y")
	s.done("agent builder is asked to finish; ended in 20s")
	s.shows("ended in 20s  u undoes for 30s")
	s.wait(8 * time.Second)
	s.shows("ended in 20s  8s ago  u undoes for 22s")
	s.press("D", "y")
	s.done("agent builder is told to finish")
	state.ShowFailure(s.m, "cannot do something else")
	s.hides("u undoes")
	s.press("esc")
	s.wait(state.UndoDuration)
	s.press("space", "space", "esc")
	s.shows("cleared 2 marks  u undoes")
	state.ShowFailure(s.m, "cannot do something else")
	s.hides("u undoes")
	s.press("esc")
	s.choose("builder")
	s.hear(feed.News{Pane: &terminal.News{Agent: "builder", Session: "builder-1", Screen: terminalWith("one\r\ntwo\r\n")}})
	s.press("0", "F", "m")
	s.shows("the mark is below the frozen view")
	s.press("F")
	s.hides("the mark is below the frozen view")
}

func TestClearedMarksComeBack(t *testing.T) {
	s := pooled(t, 120, 40)
	s.choose("builder")
	s.press("space", "space", "esc")
	s.hides("2 marked")
	s.shows("cleared 2 marks")
	s.press("u")
	s.shows("2 marked")
	s.press("*", "*")
	s.hides("marked")
	s.wait(state.UndoDuration)
	s.press("u")
	s.hides("marked")
}

func TestMarkRange(t *testing.T) {
	s := pooled(t, 120, 40)
	s.press("1", "g", "j", "space", "j", "j", "v")
	s.shows("4 marked")
	if order := s.order(); !s.m.Agents.Marks[order[1]] || !s.m.Agents.Marks[order[4]] || s.m.Agents.Marks[order[0]] || s.m.Agents.Marks[order[5]] {
		t.Errorf("marked are %v of %v", s.m.Agents.Marks, order)
	}
	s.press("g", "v") // a range can also extend upwards from the latest mark
	s.shows("5 marked")
	s.press("esc", "j", "j", "v") // a range does not start at a mark that has been cleared
	s.shows("1 marked")
	s.press("esc", "esc", "esc")
	s.pick("worker")
	s.press("v", "k", "space") // without a mark, v starts at the cursor
	s.shows("2 marked")
	s.press("s")
	s.shows("Suspend 2 marked pools?", "pool triage, pool worker")
	s.press("esc", "u")
	s.wants()
}

func TestBulkVerbsOfPoolsAndAutomations(t *testing.T) {
	s := pooled(t, 120, 40)
	s.pick("triage")
	s.press("space", "space", "s")
	s.shows("Suspend 2 marked pools?", "4 sessions will stop")
	s.press("y")
	s.wants(city.Suspend{Agent: "triage"}, city.Suspend{Agent: "worker"})
	s.hides(" 2 marked  ")
	s.change(withAutomations)
	s.point("db-health")
	s.press("space", "space", "t")
	s.shows("Fire 2 marked automations now?", "db-health, digest", "gate closed")
	s.press("y")
	s.wants(city.Fire{Automation: "db-health", By: "operator"}, city.Fire{Automation: "digest", By: "operator"})
	s.press("*", "t")
	s.shows("wisp-compact is broken")
}

func TestMessagesKeepWhatWasSaid(t *testing.T) {
	s := demo(t, 120, 40)
	s.choose("builder")
	s.press("space", "space", "space", "r", "y")
	p, _ := effectOf[feed.SendCommands](s)
	if last := s.m.Messages[len(s.m.Messages)-1]; last.ID != p.ID || last.Text != s.m.Status.Text {
		t.Errorf("the last message is %+v", last)
	}
	s.hear(feed.News{Results: []feed.Result{{ID: p.ID, Title: p.Title, Total: 3, Receipts: []string{"restarted builder", "restarted idle"},
		Failures: []string{"chatty: its holder does not answer"}, FailedIndexes: []int{1}}}})
	s.press("esc")
	s.hides("2 ok, 1 failed")
	s.out = perform(s.m, actionOf(s.m, "view.messages"))
	s.shows("Messages", "restarting 3 marked agents: 2 ok, 1 failed", "failed: chatty: its holder does not answer", "restarted builder", "restarted idle")
	s.hides("restarting 3 marked agents …")
	s.press("esc")
	for i := range state.KeptMessages + 50 {
		state.ShowSuccess(s.m, fmt.Sprintf("message %03d", i))
	}
	if n := len(s.m.Messages); n != state.KeptMessages {
		t.Errorf("%d messages are kept", n)
	}
	s.out = perform(s.m, actionOf(s.m, "view.messages"))
	s.shows("message 249")
	s.hides("message 050")
	s.press("g")
	s.shows("message 050")
	s.hides("message 049", "message 248")
}

func TestConfirmLevels(t *testing.T) {
	s := pooled(t, 120, 40)
	s.m.Confirm = state.ConfirmNever
	s.choose("builder")
	s.press("r")
	s.wants(city.Restart{Agent: "builder"})
	s.press("*", "r")
	s.wants()
	s.shows("type 19")
	s.press("esc", "esc")
	s.choose("idle")
	s.press("ctrl+k", "enter")
	s.wants()
	s.press("esc")
	s.change(held("builder"))
	s.press("C")
	s.wants()
	s.shows("Apply configuration")
	s.press("esc")
	s.m.Confirm = state.ConfirmAlways
	s.pick("worker")
	s.press(">")
	s.wants()
	s.shows("Scale worker to 3?")
	s.press("y")
	s.wants(city.Scale{Pool: "worker", Size: 3})
	s.press("3", "u")
	s.shows("Release scout?")
}

// No single key suspends five or more agents, no matter how they were selected.
func TestManySessionsNeedTheirNumber(t *testing.T) {
	s := pooled(t, 120, 40)
	s.out = perform(s.m, actionOf(s.m, "city.suspend"))
	s.shows(fmt.Sprintf("type %d", state.RunningAgents(s.m)))
	s.press("esc")
	s.members("worker", 7)
	s.pick("worker")
	s.press("s")
	s.shows("Suspend pool worker?", "7 sessions will stop", "type 7")
	s.press("y", "enter")
	s.wants()
}

// The hint about u says what it undoes.
func TestUndoNamesWhatItUndoes(t *testing.T) {
	s := demo(t, 120, 40)
	s.choose("builder")
	s.press("s", "y")
	s.shows("u undo suspending builder")
	s.choose("scout")
	s.hides("u undo")
	s.shows(":undo suspending builder", "u release scout")
	s.press("u")
	s.wants(city.Release{Agent: "scout"})
	s.choose("builder")
	s.press("s", "y")
	s.choose("scout")
	s.line("undo", "enter")
	s.wants(city.Resume{Agent: "builder"})
	s.choose("builder")
	s.press("D", "y")
	s.agent("builder", func(a *city.Agent) { a.State = city.Draining })
	s.press("u")
	s.wants(city.Undrain{Agent: "builder"})
	s.shows("undoing: draining builder")
}

func TestADrainThatHasEndedIsNotUndone(t *testing.T) {
	s := demo(t, 80, 24)
	s.choose("builder")
	s.press("D", "y")
	s.shows("u undoes for 30s", "u undo draining builder", "a attach")
	s.done("agent builder drains")
	s.agent("builder", func(a *city.Agent) { a.State = city.Draining })
	s.shows("u undoes for")
	s.wait(5 * time.Second)
	s.agent("builder", func(a *city.Agent) { a.State, a.Session.ID = city.Running, "next" })
	s.hides("u undo", "agent builder drains", "5s ago")
	s.shows("the drain of builder has ended")
	s.press("u")
	s.wants()
}

// The offer to undo disappears when a snapshot shows that nothing is left to undo.
func TestUndoEndsWithItsAction(t *testing.T) {
	for _, c := range []struct {
		name, why string
		keys      []string
		changes   []func(s *stage)
	}{
		{"drain has ended", "the drain of builder has ended", []string{"D", "y"}, []func(*stage){
			func(s *stage) { s.agent("builder", func(a *city.Agent) { a.State = city.Draining }) },
			func(s *stage) {
				s.agent("builder", func(a *city.Agent) { a.State, a.Running, a.Session = city.Exited, false, nil })
			}}},
		{"drain was canceled elsewhere", "builder is no longer draining", []string{"D", "y"}, []func(*stage){
			func(s *stage) { s.agent("builder", func(a *city.Agent) { a.State = city.Draining }) },
			func(s *stage) { s.agent("builder", func(a *city.Agent) { a.State = city.Running }) }}},
		{"agent was resumed elsewhere", "builder is no longer suspended", []string{"s", "y"}, []func(*stage){
			func(s *stage) { s.agent("builder", func(a *city.Agent) { a.State = city.Suspended }) },
			func(s *stage) { s.agent("builder", func(a *city.Agent) { a.State = city.Starting }) }}},
		{"agent is gone", "builder no longer exists", []string{"s", "y"}, []func(*stage){
			func(s *stage) {
				s.change(func(n *city.Snapshot) {
					n.Agents = slices.DeleteFunc(n.Agents, func(a city.Agent) bool { return a.Name == "builder" })
				})
			}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := demo(t, 120, 40)
			s.choose("builder")
			s.press(c.keys...)
			s.done("agent builder: ok")
			for _, change := range c.changes {
				s.shows("u undoes for")
				change(s)
			}
			s.hides("undoes for", "u undo")
			s.choose("idle")
			s.press("u")
			s.wants()
			s.shows("cannot release or undo: " + c.why)
			s.hides("only agents in quarantine")
			s.line("undo", "enter")
			s.wants()
		})
	}
}

func TestUndoOfADrainEndsAtItsDeadline(t *testing.T) {
	for _, id := range []string{"agents", "pools", "rigs", "automations", "work", "events"} {
		s := pooled(t, 120, 40)
		s.pool("worker", func(p *city.Pool) { p.Timeout = 20 * time.Second })
		s.choose("worker-2")
		s.press("D", "y")
		s.shows("u undoes for 20s")
		s.done("worker-2 was asked to finish")
		s.agent("worker-2", func(a *city.Agent) {
			until := s.now.Add(20 * time.Second)
			a.State, a.Drain, a.Until = city.Draining, &city.DrainInfo{By: "operator", Since: s.now, Deadline: &until}, &until
		})
		s.shows("u undoes for 20s")
		s.wait(8 * time.Second)
		s.shows("u undoes for 12s")
		s.wait(12 * time.Second)
		s.hides("undoes for")
		s.agent("worker-2", func(a *city.Agent) {
			a.State, a.Running, a.Drain, a.Until, a.Session = city.Exited, false, nil, nil, nil
		})
		s.out = perform(s.m, actionOf(s.m, "focus."+id))
		s.press("u")
		s.wants()
		if got, want := s.m.Status.Text, "cannot release or undo: the drain of worker-2 has ended"; got != want {
			t.Errorf("%s: %q, want %q", id, got, want)
		}
		s.wait(20 * time.Second)
		s.press("esc", "u")
		if got := s.m.Status.Text; !strings.HasSuffix(got, ": the drain of worker-2 has ended") {
			t.Errorf("%s: after the time limit: %q", id, got)
		}
		s.wait(state.UndoDuration)
		s.press("esc", "u")
		if got := s.m.Status.Text; strings.Contains(got, "drain of worker-2") {
			t.Errorf("%s: much later: %q", id, got)
		}
	}
}

// A snapshot that does not show the action yet does not end the undo.
func TestUndoOfWhatIsLeft(t *testing.T) {
	s := pooled(t, 120, 40)
	s.pick("worker")
	s.press(">")
	s.wait(time.Second)
	s.shows("u undoes for")
	three := 3
	s.pool("worker", func(p *city.Pool) { p.Override = &three })
	s.shows("u undoes for")
	s.pool("worker", func(p *city.Pool) { p.Override = nil })
	s.hides("u undoes")
	s = demo(t, 120, 40)
	s.choose("builder")
	s.press("space", "space", "s", "y")
	if got := len(s.commands()); got != 2 {
		t.Fatalf("%d commands, want 2", got)
	}
	s.agent("builder", func(a *city.Agent) { a.State = city.Suspended })
	s.agent("builder", func(a *city.Agent) { a.State = city.Running })
	s.press("u")
	if got := len(s.commands()); got != 1 {
		t.Errorf("%d commands undo, want 1", got)
	}
}

// Frames of the same snapshot do not examine the targets of a bulk action again.
func TestUndoExaminesItsTargetsOncePerSnapshot(t *testing.T) {
	s := demo(t, 120, 40)
	s.choose("builder")
	s.press("space", "space", "s", "y")
	s.shows("u undoes for")
	if n := testing.AllocsPerRun(10, func() { s.m.Undo.Possible(s.m) }); n > 0 {
		t.Errorf("the undo's commands are computed again: %v allocations", n)
	}
}

// The undo of an earlier verb is kept when marks are cleared.
func TestUndoSurvivesHarmlessKeys(t *testing.T) {
	s := suspendedBuilder(t)
	s.press("space", "esc", "u")
	s.shows("undoing: suspending builder")
}

func suspendedBuilder(t *testing.T) *stage {
	s := demo(t, 120, 40)
	s.choose("builder")
	s.press("s", "y")
	s.wants(city.Suspend{Agent: "builder"})
	s.done("agent builder is suspended")
	return s
}

// A verb that cannot be undone ends the undo of an earlier verb.
func TestUndoDoesNotSkipTheLatestVerb(t *testing.T) {
	why := map[string]string{"restart": "restarting builder", "kill": "killing builder",
		"release": "releasing scout", "mail": "sending mail to builder", "undrain": "releasing deployer"}
	for name, act := range map[string]func(s *stage){
		"restart": func(s *stage) { s.press("r", "y") },
		"kill":    func(s *stage) { s.press("ctrl+k"); s.typeIn("builder"); s.press("enter") },
		"release": func(s *stage) { s.choose("scout"); s.press("u") },
		"mail":    func(s *stage) { s.line("mail builder hello", "enter", "h", "i", "enter") },
		"undrain": func(s *stage) { s.choose("deployer"); s.press("u") },
	} {
		t.Run(name, func(t *testing.T) {
			s := suspendedBuilder(t)
			act(s)
			s.choose("builder")
			s.hides("undo")
			s.press("u")
			s.wants()
			s.shows(why[name] + " has no undo")
		})
	}
}

// The refusal says why the latest verb has no undo. If an earlier drain still runs, it says how to cancel it.
func TestUndoNamesTheKeyThatCancelsTheDrain(t *testing.T) {
	s := demo(t, 120, 40)
	s.choose("builder")
	s.press("D", "y")
	s.wants(city.Drain{Agent: "builder"})
	s.done("agent builder drains")
	s.agent("builder", func(a *city.Agent) {
		a.State, a.Drain = city.Draining, &city.DrainInfo{By: "operator", Since: s.now}
	})
	s.choose("scout")
	s.press("u")
	s.wants(city.Release{Agent: "scout"})
	s.done("agent scout is released")
	s.line("undo", "enter")
	s.wants()
	s.shows("cannot undo the latest action: releasing scout has no undo; D on the row of builder cancels its drain")
	s.choose("idle")
	s.press("u")
	s.wants()
	s.shows("releasing scout has no undo; D on the row of builder cancels its drain")
	s.hides("only agents in quarantine")
	s.choose("builder")
	s.press("D")
	s.wants(city.Undrain{Agent: "builder"})
	s.done("agent builder no longer drains")
	s.agent("builder", func(a *city.Agent) { a.State, a.Drain = city.Running, nil })
	s.choose("idle")
	s.press("r", "y")
	s.wants(city.Restart{Agent: "idle"})
	s.line("undo", "enter")
	s.shows("restarting idle has no undo")
	s.hides("cancels its drain")
}

// If u releases the selected agent, the palette line "undo" undoes the latest verb. The footer shows both.
func TestUndoAndReleaseAreBothShown(t *testing.T) {
	for _, w := range []int{80, 120, 200} {
		s := demo(t, w, 40)
		s.choose("builder")
		s.press("s", "y")
		s.wants(city.Suspend{Agent: "builder"})
		s.shows("u undo suspending builder", "u undoes for")
		s.choose("scout")
		s.shows(":undo suspending builder  u release scout", "  :undo undoes for")
		s.line("undo", "enter")
		s.wants(city.Resume{Agent: "builder"})
	}
}

// If the effect of u has changed by itself, the first u only names the new effect.
func TestUDoesNotChangeItsEffectUnderTheFinger(t *testing.T) {
	s := demo(t, 120, 40)
	s.choose("builder")
	s.press("s", "y")
	s.done("agent builder is suspended")
	s.choose("idle")
	s.shows("u undo suspending builder")
	s.agent("idle", func(a *city.Agent) { a.State, a.Running = city.Quarantined, false })
	s.press("u")
	s.wants()
	s.shows("u now releases idle; press it again")
	s.press("u")
	s.wants(city.Release{Agent: "idle"})

	s = demo(t, 120, 40) // the user has moved the cursor
	s.choose("builder")
	s.press("s", "y")
	s.choose("scout")
	s.press("u")
	s.wants(city.Release{Agent: "scout"})
}

// The refusal after the time limit names the action, and the key that helps.
func TestAnExpiredUndoNamesTheKeyThatHelps(t *testing.T) {
	s := suspendedBuilder(t)
	s.agent("builder", func(a *city.Agent) { a.State = city.Suspended })
	s.wait(state.UndoDuration)
	s.choose("idle")
	s.press("u")
	s.wants()
	s.shows("the undo of suspending builder has expired; s on its row resumes")
	s.choose("scout")
	s.press("u")
	s.wants(city.Release{Agent: "scout"})
}
