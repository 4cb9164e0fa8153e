package tui

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"gcity/city"
	"gcity/tui/feed"
	"gcity/tui/keymap"
	"gcity/tui/panel"
	"gcity/tui/state"
	"gcity/tui/tuitest"
)

func (s *stage) wants(want ...city.Command) {
	s.t.Helper()
	if got := s.commands(); !reflect.DeepEqual(got, want) {
		s.t.Errorf("commands %v, want %v", got, want)
	}
}

func (s *stage) order() []string {
	var names []string
	for _, i := range s.m.Agents.List.Shown {
		names = append(names, s.m.Agents.Rows[i].Name)
	}
	return names
}

func TestProblemsComeFirst(t *testing.T) {
	s := demo(t, 120, 40)
	if s.m.Agents.SelectedKey != "prober" || s.order()[1] != "scout" {
		t.Errorf("the list begins with %v, %s is selected", s.order()[:3], s.m.Agents.SelectedKey)
	}
}

func TestListsCountNames(t *testing.T) {
	s := demo(t, 120, 40)
	s.change(func(n *city.Snapshot) {
		n.Agents = nil
		for _, name := range []string{"worker-1", "worker-10", "worker-2"} {
			n.Agents = append(n.Agents, city.Agent{Name: name, State: city.Running, Running: true})
		}
	})
	if got := s.order(); !slices.Equal(got, []string{"worker-1", "worker-2", "worker-10"}) {
		t.Errorf("the list is %v", got)
	}
}

func TestOrderStaysWhileTheUserWorks(t *testing.T) {
	s := demo(t, 120, 40)
	s.choose("idle")
	before := s.order()
	s.agent("zeta", func(a *city.Agent) { a.State, a.Reason = city.Failed, "no such file" })
	if got := s.order(); !slices.Equal(got, before) {
		t.Errorf("the order changed right after a key:\n%v\n%v", before, got)
	}
	s.wait(state.IdleAfter)
	if got := s.order(); got[1] != "zeta" {
		t.Errorf("the failed agent has not moved up: %v", got)
	}
	if s.m.Agents.SelectedKey != "idle" {
		t.Errorf("the cursor moved to %s", s.m.Agents.SelectedKey)
	}
	s.press("r", "y")
	s.wants(city.Restart{Agent: "idle"})
}

func TestNewAgentsComeInWhereTheyBelong(t *testing.T) {
	s := demo(t, 120, 40)
	s.press("j")
	s.change(func(n *city.Snapshot) {
		n.Agents = append(n.Agents, city.Agent{Name: "beta", State: city.Running, Running: true})
	})
	if i, j := slices.Index(s.order(), "builder"), slices.Index(s.order(), "beta"); j != i-1 {
		t.Errorf("want beta before builder in %v", s.order())
	}
}

func TestCursorSurvivesTheAgentsEnd(t *testing.T) {
	s := demo(t, 120, 40)
	s.choose("scout")
	s.change(func(n *city.Snapshot) {
		n.Agents = slices.DeleteFunc(n.Agents, func(a city.Agent) bool { return a.Name == "scout" })
	})
	if s.m.Agents.SelectedKey != "flaky" {
		t.Errorf("the cursor did not stay at its position, but moved to %s", s.m.Agents.SelectedKey)
	}
	s.change(func(n *city.Snapshot) { n.Agents = nil })
	s.press("r")
	s.wants()
	s.shows("no agents yet", "[[agents]]")
}

