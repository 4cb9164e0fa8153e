package tui

import (
	"slices"
	"strings"
	"testing"
	"time"

	"gcity/city"
	"gcity/tui/feed"
	"gcity/tui/panel"
	"gcity/tui/state"
)

func withRigs(s *city.Snapshot) {
	withPools(s)
	s.Rigs = append(slices.Clone(s.Rigs),
		city.Rig{Name: "api", Path: "/srv/api", Prefix: "ap", Agents: 3, Running: 2, Source: "city.toml:13:1", Work: &city.RigWork{Open: 4, InProgress: 2}},
		city.Rig{Name: "docs", Path: "/srv/docs", Prefix: "do", Agents: 1, Running: 1, Source: "city.toml:17:1", Work: &city.RigWork{Open: 9}})
	for i := range s.Agents {
		switch a := &s.Agents[i]; a.Name {
		case "builder", "scout", "worker-1":
			a.Rig = "api"
		case "chatty":
			a.Rig = "docs"
		}
	}
}

func rigged(t *testing.T, w, h int) *stage {
	s := demo(t, w, h)
	s.change(withRigs)
	s.press("7")
	return s
}

func (s *stage) rigs() (names []string) {
	for _, r := range s.m.Rigs.Visible() {
		names = append(names, r.Name)
	}
	return names
}

// A rig whose agents are starting, or wait for others to start, is not idle.
func TestRigIsStarting(t *testing.T) {
	s := rigged(t, 120, 40)
	s.change(func(n *city.Snapshot) {
		for i := range n.Rigs {
			if n.Rigs[i].Name == "docs" {
				n.Rigs[i].Running = 0
			}
		}
		for i := range n.Agents {
			if a := &n.Agents[i]; a.Name == "chatty" {
				a.State, a.Running, a.Since = city.Starting, false, epoch
			}
		}
	})
	if r := s.m.Rigs.Find("docs"); r == nil || r.State != "starting" {
		t.Errorf("%+v", r)
	}
	s.shows("starting   docs")
}

func TestRigIsSuspendedWithTheCity(t *testing.T) {
	s := rigged(t, 120, 40)
	s.change(func(n *city.Snapshot) { n.Suspended = true })
	if r := s.m.Rigs.Find("docs"); r == nil || r.State != "suspended" {
		t.Errorf("%+v", r)
	}
	for s.m.Rigs.SelectedKey != "docs" {
		s.press("j")
	}
	s.press("s")
	s.shows("Suspend rig docs?")
	s.press("esc")
	s.change(func(n *city.Snapshot) {
		for i := range n.Agents {
			n.Agents[i].State, n.Agents[i].Running = city.Suspended, false
		}
	})
	s.press("r")
	s.shows("the city is suspended")
	s.hides("rig docs is suspended")
}

func TestRigsAreListedFilteredAndSorted(t *testing.T) {
	s := rigged(t, 120, 40)
	s.shows("7 Rigs 4 (2 need attention)", "broken", "its folder does not exist", "1 quarantined, 2 running", "2/3", "/srv/docs")
	if got := s.rigs(); !slices.Equal(got, []string{"attic", "api", "docs", "shop"}) {
		t.Errorf("sorted by state: %v", got)
	}
	s.press("o", "o", "o")
	if got := s.rigs(); !slices.Equal(got, []string{"docs", "api", "attic", "shop"}) {
		t.Errorf("sorted by work: %v", got)
	}
	s.press("/")
	s.typeIn("state:susp")
	s.press("enter")
	if got := s.rigs(); !slices.Equal(got, []string{"shop"}) {
		t.Errorf("suspended rigs: %v", got)
	}
	s.press("esc", "!")
	if got := s.rigs(); !slices.Equal(got, []string{"api", "attic"}) {
		t.Errorf("rigs that need attention: %v", got)
	}
}

// In Rigs, s and r act on the marked rigs or, if none is marked, on the rig under the cursor.
func TestRigsAreSuspendedAndRestarted(t *testing.T) {
	s := rigged(t, 120, 40)
	s.press("j", "r")
	s.shows("Restart rig api?", "3 agents: each session will end")
	s.press("y")
	s.wants(city.Restart{Agent: "builder"}, city.Restart{Agent: "scout"}, city.Restart{Agent: "worker-1"})
	s.agent("scout", func(a *city.Agent) { a.State = city.Draining })
	s.press("r")
	s.shows("2 agents: each session will end", "Not restarted: 1 suspended or draining agent.")
	s.press("n")
	s.agent("scout", func(a *city.Agent) { a.State = city.Running })
	s.agent("builder", func(a *city.Agent) { a.NoRestart = "a restart would only stop it" })
	s.press("r")
	s.shows("2 agents: each session will end", "Not restarted: a restart would only stop it.")
	s.hides("suspended or draining agent")
	s.press("y")
	s.wants(city.Restart{Agent: "scout"}, city.Restart{Agent: "worker-1"})
	all := []string{"builder", "scout", "worker-1"}
	for _, name := range all {
		s.agent(name, func(a *city.Agent) { a.NoRestart = "a restart would only stop it" })
	}
	s.press("r")
	s.shows("cannot restart all agents in the rig: a restart would only stop it")
	for _, name := range all {
		s.agent(name, func(a *city.Agent) { a.NoRestart = "" })
	}
	s.press("s")
	s.shows("Suspend rig api?", "2 sessions will stop, and none will start until the rig is resumed.")
	s.press("y")
	s.wants(city.SuspendRig{Rig: "api"})
	s.done("rig api is suspended")
	s.press("u")
	s.wants(city.ResumeRig{Rig: "api"})
	s.press("g", "r")
	s.wants()
	s.shows("cannot restart all agents in the rig: no agent in rig attic can be restarted")
	s.press("G", "s")
	s.wants(city.ResumeRig{Rig: "shop"})
	s.press("g", "j", "space", "space", "s")
	s.shows("Suspend 2 marked rigs?", "api, docs")
	s.press("y")
	s.wants(city.SuspendRig{Rig: "api"}, city.SuspendRig{Rig: "docs"})
}

