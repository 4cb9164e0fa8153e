package tui

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"gcity/beads"
	"gcity/city"
	"gcity/events"
	"gcity/tui/feed"
	"gcity/tui/panel"
	"gcity/tui/terminal"
	"gcity/tui/tuitest"
	"gcity/tui/view"
	"gcity/tui/widget"
)

func TestFilterFollowsTyping(t *testing.T) {
	s := demo(t, 120, 40)
	s.press("/", "s", "h", "o", "p", "/")
	if got := s.order(); !slices.Equal(got, []string{"shop/reviewer", "shop/writer", "zeta"}) && !slices.Equal(got, []string{"shop/reviewer", "zeta", "shop/writer"}) {
		t.Errorf("shown: %v", got)
	}
	s.press("enter")
	s.shows("/shop/", "3 of 12")
	if !s.m.Visible(s.m.Agents.SelectedKey) {
		t.Errorf("the selected agent %s is hidden", s.m.Agents.SelectedKey)
	}
	s.press("esc")
	if len(s.order()) != 12 {
		t.Errorf("esc does not clear the filter: %v", s.order())
	}
	s.press("/", "n", "o", "p", "e", "enter")
	s.shows(`None of the 12 agents matches "nope".`)
}

func TestFilterTerms(t *testing.T) {
	row := panel.AgentRow{Agent: &city.Agent{Name: "shop/reviewer", Rig: "shop", Pool: "rev", Provider: "tmux"},
		Shown: "shop/reviewer", State: city.Running, Why: "reads Diffs", Session: &city.Session{Attached: true}}
	for text, want := range map[string]bool{
		"": true, "review": true, "REVIEW": true, "diffs": true, "!review": false, "!xyz": true, "review xyz": false,
		"review !xyz": true, "~shrv": true, "~vrhs": false, "state:run": true, "state:q": false, "!state:q": true,
		"rig:shop": true, "pool:x": false, "name:shop/": true, "name:rev": false, "!": true, "~": true, "state:": true,
		"provider:tm": true, "provider:pty": false, "tmux": false, "attached": true, "~attached": false,
	} {
		f := widget.ParseFilter(text)
		got := f.Matches(func(t *widget.Term) bool { return row.Matches(t, epoch) })
		if got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}

// Filters do not search fields that are not visible in a row.
func TestFilterFindsOnlyWhatIsShown(t *testing.T) {
	s := demo(t, 120, 40)
	s.change(func(n *city.Snapshot) {
		for i := range n.Agents {
			n.Agents[i].Reason = "declared at city.toml:14:1"
		}
	})
	s.press("/", "4")
	s.shows(`None of the 12 agents matches "4".`)
	s.press("esc", "/", "c", "i", "t", "y", ".", "t", "o", "m", "l")
	s.shows("None of the 12 agents")
	s.press("esc", "/", "d", "e", "m", "o")
	if got := s.order(); !slices.Equal(got, []string{"builder"}) {
		t.Errorf("filter by description: got %v", got)
	}
}

func TestDeclaredIsNotShownAsAReason(t *testing.T) {
	for _, c := range []struct{ state, reason, description, want string }{
		{"running", "declared at city.toml:14:1", "", ""},
		{"running", "declared at /srv/my city/city.toml:14:1", "waits for work", "waits for work"},
		{"starting", "declared at city.toml:14", "waits for work", "waits for work"},
		{"starting", "first start", "waits for work", "first start"},
		{"running", "declared at noon", "", "declared at noon"},
		{"running", "declared at ", "", "declared at "},
	} {
		r := panel.NewAgentRow(&city.Agent{State: city.State(c.state), Reason: c.reason, Description: c.description})
		if r.Why != c.want {
			t.Errorf("%+v: %q", c, r.Why)
		}
	}
	s := demo(t, 120, 40)
	s.agent("idle", func(a *city.Agent) { a.Reason, a.Description = "declared at "+a.Source, "" })
	s.choose("idle")
	s.hides("declared at")
	s.press("d")
	s.shows("declared at city.toml:42:1")
}

func TestAttention(t *testing.T) {
	s := pooled(t, 120, 40)
	s.press("!")
	if got := s.order(); !slices.Equal(got, []string{"prober", "scout", "flaky", "monitor"}) {
		t.Errorf("agents: %v", got)
	}
	s.shows("!attention 4 of 21")
	s.press("2")
	// batch is scaled by hand, and triage's check fails
	if got := s.pooling(); !slices.Equal(got, []string{"batch", "triage"}) {
		t.Errorf("pools: %v", got)
	}
	s.shows("!attention 2 of 5")
	s.press("!")
	if len(s.order()) != 21 || len(s.pooling()) != 5 {
		t.Errorf("all again: %v, %v", s.order(), s.pooling())
	}
	s.change(func(n *city.Snapshot) {
		n.Pools = slices.DeleteFunc(n.Pools, func(p city.Pool) bool { return p.Name == "batch" || p.Name == "triage" })
	})
	s.press("!")
	if s.m.Focus != panel.IDAgents {
		t.Errorf("the focus is on %s", s.m.Focus)
	}
	s.press("2")
	s.shows("No pool needs attention.", "! shows all 3.", "prober failed, scout quarantined: press 1.")
	s.press("r")
	s.shows("cannot restart the pool: no pool is selected: the attention filter hides all rows; ! shows all 3")
	s.press("esc", "!", "/", "z", "z", "enter", "r")
	s.shows("no pool is selected: the filter hides all rows  esc dismisses")
}

// Some conditions need attention only after a while, such as a pool that stays too small.
func TestAttentionComesWithTime(t *testing.T) {
	s := pooled(t, 120, 40)
	s.agent("worker-3", func(a *city.Agent) { a.Until = nil })
	s.pool("worker", func(p *city.Pool) { p.Size = 1 })
	s.press("!")
	s.wait(panel.MaxShort)
	if got := s.pooling(); !slices.Equal(got, []string{"batch", "triage", "worker"}) {
		t.Errorf("after a minute: %v", got)
	}
	s.wait(panel.MaxWait)
	got := s.order()
	for _, name := range []string{"worker-3", "zeta"} {
		if !slices.Contains(got, name) {
			t.Errorf("%s is not among %v", name, got)
		}
	}
	if slices.Contains(got, "deployer") { // its drain has a deadline
		t.Errorf("too many: %v", got)
	}
}

func TestEventsFollowUntilScrolled(t *testing.T) {
	s := demo(t, 120, 20)
	s.press("5")
	more := func(n int) {
		var es []events.Event
		for range n {
			s.m.Actions++ // any counter that grows
			es = append(es, events.Event{Seq: uint64(100 + s.m.Actions), TS: epoch, Type: "bead.closed", Subject: fmt.Sprintf("gc-%d", s.m.Actions)})
		}
		s.hear(feed.News{Events: es})
	}
	more(30)
	s.shows("gc-30")
	s.press("k", "k")
	at := s.m.Events.Selected().Subject
	more(3)
	s.shows("+3 new, G follows")
	s.hides("gc-33")
	if got := s.m.Events.Selected().Subject; got != at {
		t.Errorf("the cursor moved from %s to %s", at, got)
	}
	s.press("enter")
	s.shows("about", at)
	s.press("esc", "G")
	s.shows("gc-33")
	s.hear(feed.News{Events: []events.Event{{Seq: 101, Subject: "twin"}}})
	s.hides("twin")
	more(2 * panel.MaxEvents)
	if n := len(s.m.Events.Rows); n != panel.MaxEvents {
		t.Errorf("%d events are kept", n)
	}
}

func TestPaneFollowsAndFreezes(t *testing.T) {
	s := demo(t, 80, 24)
	s.choose("builder")
	if w := s.m.Watched; w.Agent != "builder" || w.Session != "builder-1" || w.Focused {
		t.Errorf("watched: %+v", w)
	}
	p := paneOf("builder", "builder-1")
	s.hear(feed.News{Pane: p})
	s.shows("0 builder following", "compiling 世界", "120x40")
	s.press("0", "pgup")
	s.shows("frozen, G follows")
	s.hides("compiling")
	_, _ = p.Screen.Write([]byte("later\r\n"))
	p.LinesReceived += 312
	s.hear(feed.News{Pane: p})
	s.shows("+312 new, G follows")
	s.press("1")
	s.shows("+312 new, 0 G follows")
	s.press("0")
	s.hides("later")
	s.press("g")
	s.shows("module00")
	s.press("G")
	s.shows("later", "following")
	s.press("k", "j")
	s.shows("following")
	s.press("k", "esc")
	s.shows("following")
	if s.m.Focus != panel.IDPeek {
		t.Error("esc does not go back exactly one step")
	}
}

func TestLastOutputStays(t *testing.T) {
	s := demo(t, 80, 24)
	s.choose("builder")
	s.hear(feed.News{Pane: paneOf("builder", "builder-1")})
	s.agent("builder", func(a *city.Agent) {
		a.State, a.Running, a.Session, a.Reason = city.Backoff, false, nil, "exit 1"
		a.Exit = &city.Exit{Code: 1, Uptime: time.Minute}
	})
	if w := s.m.Watched; w.Session != "builder-1" || w.Running {
		t.Errorf("an ended session is watched again: %+v", w)
	}
	s.shows("last output", "compiling", "exit 1 after 1m")
	s.agent("builder", func(a *city.Agent) {
		a.State, a.Running, a.Session = city.Running, true, &city.Session{ID: "builder-2"}
	})
	if w, ok := effectOf[feed.Watch](s); !ok || w.Session != "builder-2" {
		t.Errorf("the new session is not watched: %+v", w)
	}
	s.shows("compiling") // until the new session prints something
}

func TestHiddenPaneWatchesNothing(t *testing.T) {
	s := demo(t, 120, 40)
	s.choose("builder")
	s.press("p")
	if w, ok := effectOf[feed.Watch](s); !ok || w != (feed.Watch{}) {
		t.Errorf("watch %+v, %v", w, ok)
	}
	s.press("p")
	if w := s.m.Watched; w.Agent != "builder" {
		t.Errorf("watch %+v", w)
	}
}

func TestFitWraps(t *testing.T) {
	s := demo(t, 80, 24)
	s.choose("chatty")
	p := paneOf("chatty", "chatty-1")
	_, _ = p.Screen.Write([]byte(strings.Repeat("x", 100) + "END\r\n"))
	s.hear(feed.News{Pane: p})
	s.hides("END")
	s.press("0", "z")
	s.shows("END", "fit")
}

func TestZoomThenAttach(t *testing.T) {
	s := demo(t, 120, 40)
	s.choose("builder")
	s.press("enter")
	s.hides("chatty", "1 Agents")
	if _, ok := effectOf[feed.Attach](s); ok {
		t.Fatal("the first enter attaches")
	}
	s.press("enter")
	if a, ok := effectOf[feed.Attach](s); !ok || a.Agent != "builder" {
		t.Errorf("the second enter: %+v %v", a, ok)
	}
	s.press("esc")
	s.shows("chatty", "1 Agents")
	if s.m.Focus != panel.IDAgents {
		t.Errorf("focus %v", s.m.Focus)
	}
	s.choose("scout")
	s.press("a")
	if _, ok := effectOf[feed.Attach](s); ok {
		t.Error("attached to an agent without a terminal")
	}
	s.shows("Not attached", "scout is quarantined and has no session. ", "esc closes")
	s.hides("releases it") // u does nothing in the dialog
	s.hides("no session; u")
	s.press("q", "u")
	s.wants(city.Release{Agent: "scout"})

	// in its zoom, enter opens no dialog, and the key in the status line works
	s = demo(t, 120, 40)
	s.choose("scout")
	s.press("enter", "enter")
	s.hides("Not attached")
	s.shows("scout is quarantined and has no session; u releases it")
	s.press("u")
	s.wants(city.Release{Agent: "scout"})
}

func TestTheListStaysWithThePane(t *testing.T) {
	s := demo(t, 80, 24)
	s.press("5", "0")
	s.shows("start failed", "0 shop/reviewer")
	if list, pane := reversed(view.Draw(s.m).Lines[2]), s.activeTab(); list != "5 Events" ||
		pane != "0 shop/reviewer following" {
		t.Errorf("the titles are %q and %q", list, pane)
	}
}

func TestFocusGoesAround(t *testing.T) {
	s := demo(t, 120, 40)
	var seen []panel.ID
	for range 8 {
		s.press("tab")
		seen = append(seen, s.m.Focus)
	}
	if !slices.Equal(seen, []panel.ID{panel.IDPools, panel.IDQuarantine, panel.IDAutomations, panel.IDEvents, panel.IDWork, panel.IDMail, panel.IDPeek, panel.IDAgents}) {
		t.Errorf("tab goes %v", seen)
	}
	s.press("shift+tab")
	if s.m.Focus != panel.IDPeek {
		t.Errorf("back to %v", s.m.Focus)
	}
}

func TestHostileTextStaysText(t *testing.T) {
	evil := "a\x1b]52;c;ZXZpbA==\x07b\x1b[2Jc\u202ed\x9b31m\x00e\r\nf\u200b"
	s := automated(t, 120, 40)
	s.change(func(n *city.Snapshot) {
		n.Automations = slices.Clone(n.Automations)
		for i := range n.Automations {
			a := &n.Automations[i]
			a.Description, a.Rig, a.Source, a.Layer, a.Gate, a.When, a.Exec, a.Pool, a.Reason = evil, evil, evil, evil, evil, evil, evil, evil, evil
			a.Warnings, a.Last = []string{evil}, &city.Run{ID: evil, Reason: evil, By: evil, Outcome: evil, Error: evil, Output: evil, Made: evil, Ended: &n.At}
		}
		n.Name, n.Host, n.Config.Rejected = evil, evil, evil
		n.Config.Held = &city.Held{Revision: evil, Removes: []string{evil}, Plan: []string{evil}}
		for i := range n.Pools {
			p := &n.Pools[i]
			p.Description, p.Rig, p.Reason, p.SuspendedReason, p.Source, p.Draining = evil, evil, evil, evil, evil, []string{evil}
			p.Check.Command, p.Check.Problem, p.Check.Output, p.Next = evil, evil, evil, &city.Next{What: evil}
			p.Decisions = []city.Decision{{What: evil, Why: evil}}
		}
		n.Pools[0].Name = evil
		n.Rigs = []city.Rig{{Name: evil, Path: evil, Problem: evil}}
		n.Degraded = []string{evil}
		for i := range n.Agents {
			a := &n.Agents[i]
			a.Reason, a.Description, a.Command, a.Dir, a.Source, a.UnavailableReason = evil, evil, evil, evil, evil, evil
			a.Drift, a.DependsOn, a.Rig = []string{evil}, []string{evil}, evil
			a.Next, a.Drain = &city.Next{What: evil}, &city.DrainInfo{By: evil}
			a.Decisions = []city.Decision{{What: evil, Why: evil}}
		}
		n.Agents[0].Name = evil
	})
	s.hear(feed.News{
		Events: []events.Event{{Seq: 900, Type: evil, Subject: evil, Message: evil, Actor: evil, Payload: []byte(evil)}},
		Pane:   &terminal.News{Agent: "prober", Text: widget.AllPlain(evil), Problem: evil},
	})
	work := []beads.Bead{{ID: evil, Title: evil, Type: evil, Status: beads.StatusOpen, Assignee: evil, ParentID: evil, Ref: evil, Needs: []string{evil},
		Description: evil, Labels: []string{city.PoolLabel + evil}, Metadata: map[string]string{evil: evil}}}
	for _, keys := range [][]string{{}, {"d"}, {"esc", "4", "g"}, {"d"}, {"esc", "t"}, {"n", "G", "d"}, {"esc", "b"}, {"enter"}, {"esc", "x"}, {"esc", "esc", "5", "enter"}, {"esc", "*", "ctrl+k"}, {"esc", "D"}, {"esc", "C"}, {"esc", "c"}, {"esc", "2", "g"}, {"d"}, {"esc", "S", "x", "enter"},
		{"esc", "s"}, {"esc", ">"}, {"esc", "q"}} {
		s.press(keys...)
		s.find(work, evil)
		s.find(work, "")
		for _, l := range view.Draw(s.m).Lines {
			tuitest.OnlyText(t, l)
		}
	}
}

func TestLastExit(t *testing.T) {
	for _, c := range []struct {
		exit city.Exit
		want string
	}{
		{city.Exit{Code: 3, Uptime: 812 * time.Millisecond}, "exit 3 after 0.8s"},
		{city.Exit{Code: 1, Uptime: 9990 * time.Millisecond}, "exit 1 after 10s"},
		{city.Exit{Code: 1, Uptime: 12 * time.Second}, "exit 1 after 12s"},
		{city.Exit{Code: 1, Uptime: 30 * time.Millisecond}, "exit 1 after 30ms"},
		{city.Exit{Code: 1}, "exit 1"},
		{city.Exit{Code: -1, Signal: "killed", Uptime: 3 * time.Minute}, "killed after 3m"},
		{city.Exit{Code: -1, Uptime: time.Second}, "exit unknown after 1s"},
	} {
		if got := panel.LastExit(&c.exit); got != c.want {
			t.Errorf("%+v: %q, want %q", c.exit, got, c.want)
		}
	}
}

// The path of the file with the full output is shown below an exited agent's last output.
func TestLastOutputNamesItsFile(t *testing.T) {
	s := demo(t, 120, 40)
	s.choose("scout")
	s.hear(feed.News{Pane: &terminal.News{Agent: "scout", Ended: true}})
	s.shows("its last session has printed nothing", "stored in .gc/crashes/scout/")
	s.agent("idle", func(a *city.Agent) { a.State, a.Running, a.Session = city.Suspended, false, nil })
	s.choose("idle")
	s.hear(feed.News{Pane: &terminal.News{Agent: "idle", Ended: true}})
	s.shows("idle is suspended; it has no stored output, because gcity stores output", "only after a crash.")
	s.choose("scout")
	var words []string
	for i := range 100 {
		words = append(words, fmt.Sprintf("word %02d", i))
	}
	s.hear(feed.News{Pane: &terminal.News{Agent: "scout", Text: words, Ended: true}})
	s.shows("word 99", "stored in .gc/crashes/scout/")
	s.press("0", "g")
	s.shows("word 00", "stored in")
	s.press("pgdown", "pgdown", "pgdown", "pgdown", "pgdown", "pgdown", "pgdown")
	s.shows("word 99", "last output")
}

// A row in quarantine says when the quarantine ends, even if no room is left for the reason.
func TestTheEndOfAQuarantineIsShownWhole(t *testing.T) {
	for _, w := range []int{40, 60, 80, 120, 200} {
		s := demo(t, w, map[bool]int{true: 24, false: 60}[w < 200])
		s.agent("scout", func(a *city.Agent) {
			until := s.now.Add(2*time.Minute + 46*time.Second)
			a.Until = &until
		})
		s.press("3")
		s.shows("retries in 2m46s")
	}
}
