package tui

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"gcity/city"
	"gcity/tui/feed"
	"gcity/tui/palette"
	"gcity/tui/panel"
	"gcity/tui/state"
	"gcity/tui/terminal"
)

func (s *stage) line(text string, keys ...string) {
	s.press(":")
	s.typeIn(text)
	s.press(keys...)
}

func (s *stage) typeIn(text string) {
	for _, r := range text {
		if r == ' ' {
			s.press("space")
		} else {
			s.press(string(r))
		}
	}
}

func TestPaletteVerbsWithNames(t *testing.T) {
	if testing.Short() {
		t.Skip("draws many frames")
	}
	for _, c := range []struct {
		line string
		keys []string
		want []city.Command
	}{
		{"restart worker-2", []string{"enter", "y"}, []city.Command{city.Restart{Agent: "worker-2"}}},
		{"restart worker-2 idle", []string{"enter", "y"}, []city.Command{city.Restart{Agent: "worker-2"}, city.Restart{Agent: "idle"}}},
		{"drain idle", []string{"enter", "y"}, []city.Command{city.Drain{Agent: "idle"}}},
		{"undrain deployer", []string{"enter"}, []city.Command{city.Undrain{Agent: "deployer"}}},
		{"release scout", []string{"enter"}, []city.Command{city.Release{Agent: "scout"}}},
		{"suspend worker", []string{"enter", "y"}, []city.Command{city.Suspend{Agent: "worker"}}},
		{"suspend idle", []string{"enter", "y"}, []city.Command{city.Suspend{Agent: "idle"}}},
		{"scale worker 3", []string{"enter"}, []city.Command{city.Scale{Pool: "worker", Size: 3}}},
		{"scale worker auto", []string{"enter"}, []city.Command{city.Scale{Pool: "worker", Auto: true}}},
		{"fire release", []string{"enter"}, []city.Command{city.Fire{Automation: "release", By: "operator"}}},
		{"run release", []string{"enter"}, []city.Command{city.Fire{Automation: "release", By: "operator"}}},
		{"kill idle", []string{"enter", "i", "d", "l", "e", "enter"}, []city.Command{city.Kill{Agent: "idle"}}},
		{"rest\tidl\t", []string{"enter", "y"}, []city.Command{city.Restart{Agent: "idle"}}},
	} {
		for _, focus := range []string{"1", "2", "4", "5"} { // for a named target, the focus does not matter
			s := pooled(t, 120, 40)
			s.change(withAutomations)
			s.choose("builder")
			s.press("space", focus, ":")
			for i, part := range strings.Split(c.line, "\t") {
				if i > 0 {
					s.press("tab")
				}
				s.typeIn(part)
			}
			s.press(c.keys...)
			s.wants(c.want...)
			if !s.m.Agents.Marks["builder"] {
				t.Errorf("%q: the mark of a different agent was removed", c.line)
			}
		}
	}
}

func TestPaletteSaysWhyNot(t *testing.T) {
	for line, why := range map[string]string{
		"restrat worker-2":        `unknown action "restrat"; did you mean "restart"?`,
		"restart qqqqq":           `unknown agent "qqqqq"`,
		"drain scout":             "scout is quarantined, so there is nothing to drain",
		"undrain idle":            "idle is running and is not draining",
		"release idle":            "idle is running; only agents in quarantine, in backoff or draining can be released",
		"resume idle":             "idle is not suspended",
		"suspend shop/tester":     "shop/tester is already suspended",
		"scale worker 99":         "max is 5",
		"fire wisp-compact":       "wisp-compact is broken",
		"attach scout":            "scout is quarantined and has no session",
		"undo":                    "no action to undo yet",
		"scale qqqqq 3":           `unknown pool "qqqqq"`,
		"goto \x1b]0;x\x07qqqqq1": `unknown agent, pool, automation or watchdog`,
		"attach qqqqq":            `unknown agent "qqqqq"`,
		"logs digest":             `unknown agent "digest"`,
		"peek digest":             `unknown agent "digest"`,
	} {
		s := pooled(t, 120, 40)
		s.change(withAutomations)
		s.line(line, "enter")
		s.wants()
		s.shows(why)
	}
}

