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
	"gcity/events"
)

func (s *stage) wants(want ...city.Command) {
	s.t.Helper()
	if got := s.commands(); !reflect.DeepEqual(got, want) {
		s.t.Errorf("commands %v, want %v", got, want)
	}
}

func (s *stage) order() []string {
	var names []string
	for _, i := range s.m.agents.shown {
		names = append(names, s.m.roster.rows[i].name)
	}
	return names
}

func TestProblemsComeFirst(t *testing.T) {
	s := demo(t, 120, 40)
	if s.m.chosen != "prober" || s.order()[1] != "scout" {
		t.Errorf("the list begins with %v, %s is selected", s.order()[:3], s.m.chosen)
	}
}

func TestOrderStaysStillUnderTheHands(t *testing.T) {
	s := demo(t, 120, 40)
	s.choose("idle")
	before := s.order()
	s.agent("zeta", func(a *city.Agent) { a.State, a.Reason = city.Failed, "no such file" })
	if got := s.order(); !slices.Equal(got, before) {
		t.Errorf("the order changed right after a key:\n%v\n%v", before, got)
	}
	s.wait(still)
	if got := s.order(); got[1] != "zeta" {
		t.Errorf("later the failed agent comes up, got %v", got)
	}
	if s.m.chosen != "idle" {
		t.Errorf("the cursor went to %s", s.m.chosen)
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
		t.Errorf("beta belongs before builder: %v", s.order())
	}
}

func TestCursorSurvivesTheAgentsEnd(t *testing.T) {
	s := demo(t, 120, 40)
	s.choose("scout")
	s.change(func(n *city.Snapshot) {
		n.Agents = slices.DeleteFunc(n.Agents, func(a city.Agent) bool { return a.Name == "scout" })
	})
	if s.m.chosen != "flaky" {
		t.Errorf("the cursor stays in its row, got %s", s.m.chosen)
	}
	s.change(func(n *city.Snapshot) { n.Agents = nil })
	s.press("r")
	s.wants()
	s.shows("no agents yet", "[[agents]]")
}

func TestConfirmIgnoresKeysAtFirst(t *testing.T) {
	s := demo(t, 120, 40)
	s.choose("builder")
	s.press("r")
	s.now = s.now.Add(guard / 2)
	s.send(keyPress("y"))
	s.wants()
	s.shows("Restart builder?")
	s.now = s.now.Add(guard)
	s.send(keyPress("enter")) // "no" is chosen
	s.wants()
	s.hides("Restart builder?")
	s.press("r", "y")
	s.wants(city.Restart{Agent: "builder"})
	s.shows("restarting builder")
}

func TestOutcomes(t *testing.T) {
	s := demo(t, 120, 40)
	s.choose("builder")
	s.press("r", "y")
	s.hear(news{results: []result{{id: s.m.status.id, total: 1, receipts: []string{"restarted builder, pid 4812"}}}})
	s.shows("✓ restarted builder, pid 4812")
	s.wait(fade + time.Second)
	s.hides("pid 4812 ")
	s.press("r", "y")
	s.hear(news{results: []result{{id: s.m.status.id, total: 1, failures: []string{"cannot restart builder: it is being stopped"}}}})
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
	s.choose("shop/writer")
	s.shows("s resume")
	s.press("s")
	s.wants(city.Resume{Agent: "shop/writer"})
}

func TestReleaseNeedsSomebodyHeld(t *testing.T) {
	s := demo(t, 120, 40)
	s.press("3", "u")
	s.wants(city.Release{Agent: "scout"})
	s.press("1")
	s.choose("builder")
	s.press("u")
	s.wants()
	s.shows("nothing is held back")
}

func TestKillNeedsTheName(t *testing.T) {
	s := demo(t, 120, 40)
	s.choose("idle")
	s.press("ctrl+k", "i", "d", "l", "enter")
	s.wants()
	s.press("e", "enter")
	s.wants(city.Kill{Agent: "idle"})
	s.press("ctrl+k", "tab", "i", "d", "l", "e", "enter")
	s.wants(city.Stop{Agent: "idle"})
	s.press("ctrl+k", "tab", "tab", "enter")
	s.wants()
	s.hides("End idle")
}

func TestMarksAndBulk(t *testing.T) {
	s := demo(t, 120, 40)
	s.choose("builder")
	s.press("space", "space", "space")
	s.shows("3 marked")
	s.press("r")
	s.shows("Restart 3 agents?", "builder, chatty, idle")
	s.press("y")
	s.wants(city.Restart{Agent: "builder"}, city.Restart{Agent: "chatty"}, city.Restart{Agent: "idle"})
	id := s.m.status.id
	s.hear(news{results: []result{{id: id, title: "restarting", total: 3, receipts: []string{"", ""}, failures: []string{"idle: gone"}}}})
	s.shows("restarting: 2 ok, 1 failed: idle: gone")
	s.hides("marked")
}