// Keys that were sent before the user could see the question are rejected with a message.
func TestQuestionsTakeTheirOwnKeysAtOnce(t *testing.T) {
	s := demo(t, 120, 40)
	s.choose("builder")
	s.press("r")
	s.send(tuitest.KeyPress("y")) // arrives together with r
	s.wants()
	s.shows("Restart builder?", "y came too early")
	s.now = s.now.Add(keymap.DialogGuard / 2)
	s.send(tuitest.KeyPress("enter"))
	s.shows("enter came too early")
	s.send(tuitest.KeyPress("y")) // the user might not have seen that the previous keys were rejected
	s.wants()
	s.press("y")
	s.wants(city.Restart{Agent: "builder"})
	s.hides("Restart builder?")
	s.press("r")
	s.send(tuitest.KeyPress("esc")) // canceling is safe and never too early
	s.hides("Restart builder?")
	s.press("r", "enter") // "no" is preselected
	s.wants()
	s.hides("Restart builder?")
	s.press("r", "k")
	s.shows("k is not an answer; press y or n")
	s.press("y")
	s.wants(city.Restart{Agent: "builder"})
	s.shows("restarting builder")
	s.size(40, 10)
	s.choose("builder")
	s.press("r", "k")
	s.shows("Restart builder?", "k is not an answer; press y or n")
}

func TestOutcomes(t *testing.T) {
	s := demo(t, 120, 40)
	s.choose("builder")
	s.press("r", "y")
	s.hear(feed.News{Results: []feed.Result{{ID: s.m.Status.ID, Total: 1, Receipts: []string{"restarted builder, pid 4812"}}}})
	s.shows("✓ restarted builder, pid 4812")
	s.wait(state.StatusDuration + time.Second)
	s.hides("pid 4812 ")
	s.press("r", "y")
	s.hear(feed.News{Results: []feed.Result{{ID: s.m.Status.ID, Total: 1, Failures: []string{"cannot restart builder: it is being stopped"}}}})
	s.wait(time.Hour)
	s.shows("cannot restart builder: it is being stopped", "esc dismisses")
	s.press("esc")
	s.hides("cannot restart builder")
}

func TestSuspendAndResume(t *testing.T) {
	s := demo(t, 120, 40)
	s.choose("builder")
	s.press("s", "y")
	s.wants(city.Suspend{Agent: "builder"})
	s.agent("shop/writer", func(a *city.Agent) { a.Reason, a.SuspendedBy = "in city.toml", city.AgentLevel })
	s.choose("shop/writer")
	s.shows("s resume")
	s.press("s")
	s.wants(city.Resume{Agent: "shop/writer"})
}

func TestReleaseNeedsAHeldAgent(t *testing.T) {
	s := demo(t, 120, 40)
	s.press("3", "u")
	s.wants(city.Release{Agent: "scout"})
	s.press("1")
	s.choose("builder")
	s.press("u")
	s.wants()
	s.shows("releasing scout has no undo; only agents in quarantine, in backoff or draining")
}

func TestKillNeedsTheName(t *testing.T) {
	s := demo(t, 120, 40)
	s.choose("idle")
	s.press("ctrl+k", "i", "d", "l", "enter")
	s.wants()
	s.press("e", "enter")
	s.wants(city.Kill{Agent: "idle"})
	s.press("ctrl+k", "up", "i", "d", "l", "e", "enter")
	s.wants(city.Stop{Agent: "idle"})
	s.press("ctrl+k")
	s.shows("Kill or stop idle", "> cancel")
	s.press("enter")
	s.wants()
	s.hides("Kill or stop idle")
}

func TestMarksAndBulk(t *testing.T) {
	s := demo(t, 120, 40)
	s.choose("builder")
	s.press("space", "space", "space")
	s.shows("3 marked")
	s.press("r")
	s.shows("Restart 3 marked agents?", "builder, chatty, idle")
	s.press("y")
	s.wants(city.Restart{Agent: "builder"}, city.Restart{Agent: "chatty"}, city.Restart{Agent: "idle"})
	sent, _ := effectOf[feed.SendCommands](s)
	s.hear(feed.News{Results: []feed.Result{{ID: sent.ID, Title: sent.Title, Total: 3, Receipts: []string{"", ""}, Failures: []string{"idle: gone"}}}})
	s.shows("restarting 3 marked agents: 2 ok, 1 failed: idle: gone")
	s.hides("(3 marked)", " 3 marked  ")
}