// In the palette, what works in the focused panel comes first.
func TestPaletteListsFirstWhatWorks(t *testing.T) {
	for _, key := range []string{"1", "5", "8", "9"} {
		s := pooled(t, 120, 40)
		s.press(key, ":")
		found, blocked := s.m.Dialogs.Finder().Found, false
		for i := range found {
			why := found[i].WhyUnavailable()
			if blocked && why == "" {
				t.Errorf("panel %s: %q is listed after entries that cannot run",
					key, found[i].Title)
			}
			blocked = blocked || why != ""
		}
		if first := found[0]; key == "9" && first.Title != "write mail" {
			t.Errorf("in Mail, the first row is %q", first.Title)
		}
	}
}

func TestPaletteListsTheSwitchOnce(t *testing.T) {
	for _, text := range []string{"", "city", "cities"} {
		s := among(t, 120, 40)
		s.line(text)
		n := 0
		for _, i := range s.m.Dialogs.Finder().Found {
			if slices.Contains(i.Keys, "@") && strings.Contains(i.Title, "city") {
				n++
			}
		}
		if n != 1 {
			t.Errorf("%q finds it %d times:\n%s", text, n, s.text())
		}
		if text != "" {
			s.shows("> @             city NAME")
		}
	}
}

func TestPaletteGoesThere(t *testing.T) {
	s := pooled(t, 120, 40)
	s.change(withAutomations)
	s.press("/", "z", "enter", "!")
	s.line("goto worker-3", "enter")
	if s.m.Agents.SelectedKey != "worker-3" || s.m.Focus != panel.IDAgents || !s.m.Visible("worker-3") {
		t.Errorf("the cursor is on %s", s.m.Agents.SelectedKey)
	}
	s.line("goto triage", "enter") // the name triage-1 begins with the same text
	if s.m.Focus != panel.IDPools || s.m.Pools.SelectedKey != "triage" {
		t.Errorf("the cursor is on pool %s", s.m.Pools.SelectedKey)
	}
	s.line("goto digest", "enter")
	if s.m.Focus != panel.IDAutomations || s.m.Automations.SelectedKey != "digest" {
		t.Errorf("the cursor is on automation %s", s.m.Automations.SelectedKey)
	}
	s.line("details worker-1", "enter")
	s.shows("gc-214 fix the flaky retry test", "command")
}

// The palette knows the words of the command line.
func TestPaletteKnowsCommands(t *testing.T) {
	s := pooled(t, 120, 40)
	s.change(withAutomations)
	for line, shown := range map[string][]string{
		"why worker-1": {"gc-214 fix the flaky retry test", "command"},
		"worker-1 why": {"gc-214 fix the flaky retry test", "command"},
		"why digest":   {"cron 0 3 * * *", "Last run"},
	} {
		s.line(line, "enter")
		s.shows(shown...)
		s.press("esc")
	}
	s.press("1")
	s.choose("idle")
	s.line("why", "enter")
	s.shows("command", "esc closes")
	s.press("esc")
	for range 2 { // the second time, the pane shows these logs already
		s.line("agent logs worker-2", "enter")
		if !s.m.Peek.Logs || !s.m.Zoomed || s.m.Agents.SelectedKey != "worker-2" {
			t.Errorf("logs %t, zoomed %t, %s", s.m.Peek.Logs, s.m.Zoomed, s.m.Agents.SelectedKey)
		}
	}
	s.m.Peek.Freeze(terminal.Picture{})
	s.line("peek worker-2", "enter")
	if s.m.Peek.Logs || s.m.Peek.Frozen() {
		t.Errorf("logs %t, frozen %t", s.m.Peek.Logs, s.m.Peek.Frozen())
	}
	s.line("peek worker-3", "enter")
	if s.m.Peek.Logs || !s.m.Zoomed || s.m.Agents.SelectedKey != "worker-3" {
		t.Errorf("logs %t, zoomed %t, %s", s.m.Peek.Logs, s.m.Zoomed, s.m.Agents.SelectedKey)
	}
}

// A word that is both a verb and the name of an automation does not fire the automation.
func TestPaletteVerbAsName(t *testing.T) {
	s := pooled(t, 120, 40)
	s.change(func(n *city.Snapshot) { n.Automations = []city.Automation{{Name: "run"}} })
	s.line("run")
	for _, i := range s.m.Dialogs.Finder().Found {
		if i.Line == "fire run" && !i.Similar {
			t.Errorf("enter runs %q", i.Line)
		}
	}
}

