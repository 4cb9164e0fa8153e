package tui

import (
	"slices"
	"strings"
	"testing"
	"time"

	"gcity/city"
	"gcity/themes"
	"gcity/tui/feed"
	"gcity/tui/panel"
	"gcity/tui/state"
	"gcity/tui/view"
)

// Alerts are ordered by severity, and each shows the key that goes to the problem.
func TestAlertsAreOrderedAndHaveKeys(t *testing.T) {
	s := newStage(t, Options{})
	s.size(80, 60)
	s.hear(feed.News{Snap: demoSnapshot(epoch), Events: demoEvents(epoch)})
	allScenes()["watchdogs"](s)
	s.change(held("builder"))
	s.change(func(n *city.Snapshot) {
		n.Config.Rejected = mistakes(1)
		n.Config.Warnings = []string{"city.toml:9:15: a warning"}
		n.Degraded = []string{"the event log cannot be written"}
	})
	rows := strings.Join(state.AlertLines(s.m, 20), "\n")
	at := -1
	for _, want := range []string{"event log", "watchdog chain calls", "config invalid: city.toml:", "prober failed", "automation failing",
		"pool triage failing", "watchdog late", "configuration held", "warning:"} {
		next := strings.Index(rows, want)
		if next <= at {
			t.Errorf("%q is missing or too early:\n%s", want, rows)
		}
		at = next
	}
	for _, key := range []string{"1", "2", "4", "6", "C"} {
		if !strings.Contains(rows, s.m.Look.Paint(themes.Key, key)) {
			t.Errorf("the key %s is not in the color of keys:\n%s", key, rows)
		}
	}
	if got := state.AlertLines(s.m, 1); len(got) != 1 || !strings.Contains(got[0], "event log") || !strings.Contains(got[0], "shows all 9") {
		t.Errorf("in one row: %q", got)
	}
}

// An edit does not solve the problem if the user does not trust the configuration, so the alert names the command.
func TestUntrustedConfigurationIsNotCalledInvalid(t *testing.T) {
	s := newStage(t, Options{Config: textFile{"/x/city.toml"}})
	s.size(80, 24)
	s.hear(feed.News{Snap: demoSnapshot(epoch)})
	s.change(func(n *city.Snapshot) {
		n.Config.Rejected = "the city in /x is not trusted: agent c is new"
		n.Config.Trust = "gcity trust /x"
	})
	s.shows("! changes not trusted: run `gcity trust /x`: the city in /x")
	s.hides("invalid", "e edits it")
	s.press("c")
	s.shows("not trusted: run `gcity trust /x`")
	s.hides("invalid")
}

// The city's details name each problem and lead to it.
func TestCityDetailsLeadToTheProblems(t *testing.T) {
	s := automated(t, 120, 40)
	s.press("c")
	s.shows("prober failed, scout quarantined  press 1", "1 automation failing, 1 broken: wisp-compact, prune-branches  press 4", "enter goes to prober")
	s.press("x")
	s.shows("folder ") // other keys do nothing
	s.press("4")
	s.hides("folder ")
	if s.m.Focus != panel.IDAutomations || s.m.Automations.Key() != "wisp-compact" {
		t.Errorf("%s, %s", s.m.Focus, s.m.Automations.Key())
	}
	s.press("c", "enter")
	s.hides("folder ")
	if s.m.Focus != panel.IDAgents || s.m.Agents.Key() != "prober" {
		t.Errorf("%s, %s", s.m.Focus, s.m.Agents.Key())
	}
	s.press("c", "j")
	s.shows("> 1 automation failing", "enter goes to wisp-compact   j k select another problem")
	s.press("enter")
	if s.m.Focus != panel.IDAutomations || s.m.Automations.Key() != "wisp-compact" {
		t.Errorf("%s, %s", s.m.Focus, s.m.Automations.Key())
	}
	s.press("c", "j")
	s.change(func(n *city.Snapshot) {
		at := slices.IndexFunc(n.Automations, func(a city.Automation) bool { return a.Name == "wisp-compact" })
		first := n.Automations[at]
		first.Name = "a-broken"
		n.Automations = append(slices.Clone(n.Automations), first)
	})
	s.shows("> 1 automation failing, 2 broken", "enter goes to a-broken")
	s.press("esc", "c", "j", "k")
	s.shows("> prober failed", "! 1 automation failing", "enter goes to prober")
	s.press("esc")
	s.change(func(n *city.Snapshot) {
		n.Agents, n.Automations = nil, slices.DeleteFunc(n.Automations, func(a city.Automation) bool {
			return a.Name == "prune-branches" || a.Name == "a-broken"
		})
	})
	s.shows("! automation wisp-compact broken  press 4")
}

// The city's details list an agent whose name is part of another agent's name.
func TestCityDetailsNameEachRow(t *testing.T) {
	s := demo(t, 120, 40)
	s.change(func(n *city.Snapshot) {
		n.Agents = nil
		for name, state := range map[string]city.State{"worker-12": city.Failed, "worker-1": city.Quarantined, "worker-3": city.Quarantined} {
			n.Agents = append(n.Agents, city.Agent{Name: name, State: state, Since: epoch})
		}
	})
	s.press("c")
	s.shows("worker-12 failed, 2 agents quarantined: worker-1, worker-3  press ")
}