func TestManyNeedTheirNumber(t *testing.T) {
	s := demo(t, 120, 40)
	s.press("*", "r", "y", "enter")
	s.wants()
	s.shows("Not restarted: shop/writer is suspended; s resumes it.")
	s.press("backspace", "1", "1", "enter")
	if n := len(s.commands()); n != 11 {
		t.Errorf("%d commands, want 11", n)
	}
}

func TestReadOnlyRefusesVerbs(t *testing.T) {
	s := newStage(t, Options{Mode: state.ReadOnly})
	s.size(120, 40)
	s.hear(feed.News{Snap: demoSnapshot(epoch)})
	s.change(withPools)
	verbs := 0
	for _, focus := range []panel.ID{panel.IDAgents, panel.IDPools} {
		for i := range s.m.Keys.Actions {
			a := &s.m.Keys.Actions[i]
			noun, _, _ := strings.Cut(a.ID, ".")
			if !a.Reachable() || !slices.Contains([]string{"agent", "pool", "rig", "config"}, noun) && a.ID != "city.reload" {
				continue
			}
			verbs++
			s.m.Focus, s.m.Pools.SelectedKey = focus, "worker"
			s.m.Dialogs.CloseIn(keymap.InReader)
			s.out = perform(s.m, a)
			s.wants()
			s.closeNotice()
			if _, ok := effectOf[feed.Attach](s); ok || s.m.Dialogs.Choice() != nil ||
				s.m.Dialogs.Prompt() != nil {
				t.Errorf("%s is not refused", a.ID)
			}
		}
	}
	if verbs < 30 {
		t.Errorf("only %d verbs were tried", verbs)
	}
	s.press("esc", "esc", "esc", "1")
	s.hides("r restart", "a attach")
}

func TestSendOneLine(t *testing.T) {
	s := demo(t, 120, 40)
	s.choose("idle")
	s.press("i", "r", "u", "space", "q", "left", "n", "enter")
	s.wants(city.Nudge{Agent: "idle", Text: "ru nq"})
	s.press("i", "x", "esc")
	s.wants()
	s.choose("scout")
	s.press("i")
	s.shows("scout is quarantined and has no session; u releases it")
}

// Outside of a prompt, the characters of pasted text are not run as commands.
func TestPasteRunsNothing(t *testing.T) {
	s := demo(t, 120, 40)
	s.choose("idle")
	s.send(tea.PasteMsg{Content: "qs\x1b[31mry\n"})
	if s.m.Dialogs.Choice() != nil || len(s.commands()) > 0 {
		t.Error("a paste opened a dialog")
	}
	s.press("i")
	s.send(tea.PasteMsg{Content: "make\x1b test\nnow\n"})
	s.press("enter")
	s.wants(city.Nudge{Agent: "idle", Text: "make test\nnow"})
}

func TestEscNeverLeaves(t *testing.T) {
	s := demo(t, 120, 40)
	s.press("!", "/", "s", "enter", "space", "5", "f", "k")
	for range 20 {
		s.press("esc")
		if _, ok := effectOf[feed.Quit](s); ok {
			t.Fatal("esc left")
		}
	}
	if s.m.Focus != panel.IDAgents || s.m.OnlyAttention || s.m.Agents.Filter.Active() || s.m.Zoomed || len(s.m.Agents.Marks) > 0 {
		t.Error("esc did not undo everything")
	}
}

// Two presses of esc without a pause between them arrive as one key.
func TestEscTwiceAtOnce(t *testing.T) {
	s := demo(t, 120, 40)
	s.press("/", "s", "enter", ":", "alt+esc")
	if s.m.Dialogs.Top() != nil || s.m.Agents.Filter.Active() {
		t.Errorf("%T is open, and the filter is %q", s.m.Dialogs.Top(), s.m.Agents.Filter.Text)
	}
}

func TestInvalidNameIsReported(t *testing.T) {
	for _, size := range [][2]int{{120, 40}, {60, 20}} {
		s := demo(t, size[0], size[1])
		s.choose("idle")
		s.press("ctrl+k", "i", "d", "l", "enter")
		s.wants()
		s.shows("type idle to confirm: idl  this does not match")
		s.press("e")
		s.hides("this does not match")
		s.press("enter")
		s.wants(city.Kill{Agent: "idle"})
	}
}