// Enter runs nothing that the user might not have read.
func TestEnterRunsNothingUnread(t *testing.T) {
	s := demo(t, 80, 24)
	s.choose("builder")
	s.line("suspend builder", "enter", "y")
	s.press(":")
	s.shows("down selects")
	s.hides("enter runs it", "1 of")
	if s.press("enter"); len(s.commands()) > 0 || s.m.Dialogs.Top() != nil {
		t.Errorf("%+v, %T", s.commands(), s.m.Dialogs.Top())
	}
	s.press(":", "down", "enter")
	s.shows("Suspend builder?")
	s.press("n")
	s.line("release scribe", "enter")
	s.shows("unknown agent \"scribe\"")
	s.press("esc")
	s.line("drain scout", "enter")
	s.shows("scout is quarantined, so there is nothing to drain")
}

func TestPaletteHistory(t *testing.T) {
	s := pooled(t, 120, 40)
	s.line("goto idle", "enter")
	s.line("goto worker-2", "enter")
	s.line("goto idle", "enter")
	if want := []string{"goto worker-2", "goto idle"}; !slices.Equal(s.m.History, want) {
		t.Fatalf("stored %q, want %q", s.m.History, want)
	}
	s.press(":", "up", "up")
	s.shows(": goto worker-2")
	s.press("up", "enter")
	if s.m.Agents.SelectedKey != "worker-2" {
		t.Errorf("the cursor is on %s", s.m.Agents.SelectedKey)
	}
	s.press(":", "up", "down")
	if text := s.m.Dialogs.Finder().Edit.String(); text != "" {
		t.Errorf("after the newest line: %q, want nothing", text)
	}
	s.press("down", "down")
	if s.m.Dialogs.Finder().Cursor != 1 {
		t.Error("down does not move down in the list")
	}
	s.press("esc")
	for i := range palette.MaxHistory + 10 {
		s.m.History = palette.AddToHistory(s.m.History, fmt.Sprint("goto ", i))
	}
	other := pooled(t, 120, 40)
	other.m.History = palette.StoredHistory(append(slices.Clone(s.m.History), "bad\x1b[31m\n"))
	if n := len(other.m.History); n != palette.MaxHistory || other.m.History[n-1] != "bad[31m " {
		t.Errorf("restored %d lines, the last is %q", n, other.m.History[n-1])
	}
}

func TestPaletteShowsKeysAndRanksNames(t *testing.T) {
	s := pooled(t, 120, 40)
	s.choose("idle")
	s.press(":")
	s.typeIn("restart ")
	if first := s.m.Dialogs.Finder().Found[0].Line; first != "restart idle" {
		t.Errorf("the first offer is %q, not the selected agent", first)
	}
	s.typeIn("ker-2")
	s.shows("r             restart worker-2")
	s.press("esc", ":")
	s.typeIn("restart wrk2")
	if first := s.m.Dialogs.Finder().Found[0].Line; first != "restart worker-2" {
		t.Errorf("the first offer is %q", first)
	}
}

// A row that is only similar to the typed text does not run unless the user has selected it.
func TestEnterRunsTheActionOfThatName(t *testing.T) {
	s := pooled(t, 120, 40)
	s.change(func(n *city.Snapshot) {
		withAutomations(n)
		for i := range n.Automations {
			if n.Automations[i].Name == "release" {
				n.Automations[i].Name = "release-prod"
			}
		}
	})
	s.m.History = []string{"fire release", "release scou"}
	for _, keys := range [][]string{{":", "up", "enter"}, {":", "up", "up", "enter"}} {
		s.press(keys...)
		s.wants()
		s.shows("unknown ", "selects the closest match")
		s.press("esc")
	}
	for line, why := range map[string]string{
		"fire ease": `unknown automation "ease"`, "fire ": "fire needs AUTOMATION",
		"release sct": `unknown agent "sct"`, "goto wrk2": "unknown agent, pool, automation or watchdog", "empty": `unknown action "empty"`, "filw": `unknown action "filw"`,
	} {
		s.line(line, "enter")
		s.wants()
		s.shows(why)
		if s.m.Dialogs.Finder() == nil {
			t.Errorf("%q closes the palette", line)
		}
		s.press("esc")
	}
	if s.m.Peek.Fit {
		t.Error("an action that only mentions the text in its description is run")
	}
	s.line("fire release", "tab", "enter")
	s.wants(city.Fire{Automation: "release-prod", By: "operator"})
	s.line("fire release", "down", "enter")
	s.wants(city.Fire{Automation: "release-prod", By: "operator"})
	s.line("fire rel", "enter") // the selected row completes the line
	s.wants(city.Fire{Automation: "release-prod", By: "operator"})
	s.line("goto worker-2", "enter")
	s.line("goto chat", "enter")
	if s.m.Agents.SelectedKey != "chatty" {
		t.Errorf("the cursor is on %s", s.m.Agents.SelectedKey)
	}
	s.press("?")
	s.typeIn("empty")
	s.press("enter")
	s.shows(`no action matches "empty"`, "down selects the closest match")
	s.press("esc", "?")
	s.typeIn("quit")
	s.press("enter")
	s.shows("Quit bright-lights?")
}