func TestManyNeedTheirNumber(t *testing.T) {
	s := demo(t, 120, 40)
	s.press("*", "r", "y", "enter")
	s.wants()
	s.press("backspace", "1", "2", "enter")
	if n := len(s.commands()); n != 12 {
		t.Errorf("%d commands, want 12", n)
	}
}

func TestReadOnlyRefusesVerbs(t *testing.T) {
	s := newStage(t, Options{Mode: ReadOnly})
	s.size(120, 40)
	s.hear(news{snap: demoSnapshot(epoch)})
	for i := range s.m.keys.actions {
		a := &s.m.keys.actions[i]
		if !a.reachable() || !strings.HasPrefix(a.id, "agent.") && a.id != "city.reload" {
			continue
		}
		s.out = s.m.perform(a)
		s.wants()
		if _, ok := effectOf[attach](s); ok || s.m.choice != nil || s.m.prompt != nil {
			t.Errorf("%s is not refused", a.id)
		}
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
	s.shows("nobody there to hear it")
}

// A paste outside a prompt is not a row of commands.
func TestPasteRunsNothing(t *testing.T) {
	s := demo(t, 120, 40)
	s.choose("idle")
	s.send(tea.PasteMsg{Content: "qs\x1b[31mry\n"})
	if s.m.choice != nil || len(s.commands()) > 0 {
		t.Error("a paste opened a dialog")
	}
	s.press("i")
	s.send(tea.PasteMsg{Content: "make\x1b test\nnow\n"})
	s.press("enter")
	s.wants(city.Nudge{Agent: "idle", Text: "make test now"})
}

func TestFilterFollowsTyping(t *testing.T) {
	s := demo(t, 120, 40)
	s.press("/", "s", "h", "o", "p", "/")
	if got := s.order(); !slices.Equal(got, []string{"shop/reviewer", "shop/writer", "zeta"}) && !slices.Equal(got, []string{"shop/reviewer", "zeta", "shop/writer"}) {
		t.Errorf("shown: %v", got)
	}
	s.press("enter")
	s.shows("/shop/", "3 of 12")
	if !s.m.visible(s.m.chosen) {
		t.Errorf("the selected agent %s is hidden", s.m.chosen)
	}
	s.press("esc")
	if len(s.order()) != 12 {
		t.Errorf("esc clears the filter: %v", s.order())
	}
	s.press("/", "n", "o", "p", "e", "enter")
	s.shows(`None of 12 agents matches "nope".`)
}

func TestFilterTerms(t *testing.T) {
	row := agentRow{name: "shop/reviewer", shown: "shop/reviewer", state: city.Running, why: "reads Diffs", rig: "shop", pool: "rev"}
	for text, want := range map[string]bool{
		"": true, "review": true, "REVIEW": true, "diffs": true, "!review": false, "!xyz": true, "review xyz": false,
		"review !xyz": true, "~shrv": true, "~vrhs": false, "state:run": true, "state:q": false, "!state:q": true,
		"rig:shop": true, "pool:x": false, "name:shop/": true, "name:rev": false, "!": true, "~": true, "state:": true,
	} {
		f := parseFilter(text)
		if got := f.agent(&row); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}

func TestAttention(t *testing.T) {
	s := demo(t, 120, 40)
	s.press("!")
	if got := s.order(); !slices.Equal(got, []string{"prober", "scout", "flaky", "monitor"}) {
		t.Errorf("attention: %v", got)
	}
	s.press("!")
	if len(s.order()) != 12 {
		t.Errorf("all again: %v", s.order())
	}
}

func TestEventsFollowUntilScrolled(t *testing.T) {
	s := demo(t, 120, 20)
	s.press("5")
	more := func(n int) {
		var es []events.Event
		for range n {
			s.m.actions++ // any counter that grows
			es = append(es, events.Event{Seq: uint64(100 + s.m.actions), TS: epoch, Type: "bead.closed", Subject: fmt.Sprintf("gc-%d", s.m.actions)})
		}
		s.hear(news{events: es})
	}
	more(30)
	s.shows("gc-30")
	s.press("k", "k")
	at := s.m.events.selected().subject
	more(3)
	s.shows("+3 new, G follows")
	s.hides("gc-33")
	if got := s.m.events.selected().subject; got != at {
		t.Errorf("the cursor went from %s to %s", at, got)
	}
	s.press("enter")
	s.shows("about", at)
	s.press("esc", "G")
	s.shows("gc-33")
	s.hear(news{events: []events.Event{{Seq: 101, Subject: "twin"}}})
	s.hides("twin")
	more(2 * kept)
	if n := len(s.m.events.rows); n != kept {
		t.Errorf("%d events are kept", n)
	}
}

func TestPaneFollowsAndFreezes(t *testing.T) {
	s := demo(t, 80, 24)
	s.choose("builder")
	if w := s.m.watched; w.agent != "builder" || w.session != "builder-1" || w.focused {
		t.Errorf("watched: %+v", w)
	}
	p := paneOf("builder", "builder-1")
	s.hear(news{pane: p})
	s.shows("0 builder following", "compiling 世界", "120x40")
	s.press("0", "pgup")
	s.shows("frozen, G follows")
	s.hides("compiling")
	_, _ = p.screen.Write([]byte("later\r\n"))
	p.fed += 312
	s.hear(news{pane: p})
	s.shows("+312 new, G follows")
	s.hides("later")
	s.press("g")
	s.shows("module00")
	s.press("G")
	s.shows("later", "following")
	s.press("k", "j")
	s.shows("following")
	s.press("k", "esc")
	s.shows("following")
	if s.m.focus != panelPeek {
		t.Error("esc goes one step back, not two")
	}
}

func TestLastWordsStay(t *testing.T) {
	s := demo(t, 80, 24)
	s.choose("builder")
	s.hear(news{pane: paneOf("builder", "builder-1")})
	s.agent("builder", func(a *city.Agent) {
		a.State, a.Running, a.Session, a.Reason = city.Backoff, false, nil, "exit 1"
		a.Exit = &city.Exit{Code: 1, Uptime: time.Minute}
	})
	if w := s.m.watched; w.session != "builder-1" || w.running {
		t.Errorf("an ended session is watched anew: %+v", w)
	}
	s.shows("last words", "compiling", "exit 1 after 1m")
	s.agent("builder", func(a *city.Agent) {
		a.State, a.Running, a.Session = city.Running, true, &city.Session{ID: "builder-2"}
	})
	if w, ok := effectOf[watch](s); !ok || w.session != "builder-2" {
		t.Errorf("the new session is not watched: %+v", w)
	}
	s.shows("compiling") // until the new one says something
}

func TestHiddenPaneWatchesNothing(t *testing.T) {
	s := demo(t, 120, 40)
	s.choose("builder")
	s.press("p")
	if w, ok := effectOf[watch](s); !ok || w != (watch{}) {
		t.Errorf("watch %+v, %v", w, ok)
	}
	s.press("p")
	if w := s.m.watched; w.agent != "builder" {
		t.Errorf("watch %+v", w)
	}
}

func TestFitWraps(t *testing.T) {
	s := demo(t, 80, 24)
	s.choose("chatty")
	p := paneOf("chatty", "chatty-1")
	_, _ = p.screen.Write([]byte(strings.Repeat("x", 100) + "END\r\n"))
	s.hear(news{pane: p})
	s.hides("END")
	s.press("0", "z")
	s.shows("END", "fit")
}

func TestZoomThenAttach(t *testing.T) {
	s := demo(t, 120, 40)
	s.choose("builder")
	s.press("enter")
	s.hides("chatty", "1 Agents")
	if _, ok := effectOf[attach](s); ok {
		t.Fatal("the first enter attaches")
	}
	s.press("enter")
	if a, ok := effectOf[attach](s); !ok || a.agent != "builder" {
		t.Errorf("the second enter: %+v %v", a, ok)
	}
	s.press("esc")
	s.shows("chatty", "1 Agents")
	if s.m.focus != panelAgents {
		t.Errorf("focus %v", s.m.focus)
	}
	s.choose("scout")
	s.press("a")
	if _, ok := effectOf[attach](s); ok {
		t.Error("attached to an agent without a terminal")
	}
	s.shows("there is no terminal to attach to")
}

func TestEscNeverLeaves(t *testing.T) {
	s := demo(t, 120, 40)
	s.press("!", "/", "s", "enter", "space", "5", "f", "k")
	for range 20 {
		s.press("esc")
		if _, ok := effectOf[finish](s); ok {
			t.Fatal("esc left")
		}
	}
	if s.m.focus != panelAgents || s.m.attention || s.m.agentFilter.active() || s.m.zoomed || len(s.m.marks) > 0 {
		t.Error("esc did not undo everything")
	}
}

func TestQuitByMode(t *testing.T) {
	for _, c := range []struct {
		mode Mode
		keys []string
		want Exit
	}{
		{Hosting, []string{"q", "h"}, HandOver},
		{Hosting, []string{"ctrl+c", "a"}, KeepAgents},
		{Hosting, []string{"q", "s"}, StopCity},
		{Hosting, []string{"q", "enter"}, -1},
		{Hosting, []string{"q", "q", "n"}, -1},
		{Hosting, []string{"ctrl+z", "enter"}, -1},
		{Joined, []string{"q", "enter"}, Leave},
		{Joined, []string{"q", "s"}, StopCity},
		{Joined, []string{"q", "esc"}, -1},
		{ReadOnly, []string{"q", "l"}, Leave},
		{ReadOnly, []string{"q", "s", "n"}, -1},
	} {
		s := newStage(t, Options{Mode: c.mode})
		s.hear(news{snap: demoSnapshot(epoch)})
		s.press(c.keys...)
		f, ok := effectOf[finish](s)
		if !ok {
			f.exit = -1
		}
		if f.exit != c.want || s.m.choice != nil {
			t.Errorf("%v %v: exit %d, want %d", c.mode, c.keys, f.exit, c.want)
		}
	}
}

func TestHelpRunsWhatItFinds(t *testing.T) {
	s := demo(t, 120, 40)
	s.choose("builder")
	s.press("?", "r", "e", "s", "t", "a", "r", "t", "space", "t", "h", "e", "enter")
	s.shows("Restart builder?")
	s.press("n", ":", "z", "z", "z", "z", "enter")
	if s.m.finder != nil || len(s.commands()) > 0 {
		t.Error("nothing found, nothing run")
	}
	s.press(":", "ctrl+k")
	if len(s.m.finder.found) != len(s.m.finder.all) {
		t.Error("an editing key searched")
	}
}

func TestLostCityIsSaid(t *testing.T) {
	s := demo(t, 120, 40)
	why := "the controller has ended"
	s.hear(news{gone: &why})
	s.shows("the city cannot be heard: the controller has ended")
	why = ""
	s.hear(news{gone: &why})
	s.hides("cannot be heard")
	s.wait(5 * time.Minute)
	s.shows("the loop has not turned for 5m")
}

// A pulse that was asked for before the newest snapshot came does not turn the city back.
func TestOvertakenSnapshotIsIgnored(t *testing.T) {
	s := demo(t, 120, 40)
	old := s.m.snap
	s.agent("idle", func(a *city.Agent) { a.Description = "busy now" })
	s.hear(news{snap: old})
	s.shows("busy now")
	restarted := *old
	restarted.Started, restarted.Rev = epoch, 1
	s.hear(news{snap: &restarted})
	s.hides("busy now")
}

func TestTheListStaysWithThePane(t *testing.T) {
	s := demo(t, 80, 24)
	s.press("5", "0")
	s.shows("> 5 Events", "start_failed")
}

func TestFocusGoesAround(t *testing.T) {
	s := demo(t, 120, 40)
	var seen []panel
	for range 4 {
		s.press("tab")
		seen = append(seen, s.m.focus)
	}
	if !slices.Equal(seen, []panel{panelQuarantine, panelEvents, panelPeek, panelAgents}) {
		t.Errorf("tab goes %v", seen)
	}
	s.press("shift+tab")
	if s.m.focus != panelPeek {
		t.Errorf("back to %v", s.m.focus)
	}
}

// L12: what agents and events say is text on this screen, never a command to it.
func TestHostileTextStaysText(t *testing.T) {
	evil := "a\x1b]52;c;ZXZpbA==\x07b\x1b[2Jc\u202ed\x9b31m\x00e\r\nf\u200b"
	s := demo(t, 120, 40)
	s.change(func(n *city.Snapshot) {
		n.Name, n.Host, n.Config.Rejected = evil, evil, evil
		n.Degraded = []string{evil}
		for i := range n.Agents {
			a := &n.Agents[i]
			a.Reason, a.Description, a.Command, a.Dir, a.Source, a.UnavailableReason = evil, evil, evil, evil, evil, evil
			a.Drift = []string{evil}
			a.Decisions = []city.Decision{{What: evil, Why: evil}}
		}
		n.Agents[0].Name = evil
	})
	s.hear(news{
		events: []events.Event{{Seq: 900, Type: evil, Subject: evil, Message: evil, Actor: evil, Payload: []byte(evil)}},
		pane:   &paneNews{agent: "prober", text: []string{evil}, problem: evil},
	})
	for _, keys := range [][]string{{}, {"d"}, {"esc", "5", "enter"}, {"esc", "*", "ctrl+k"}, {"esc", "q"}} {
		s.press(keys...)
		for _, l := range s.m.draw().lines {
			onlyText(t, l)
		}
	}
}

// onlyText fails unless a line holds nothing but printable text and SGR.
func onlyText(t testing.TB, l string) {
	t.Helper()
	for i, r := range l {
		if r == 0x1b {
			end := strings.IndexByte(l[i:], 'm')
			if end < 0 || strings.Trim(l[i+1:i+end], "[0123456789;:") != "" {
				t.Fatalf("an escape sequence that is no SGR: %q", l[i:])
			}
			continue
		}
		if r < 0x20 || r >= 0x7f && r < 0xa0 || r == 0x202e || r == 0x200b {
			t.Fatalf("a control character %U: %q", r, l)
		}
	}
}