// Every key that the city's details name does the same as outside the details.
func TestEachKeyOfTheCityDetailsWorks(t *testing.T) {
	for key, want := range map[string]struct {
		problem func(n *city.Snapshot)
		hint    string
		worked  func(s *stage) bool
	}{
		"e": {func(n *city.Snapshot) { n.Config.Rejected = mistakes(1) }, "e edits it",
			func(s *stage) bool { return slices.ContainsFunc(s.out, isEdit) }},
		"C": {held("builder"), "C shows the plan", func(s *stage) bool { return s.m.Dialogs.Choice() != nil }},
		":": {func(n *city.Snapshot) { n.Suspended = true }, `press :, then type "resume city"`,
			func(s *stage) bool { return s.m.Dialogs.Finder() != nil }},
		"1": {func(n *city.Snapshot) { n.Automations, n.Pools = nil, nil }, "press 1",
			func(s *stage) bool { return s.m.Agents.Key() == "prober" && s.m.Focus == panel.IDAgents }},
		"2": {func(n *city.Snapshot) { n.Agents, n.Automations = nil, nil }, "press 2",
			func(s *stage) bool { return s.m.Focus == panel.IDPools }},
		"4": {func(n *city.Snapshot) { n.Agents, n.Pools = nil, nil }, "press 4",
			func(s *stage) bool { return s.m.Automations.Key() == "wisp-compact" }},
	} {
		s := newStage(t, Options{Config: textFile{"/x/city.toml"}})
		s.size(120, 40)
		s.hear(feed.News{Snap: demoSnapshot(epoch)})
		s.change(withPools)
		s.change(withAutomations)
		s.change(want.problem)
		s.press("c")
		s.shows("folder ", want.hint)
		s.press(key)
		s.hides("folder ", "not an agent")
		if !want.worked(s) {
			t.Errorf("%s does nothing:\n%s", key, s.text())
		}
	}
}

func isEdit(e feed.Effect) bool {
	_, ok := e.(feed.Edit)
	return ok
}

// A key that the city's details name says why it does nothing.
func TestTheKeyOfAProblemSaysWhyItIsUnavailable(t *testing.T) {
	s := demo(t, 120, 40)
	s.change(held("builder"))
	actionOf(s.m, "config.confirm").Why = func(*state.Room) string { return "the plan is missing" }
	s.press("c", "C")
	s.hides("folder ")
	s.shows("cannot confirm a held configuration: the plan is missing")
}

// Without a controller, the alert about a suspended city names no key, because the city cannot be resumed.
func TestWithoutAControllerNoKeyResumesTheCity(t *testing.T) {
	s := newStage(t, Options{Mode: state.Joined})
	s.size(120, 40)
	s.hear(feed.News{Snap: demoSnapshot(epoch)})
	s.change(func(n *city.Snapshot) { n.Suspended = true })
	s.shows("the city is suspended", `type "resume city"`)
	why := feed.NotRunning
	s.hear(feed.News{Unreachable: &why})
	s.shows("the city is suspended")
	s.hides(`type "resume city"`)
}

// The alert about a failed agent stays during a retry, so that the panels do not move.
func TestTheAlertStaysDuringARetry(t *testing.T) {
	s := demo(t, 80, 24)
	s.shows("prober failed")
	for range 2 {
		s.agent("prober", func(a *city.Agent) { a.State, a.Reason = city.Starting, "pre_start" })
		s.shows("prober failed")
	}
	s.agent("prober", func(a *city.Agent) { a.State, a.Reason = city.Running, "ready at once" })
	s.hides("prober failed")
	s.agent("prober", func(a *city.Agent) { a.State = city.Starting })
	s.hides("prober failed")
}

// A watchdog's call makes an agent need attention in every state.
func TestADrainingAgentWithACallNeedsAttention(t *testing.T) {
	s := demo(t, 120, 40)
	guarded(s)
	soon := epoch.Add(time.Hour)
	for _, state := range []city.State{city.Draining, city.Waiting} {
		s.agent("builder", func(a *city.Agent) { a.State, a.Since, a.Until = state, s.now, &soon })
		if r := s.m.Agents.Find("builder"); !r.HasCall || !r.Attention(s.now) {
			t.Errorf("%s: %+v", state, r)
		}
	}
}

// The ! key moves the focus to a list with a row that needs attention.
func TestAttentionLeadsToAutomations(t *testing.T) {
	s := automated(t, 80, 24)
	s.change(func(n *city.Snapshot) {
		n.Pools = nil
		n.Agents = slices.DeleteFunc(n.Agents, func(a city.Agent) bool { return a.State != city.Running })
		for i := range n.Agents {
			n.Agents[i].Drift = nil
		}
	})
	s.press("!")
	if s.m.Focus != panel.IDAutomations {
		t.Errorf("the focus is on %s", s.m.Focus)
	}
	s.shows("wisp-compact", "prune-branches")
	s.hides("db-health")
	s.change(held("builder"))
	s.press("1")
	s.shows("No agent needs attention.", "1 automation failing, 1 broken: press 4.",
		"configuration held: removes 1 of 2 running agents: C shows the plan.")
}