func TestQuitByMode(t *testing.T) {
	for _, c := range []struct {
		mode state.Mode
		keys []string
		want feed.Exit
	}{
		{state.Hosting, []string{"q", "b"}, feed.HandOver},
		{state.Hosting, []string{"q", "h"}, feed.HandOver}, // the former key
		{state.Hosting, []string{"ctrl+c", "a"}, feed.KeepAgents},
		{state.Hosting, []string{"q", "s", "6", "enter"}, feed.StopCity},
		{state.Hosting, []string{"q", "s", "enter", "esc"}, -1},
		{state.Hosting, []string{"q", "enter"}, -1},
		{state.Hosting, []string{"q", "q", "n"}, -1},
		{state.Hosting, []string{"ctrl+z", "enter"}, -1},
		{state.Joined, []string{"q"}, feed.Leave},
		{state.Joined, []string{"ctrl+c"}, feed.Leave},
		{state.Joined, []string{":", "s", "t", "o", "p", "space", "c", "i", "t", "y", "enter", "6", "enter"}, feed.StopCity},
		{state.ReadOnly, []string{"q"}, feed.Leave},
	} {
		s := newStage(t, Options{Mode: c.mode})
		s.hear(feed.News{Snap: demoSnapshot(epoch)})
		s.press(c.keys...)
		f, ok := effectOf[feed.Quit](s)
		if !ok {
			f.Exit = -1
		}
		if f.Exit != c.want || s.m.Dialogs.Choice() != nil {
			t.Errorf("%v %v: exit %d, want %d", c.mode, c.keys, f.Exit, c.want)
		}
	}
}

func TestHelpRunsWhatItFinds(t *testing.T) {
	s := demo(t, 120, 40)
	s.choose("builder")
	s.press("?", "r", "e", "s", "t", "a", "r", "t", "space", "t", "h", "e", "enter")
	s.shows("Restart builder?")
	s.press("n", ":", "z", "z", "z", "z", "enter")
	s.wants()
	s.shows(`unknown action "zzzz"`)
	s.press("esc", ":", "ctrl+k")
	if len(s.m.Dialogs.Finder().Found) != len(s.m.Dialogs.Finder().All) {
		t.Error("an editing key changed the search")
	}
}

func TestLostCityIsReported(t *testing.T) {
	s := demo(t, 120, 40)
	why := "the controller has exited"
	s.hear(feed.News{Unreachable: &why})
	s.shows("the city cannot be reached: the controller has exited")
	why = ""
	s.hear(feed.News{Unreachable: &why})
	s.hides("cannot be reached")
	s.wait(5 * time.Minute)
	s.shows("the controller's last patrol was 5m")
}

func TestRoomLeavesAStoppedCityAtOnce(t *testing.T) {
	why := "the controller has exited"
	for _, c := range []struct {
		mode     state.Mode
		shutDown bool
		banner   string
		asks     bool
	}{
		{state.Joined, true, "the city stopped 1h00 ago; run `gcity`", false},
		{state.ReadOnly, true, "the city stopped", false},
		{state.Joined, false, "no controller for 1h00; run `gcity`; agents keep running", false},
		{state.ReadOnly, false, "no controller for 1h00; run `gcity`; agents keep running", false},
		{state.Hosting, false, "the city cannot be reached", true},
	} {
		s := newStage(t, Options{Mode: c.mode})
		s.size(120, 40)
		s.hear(feed.News{Snap: demoSnapshot(epoch)})
		if c.shutDown {
			s.change(func(n *city.Snapshot) { n.ShutDown = true })
			s.shows("the city is shutting down")
		}
		s.hear(feed.News{Unreachable: &why})
		s.wait(time.Hour)
		s.shows(c.banner)
		if c.shutDown {
			s.hides("no response for", "is shutting down", "r restart", "a attach", "restarts in 0s", "the controller's last patrol")
		}
		s.press("q")
		f, left := effectOf[feed.Quit](s)
		if asks := s.m.Dialogs.Choice() != nil; asks != c.asks || left == c.asks ||
			left && f.Exit != feed.Leave {
			t.Errorf("%+v: got left %v with %v, question %v", c, left, f.Exit, asks)
		}
		if !c.asks {
			s.hides("keeps running", "runs elsewhere")
		}
	}
}