// From a rig the user can go to its agents.
func TestAgentsOfARig(t *testing.T) {
	s := rigged(t, 120, 40)
	s.press("j", "enter")
	s.shows("rig api", "4 open, 2 in progress", "ap (for bead IDs)", "scout")
	s.press("esc", "D")
	s.wants()
	s.shows("press 1 for the agents")
	s.press("esc", "W")
	s.shows("this panel shows rigs; press 1 for the agents")
	s.press("esc", "u")
	s.shows("no action to undo yet; to release an agent, press 1 for the agents")
	s.press("esc", "G", "u")
	s.shows("no action to undo yet; s resumes rig shop")
	s.press("esc", "g", "j", ".")
	if got := s.order(); len(got) != 3 || !slices.Contains(got, "scout") || s.m.Focus != panel.IDAgents {
		t.Errorf("the agents of the rig are %v, with the focus on %s", got, s.m.Focus)
	}
}

func TestReadOnlyRigs(t *testing.T) {
	s := newStage(t, Options{Mode: state.ReadOnly})
	s.size(120, 40)
	s.hear(feedOf(withRigs))
	s.press("7", "j", "s")
	s.wants()
	s.shows("this control room is read-only")
}

// On a narrow screen, the titles near the visible panel keep their names.
func TestTabsScroll(t *testing.T) {
	s := demo(t, 80, 24)
	s.change(withRigs)
	s.shows("1 Agents")
	s.press("7")
	tabs := s.tabLine()
	if !strings.Contains(tabs, "7 Rigs 4") || !strings.Contains(tabs, "5 Events") || strings.Contains(tabs, "1 Agents") {
		t.Errorf("the titles are %q", tabs)
	}
	s.size(40, 10)
	if tabs = s.tabLine(); !strings.Contains(tabs, "7 Rigs 4") {
		t.Errorf("the titles are %q", tabs)
	}
}

func (s *stage) tabLine() string {
	for _, line := range strings.Split(s.text(), "\n") {
		if strings.Contains(line, "Rigs") {
			return line
		}
	}
	return ""
}

// On a wide screen Rigs replaces Events until Events has the focus again.
func TestRigsTakeThePlaceOfEvents(t *testing.T) {
	s := rigged(t, 200, 60)
	s.shows("7 Rigs 4", "5 Events", "/srv/attic")
	s.press("1")
	s.shows("/srv/attic")
	s.press("5", "1")
	s.hides("/srv/attic")
	s.shows("7 Rigs 4")
}

// After a rig has been suspended, the footer says what u undoes.
func TestTheFooterNamesTheUndoOfARig(t *testing.T) {
	s := rigged(t, 80, 24)
	s.press("j", "s", "y")
	s.shows("suspending rig api", "u undoes for", "u undo") // the status line names the verb
	s.wait(25 * time.Second)
	s.shows("u undo suspending rig")
}

// Whether the rigs have a column for the path depends on the width of the screen, not on the texts in other columns.
func TestTheColumnsOfRigsDoNotDependOnTexts(t *testing.T) {
	for _, w := range []int{60, 80, 90, 100, 120, 200} {
		s := rigged(t, w, 24)
		headings := func() string {
			lines := strings.Split(s.text(), "\n")
			return lines[slices.IndexFunc(lines, func(l string) bool { return strings.Contains(l, "  name ") })]
		}
		states := func(all ...city.State) string {
			s.change(func(n *city.Snapshot) {
				n.Rigs = slices.Clone(n.Rigs)
				for i := range n.Rigs {
					n.Rigs[i].Problem = ""
				}
				for i := range n.Agents {
					n.Agents[i].State = all[i%len(all)]
				}
			})
			return strings.Join(strings.Fields(headings()), " ")
		}
		short := states(city.Running)
		if long := states(city.Starting, city.Running, city.Waiting, city.Quarantined); long != short {
			t.Errorf("%d columns: the headings %q become %q", w, short, long)
		}
	}
}

// The columns of Agents stay the same when the resource usage of a new city becomes known.
func TestTheColumnsOfAgentsDoNotChangeAfterTheStart(t *testing.T) {
	for _, w := range []int{80, 100, 120, 200} {
		s := newStage(t, Options{})
		s.size(w, 24)
		headings := func(measured bool) string {
			n := demoSnapshot(epoch)
			n.Started = epoch
			if measured {
				n.Rev++
			}
			for i := range n.Agents {
				if !measured {
					n.Agents[i].Usage = nil
				}
			}
			s.hear(feed.News{Snap: n})
			for _, l := range strings.Split(s.text(), "\n") {
				if strings.Contains(l, "  name ") {
					return l
				}
			}
			return ""
		}
		if before, after := headings(false), headings(true); before == "" || before != after {
			t.Errorf("%d columns: the headings %q become %q", w, before, after)
		}
	}
}
