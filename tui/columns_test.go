package tui

import (
	"strings"
	"testing"

	"gcity/city"
	"gcity/tui/panel"
	"gcity/tui/widget"
)

// A single long name is shortened in the middle, so that it takes no room from the other columns.
func TestOneLongNameTakesNoRoom(t *testing.T) {
	s := demo(t, 120, 40)
	s.agent("chatty", func(a *city.Agent) { a.Name = "an-agent-whose-name-is-very-much-longer-than-any-other-name-17" })
	s.shows(" an-agent-wh…ther-name-17 ")
	if c := panel.AgentColumns(118, s.m.Agents.WidthsFor(s.m.Env(), s.m.Agents.Visible())); c.Name != panel.LongName || c.Why < 44 {
		t.Errorf("%+v", c)
	}
	// on a screen of 40 columns, names are cut only if the reasons need the room
	for why, want := range map[int]int{0: 11, 13: 9} {
		if c := panel.AgentColumns(40, panel.Widths{Name: 11, Names: 11, Why: why}); c.Name != want {
			t.Errorf("reasons of %d columns: got %+v", why, c)
		}
	}
	if n := panel.Typical([]int{5, 62, 7, 6, 30, 8, 9, 4}); n != 30 {
		t.Errorf("usual width: got %d columns", n)
	}
}

// On narrow screens, columns of numbers are dropped from the right before the reasons are shortened.
func TestColumnsLeaveFromTheRight(t *testing.T) {
	shown := func(c panel.Columns) (heads []string) {
		for _, v := range []struct {
			w    int
			name string
		}{{c.Age, "for"}, {c.CPU, "cpu"}, {c.Mem, "mem"}, {c.Restarts, "restarts"}, {c.PID, "pid"}} {
			if v.w > 0 {
				heads = append(heads, v.name)
			}
		}
		return heads
	}
	all := []string{"for", "cpu", "mem", "restarts", "pid"}
	last := len(all)
	for w := 200; w >= 50; w-- {
		c := panel.AgentColumns(w, panel.Widths{Name: 12, Names: 12, Why: 60, Usage: true})
		got := shown(c)
		if want := strings.Join(all[:len(got)], " "); strings.Join(got, " ") != want || len(got) > last {
			t.Fatalf("%d columns show %v", w, got)
		}
		if len(got) > 1 && c.Why < 44 {
			t.Errorf("%d columns: got %v, and %d columns for the reasons", w, got, c.Why)
		}
		last = len(got)
	}
	if last != 0 {
		t.Errorf("50 columns: got %d figures", last)
	}
	if c := panel.AgentColumns(200, panel.Widths{Name: 12, Names: 12, Why: 60}); c.CPU != 0 || c.Mem != 0 || c.PID == 0 {
		t.Errorf("columns without usage: got %+v", c)
	}
}

// If reasons or marks change, the set of columns does not.
func TestColumnsStay(t *testing.T) {
	set := func(c panel.Columns) [5]bool {
		return [5]bool{c.Age > 0, c.CPU > 0, c.Mem > 0, c.Restarts > 0, c.PID > 0}
	}
	for w := 40; w <= 220; w++ {
		n := panel.Widths{Name: 12, Names: 12, Why: 60, Usage: true, Spark: 10}
		want := panel.AgentColumns(w, n)
		for _, n.Why = range []int{5, 30, 90} {
			for n.Mark = range 4 {
				c := panel.AgentColumns(w, n)
				if set(c) != set(want) || c.Spark != want.Spark {
					t.Errorf("%d columns, %+v: %+v, otherwise %+v", w, n, c, want)
				}
			}
		}
	}
}

// The name column gets the space that the reasons do not need.
func TestNamesGetTheRoom(t *testing.T) {
	for w, want := range map[int][]string{80: {"/long-worker-pool-03", "/long-tester-pool-03"}, 60: {"long-wo", "long-te"}} {
		s := demo(t, w, map[int]int{80: 24, 60: 20}[w])
		s.change(func(n *city.Snapshot) {
			n.Agents, n.Pools = nil, nil
			for _, kind := range []string{"worker", "tester"} {
				pool := "backend/long-" + kind + "-pool-03"
				n.Pools = append(n.Pools, city.Pool{Name: pool, Max: 3, Desired: 1, Size: 1, Reason: "check returned 1"})
				n.Agents = append(n.Agents, city.Agent{Name: pool, Pool: pool, State: city.Running, Running: true, Reason: "ready"})
			}
		})
		for _, panel := range []string{"1", "2"} {
			s.press(panel)
			s.shows(want...)
		}
	}
	for in, want := range map[string]string{"warehouse/very-long-pool-17": "w…/very-long-pool-17", "be/a-very-long-name-of-a-pool-3": "be/a-very-l…a-pool-3"} {
		if got := strings.TrimRight(widget.FitName(in, 20, "…"), " "); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
	if got := widget.FitName("alpha/long-worker-pool-07-3", 15, "…"); got != "a…/long-…l-07-3" {
		t.Errorf("%q", got)
	}
}