// If the city does not respond, a dialog that covers the whole screen says that its data is outdated.
func TestDetailsOfARemovedCity(t *testing.T) {
	for _, key := range []string{"d", "c"} {
		s := newStage(t, Options{Mode: state.Joined})
		s.size(80, 24)
		s.hear(feed.News{Snap: demoSnapshot(epoch)})
		s.press(key)
		s.hides("this is how it was")
		why, again := "nobody answers", ""
		s.hear(feed.News{Unreachable: &why})
		s.wait(5 * time.Second)
		s.shows("no response from the city for 5s; this is its last known state")
		s.hear(feed.News{Unreachable: &again})
		s.hides("this is how it was")
	}
}

// If a city has stopped together with all its agents, the ages on the screen keep growing.
func TestAgesGrowInAStoppedCity(t *testing.T) {
	s := newStage(t, Options{Mode: state.Joined})
	s.size(120, 40)
	s.hear(feed.News{Snap: demoSnapshot(epoch)})
	s.change(func(n *city.Snapshot) {
		n.ShutDown = true
		for i := range n.Agents {
			a := &n.Agents[i]
			a.State, a.Running, a.Session, a.Since = city.Exited, false, nil, epoch
			a.Reason, a.Next = "stopped with the city", nil
		}
	})
	why := "the controller has exited"
	s.hear(feed.News{Unreachable: &why})
	s.wait(time.Hour)
	s.shows("the city stopped 1h00 ago", "exited for 1h00")
}

// If the city stops, the question about leaving offers only the answers that are still possible.
func TestTheCityEndsUnderTheQuestion(t *testing.T) {
	s := newStage(t, Options{Mode: state.Joined})
	s.size(120, 40)
	s.hear(feed.News{Snap: demoSnapshot(epoch)})
	s.line("stop city", "enter")
	s.shows("Stop 6 agents and the city?")
	s.change(func(n *city.Snapshot) { n.ShutDown = true })
	why := "the controller has exited"
	s.hear(feed.News{Unreachable: &why})
	s.shows("the city stopped", "Quit bright-lights?")
	s.hides("the controller?")
	s.press("enter") // "stay" is preselected
	if _, left := effectOf[feed.Quit](s); left || s.m.Dialogs.Choice() != nil {
		t.Errorf("left %v", left)
	}
}

// A room that runs its city explains what happens if the terminal closes.
func TestLeavingSaysWhatClosingDoes(t *testing.T) {
	for on, want := range map[string]string{"": "leaves everything running", "stop": "stops the city", "leave": "leaves only the agents"} {
		s := demo(t, 120, 40)
		s.m.Preferences.OnHangup = on
		s.press("q")
		s.shows("keep the city running in the background", "Closing the terminal", want)
	}
}

// An older snapshot is ignored, unless the controller has restarted.
func TestOlderSnapshotIsIgnored(t *testing.T) {
	s := demo(t, 120, 40)
	old := s.m.Snap
	s.agent("idle", func(a *city.Agent) { a.Description = "busy now" })
	s.hear(feed.News{Snap: old})
	s.shows("busy now")
	restarted := *old
	restarted.Started, restarted.Rev = epoch, 1
	s.hear(feed.News{Snap: &restarted})
	s.hides("busy now")
}