// The words of a line can be abbreviated, and their order does not matter.
func TestPaletteAbbreviations(t *testing.T) {
	for _, line := range []string{"attach chat", "chatty att", "att chat"} {
		s := pooled(t, 120, 40)
		s.line(line, "enter")
		if e, ok := effectOf[feed.Attach](s); !ok || e.Agent != "chatty" {
			t.Errorf("%q: %+v", line, s.out)
		}
	}
	for _, line := range []string{"restart w2", "restart chat", "chat restart"} {
		s := pooled(t, 120, 40)
		s.line(line, "enter")
		s.wants()
		s.shows("Restart ")
	}
}

func TestReadOnlyHidesVerbs(t *testing.T) {
	s := newStage(t, Options{Mode: state.ReadOnly})
	s.size(200, 60)
	s.hear(feed.News{Snap: demoSnapshot(epoch)})
	s.change(withPools)
	s.press("?")
	s.hides("restart the agent", "kill or stop", "reload the configuration now", "release or undo")
	s.shows("go to Agents")
	s.press("esc", ":")
	s.hides("restart the agent", "restart AGENT")
	s.typeIn("goto")
	s.shows("goto NAME")
	s.press("esc", ":")
	s.typeIn("restart idle")
	s.press("enter")
	s.wants()
	s.shows("cannot restart idle: this control room is read-only")
	s.line("goto worker-2", "enter")
	if s.m.Agents.SelectedKey != "worker-2" {
		t.Error("goto does not work in a read-only room")
	}
}

// An incomplete line does not run. Enter continues the input.
func TestPaletteAsksForTheRest(t *testing.T) {
	s := pooled(t, 120, 40)
	s.press(":")
	s.typeIn("scale")
	s.press("down", "enter")
	s.shows(": scale ", "scale worker")
	s.typeIn("work")
	s.press("enter")
	s.shows(": scale worker ", "scale worker auto", "scale worker 5")
	s.wants()
	s.typeIn("3")
	if s.m.Dialogs.Finder().Runnable() == nil {
		t.Error("a complete line is not selected")
	}
	s.press("enter")
	s.wants(city.Scale{Pool: "worker", Size: 3})
	if want := []string{"scale worker 3"}; !slices.Equal(s.m.History, want) {
		t.Errorf("stored %q", s.m.History)
	}
}

func TestPaletteFindsWordsInAnyOrder(t *testing.T) {
	s := pooled(t, 120, 40)
	s.change(func(n *city.Snapshot) {
		withAutomations(n)
		n.Rigs = []city.Rig{{Name: "shop", Agents: 2, Running: 1}}
	})
	for _, c := range []struct {
		line string
		want string // the first line in the result
	}{
		{"worker-2 restart", "restart worker-2"},
		{"rig suspend shop", "suspend rig shop"},
		{"suspend rig", "suspend rig shop"},
		{"suspend rig sh", "suspend rig shop"},
		{"shop suspend", "suspend rig shop"},
		{"city stop", "stop city"},
		{"pane hide", "view.pane"},
		{"pool restart wor", "restart pool worker"},
		{"city", "city.switch"},
		{"pools", "focus.pools"},
		{"automation", "focus.automations"},
		{"watchdogs", "focus.watchdogs"},
		{"digest", "goto digest"},
	} {
		s.press(":")
		s.typeIn(c.line)
		f := s.m.Dialogs.Finder()
		if len(f.Found) == 0 || f.Found[0].Line != c.want {
			t.Errorf("%q finds first %+v, want %q", c.line, f.Current(), c.want)
		}
		s.press("esc")
	}
	s.line("shop suspend") // an empty completion does not hide results
	s.shows("suspend rig shop", "rig, 2 agents")
	s.press("esc")
	for _, line := range []string{"suspend rig shop", "rig suspend shop"} {
		s.line(line, "enter", "y")
		s.wants(city.SuspendRig{Rig: "shop"})
	}
	s.line("pool restart worker", "enter", "a")
	s.wants(city.RestartPool{Pool: "worker"})
	s.line("restart worker", "enter", "y")
	s.wants(city.RestartPool{Pool: "worker", Rolling: true})
	s.line("city suspend", "enter")
	s.shows("Suspend bright-lights?")
	s.press("esc")
	s.line("city stop", "enter")
	s.shows("and the city?")
}