func TestNoZeroIsRed(t *testing.T) {
	for name, lead := range allScenes() {
		s := demo(t, 120, 40)
		lead(s)
		red := s.m.Look.Paint(themes.Bad, " 0")
		for _, line := range view.Draw(s.m).Lines[:min(8, len(view.Draw(s.m).Lines))] {
			if strings.Contains(line, red) {
				t.Errorf("%s: %q", name, line)
			}
		}
	}
}

// The alert about agents in quarantine leads to the first of these agents.
func TestQuarantineLeadsToItsPanel(t *testing.T) {
	s := demo(t, 120, 40)
	s.change(func(n *city.Snapshot) {
		n.Agents = slices.DeleteFunc(n.Agents, func(a city.Agent) bool { return a.State == city.Failed })
	})
	s.shows("scout quarantined, exit 3, retries in 54m  press 3")
	s.press("3")
	if s.m.Focus != panel.IDQuarantine || s.m.Agents.SelectedKey != "scout" {
		t.Errorf("the focus is on %s, the agent is %s", s.m.Focus, s.m.Agents.SelectedKey)
	}
}

// A narrow screen shows the position of the error in the configuration, even if agents need attention.
func TestInvalidConfigurationIsShown(t *testing.T) {
	s := newStage(t, Options{Config: textFile{"/x/city.toml"}})
	s.size(80, 24)
	s.hear(feed.News{Snap: demoSnapshot(epoch)})
	s.change(func(n *city.Snapshot) { n.Config.Rejected = mistakes(1) })
	s.shows("! config invalid: city.toml:", "e edits it")
}

// The attention line says that the city is suspended, and which key resumes it.
func TestASuspendedCityIsAnAlert(t *testing.T) {
	s := demo(t, 120, 40)
	s.hides("the city is suspended")
	s.change(func(n *city.Snapshot) {
		n.Suspended = true
		for i := range n.Agents {
			n.Agents[i].State, n.Agents[i].Running, n.Agents[i].Session = city.Suspended, false, nil
		}
	})
	s.shows(`! the city is suspended  press :, then type "resume city"`)
	s.line("resume city", "enter")
	s.wants(city.Resume{})
	s.m.Mode = state.ReadOnly
	s.wait(time.Second)
	s.shows("the city is suspended")
	s.hides(`type "resume city"`)
}

// At 80 columns, the row of a quarantined agent and the alert show the cause and the end of the quarantine. The texts
// do not depend on the wording of the reason.
func TestTheCauseOfAQuarantineIsNotCut(t *testing.T) {
	s := demo(t, 80, 24)
	s.agent("prober", func(a *city.Agent) { a.State, a.Until = city.Running, nil })
	s.agent("scout", func(a *city.Agent) { a.Reason = "a wording that is too long for a column of this screen" })
	s.press("g")
	s.shows("! scout quarantined, exit 3, retries in 54m  press 3")
	s.shows("quarantined  scout          exit 3, crashed 6× in … · retries in 54m ")
}

// Agents that are stuck, ask a question or are in an unknown state are problems like failed ones.
func TestStuckAndUnknownAgentsAreProblems(t *testing.T) {
	s := demo(t, 120, 40)
	s.change(func(n *city.Snapshot) {
		for i := range n.Agents {
			a := &n.Agents[i]
			a.State, a.Running, a.Until, a.Drift, a.Drain, a.Quarantine = city.Running, true, nil, nil, nil, nil
		}
		n.Rigs = nil
	})
	s.press("c")
	s.shows("no problems")
	s.press("esc")
	s.agent("monitor", func(a *city.Agent) { a.Stuck = &city.Stuck{Since: s.now, Task: "gc-1"} })
	s.shows("! monitor stuck  press 1", "  1 stuck")
	s.agent("builder", func(a *city.Agent) { a.State = city.Unknown })
	s.shows("! builder unknown, monitor stuck  press 1")
	s.agent("scout", func(a *city.Agent) { a.Asks = &city.Question{Since: s.now, About: "the theme"} })
	s.shows("! builder unknown, scout asks a question, monitor stuck  press 1", "  1 asking  1 stuck", "! asking",
		"asks a question about the theme · for 0s")
	s.agent("scout", func(a *city.Agent) { a.State = city.Starting })
	s.choose("scout")
	s.press("d")
	s.shows("! asking for ", " · starting for 4m")
	s.press("esc")
	s.agent("scout", func(a *city.Agent) { a.State, a.Until = city.Draining, new(s.now.Add(3*time.Minute)) })
	s.shows("! asking", "asks a question", "kill in 3m")
	s.press("c")
	s.shows("builder unknown, scout asks a question, monitor stuck")
	s.hides("no problems")
}