// The reason for a refusal disappears at the next key, at esc, or after some seconds.
func TestAStatusGoesAway(t *testing.T) {
	refused := func() *stage {
		s := demo(t, 120, 40)
		s.choose("prober")
		s.press("i")
		s.shows("cannot send")
		return s
	}
	s := refused()
	s.press("j")
	s.hides("cannot send")
	s = refused()
	s.press("esc")
	s.hides("cannot send")
	s = refused()
	s.wait(state.StatusDuration + time.Second)
	s.hides("cannot send")
	s.press("M")
	s.shows("the terminal handles the mouse")
	s.press("esc")
	s.hides("the terminal handles the mouse")
}

// Without a controller, verbs are refused with the reason.
func TestNothingIsPossibleWithoutAController(t *testing.T) {
	s := newStage(t, Options{Mode: state.Joined})
	s.size(80, 24)
	s.hear(feed.News{Snap: demoSnapshot(epoch)})
	s.choose("builder")
	s.hear(feed.News{Pane: paneOf("builder", "builder-1")})
	s.shows("0 builder following")
	why := feed.NotRunning
	s.hear(feed.News{Unreachable: &why})
	s.shows("no controller for 0s; run `gcity`; agents keep running", "0 builder frozen at 10:")
	for _, key := range []string{"r", "s", "D", "i", "ctrl+k", "W"} {
		s.press(key)
		if s.m.Dialogs.Top() != nil || len(s.out) > 0 || !strings.Contains(s.m.Status.Text, "no controller for") {
			t.Errorf("%s: %q, %T", key, s.m.Status.Text, s.m.Dialogs.Top())
		}
		s.m.RejectedTextAt = time.Time{}
	}
	s.press("a")
	s.shows("Not attached", "no controller for")
}

// A filter also searches descriptions, but the cursor goes to the row with the best matching name.
func TestTheFilterSelectsTheBestName(t *testing.T) {
	s := demo(t, 120, 40)
	s.agent("prober", func(a *city.Agent) { a.Description, a.State, a.Reason = "watches idle", city.Running, "" })
	s.agent("monitor", func(a *city.Agent) { a.Description = "is idle" })
	for text, want := range map[string]string{"idle": "idle", "id": "idle", "dle": "idle", "writer": "shop/writer"} {
		s.press("/")
		s.typeIn(text)
		s.press("enter")
		if s.m.Agents.SelectedKey != want {
			t.Errorf("/%s selects %s of %v", text, s.m.Agents.SelectedKey, s.order())
		}
		s.press("esc")
	}
	// the first letter selects shell, which the second letter hides
	s.change(func(n *city.Snapshot) {
		for i := range n.Agents {
			n.Agents[i].Name = fmt.Sprintf("sleeper-%d", i)
		}
		n.Agents[0].Name, n.Agents[1].Name, n.Agents[2].Name = "alpha", "crasher", "shell"
	})
	s.wait(time.Minute)
	s.choose("alpha")
	s.press("/", "s", "l")
	if order := s.order(); s.m.Agents.SelectedKey != order[0] {
		t.Errorf("/sl selects %s of %v", s.m.Agents.SelectedKey, order)
	}
}

func TestTheHintAboutAStoppedCityIsNotCut(t *testing.T) {
	for _, c := range []struct{ opened, mode, want string }{
		{"", "console", "run `gcity`;"},
		{"", "headless", "run `gcity`;"},
		{"bright-lights", "supervised", "run `gcity start` in its folder"},
	} {
		s := demo(t, 80, 24)
		s.m.OpenedAs, s.m.Mode = c.opened, state.Joined
		why := feed.Exited
		s.change(func(n *city.Snapshot) { n.ShutDown, n.Mode = true, c.mode })
		s.hear(feed.News{Unreachable: &why})
		s.shows("the city stopped 0s ago; " + c.want)
	}
}

// A room that has no data yet also says how to start the city.
func TestTheHintNeedsNoSnapshot(t *testing.T) {
	s := newStage(t, Options{Mode: state.Joined})
	s.size(80, 24)
	why := feed.NotRunning
	s.hear(feed.News{Unreachable: &why})
	s.shows("no controller for 0s; run `gcity`; agents keep running")
}