func TestPaletteNounsLeadToPanels(t *testing.T) {
	s := pooled(t, 120, 40)
	s.change(withAutomations)
	for _, p := range s.m.Panels {
		a := p.About()
		for _, noun := range []string{string(a.ID), a.Noun} {
			if noun == a.Noun && a.Subset {
				continue
			}
			s.press("0")
			s.line(noun, "enter")
			if s.m.Focus != a.ID {
				t.Errorf(":%s goes to %s", noun, s.m.Focus)
			}
		}
	}
	s.press("1")
	s.line("sort cpu", "enter")
	if way := s.m.Orders()["agents"]; way != "cpu" {
		t.Errorf("sorted by %q", way)
	}
	s.line("sort weight", "enter")
	s.shows(`unknown column "weight"`)
}

// A row that cannot run now is listed with the reason.
func TestPaletteReasonsAndUse(t *testing.T) {
	s := pooled(t, 120, 40)
	s.press(":")
	s.typeIn("undrain ")
	s.shows("is running and is not draining")
	s.press("esc")
	s.line("goto worker-2", "enter")
	s.line("view.redraw", "enter")
	s.press(":")
	f := s.m.Dialogs.Finder()
	if f.Found[0].Line != "view.redraw" || f.Found[1].Line != "goto worker-2" {
		t.Errorf("first entries: got %q and %q", f.Found[0].Line, f.Found[1].Line)
	}
	s.typeIn("worker")
	if f.Found[0].Line != "goto worker-2" {
		t.Errorf("first is %q", f.Found[0].Line)
	}
}

// Matches in the palette that cannot run now come last.
func TestPaletteOrder(t *testing.T) {
	s := rigged(t, 120, 40)
	s.press(":", "w", "o", "r", "k")
	refused := false
	for _, i := range s.m.Dialogs.Finder().Found {
		if refused && i.WhyUnavailable() == "" {
			t.Errorf("%s comes after an entry that cannot run", i.Title)
		}
		refused = i.WhyUnavailable() != ""
	}
	s.press("esc", ":", "s", "h", "o", "p", "space", "r", "e", "s", "u")
	if got := s.m.Dialogs.Finder().Found[0].Title; got != "resume rig shop" {
		t.Errorf("the first match is %q", got)
	}
}

func TestEnterWithoutAMatchKeepsTheListOpen(t *testing.T) {
	s := pooled(t, 80, 24)
	s.pick("worker")
	s.press("enter")
	s.shows("Members of worker")
	s.typeIn("zzz")
	s.press("enter")
	s.shows("Members of worker", `no action matches "zzz"`)
	s.press("esc")
	s.hides("Members of worker")
}

func TestALongRefusalIsShownWhole(t *testing.T) {
	s := pooled(t, 80, 24)
	s.line("undrain worker-3")
	s.shows("worker-3 is draining because its pool is scaling down; scale worker up to", "keep the agent")
}

// The first completion is the agent that verbs act on.
func TestThePaletteOffersTheAgentOfTheRowFirst(t *testing.T) {
	s := demo(t, 120, 40)
	s.choose("builder")
	s.press("5")
	for s.m.Events.Selected().Subject != "chatty" {
		s.press("k")
	}
	s.line("kill ")
	if first := s.m.Dialogs.Finder().Found[0].Line; first != "kill chatty" {
		t.Errorf("first is %q", first)
	}
	s.press("esc", "0") // the pane keeps the agent
	s.line("kill ")
	if first := s.m.Dialogs.Finder().Found[0].Line; first != "kill chatty" {
		t.Errorf("with the focus on the pane, first is %q", first)
	}
}
