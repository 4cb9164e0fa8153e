package tui

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"gcity/city"
	"gcity/tui/feed"
	"gcity/tui/panel"
	"gcity/tui/state"
	"gcity/tui/widget"
)

func (s *stage) pool(name string, edit func(*city.Pool)) {
	s.change(func(n *city.Snapshot) {
		for i := range n.Pools {
			if n.Pools[i].Name == name {
				edit(&n.Pools[i])
			}
		}
	})
}

func (s *stage) pick(name string) {
	s.t.Helper()
	s.press("2", "g")
	for range len(s.m.Pools.Rows) {
		if s.m.Pools.SelectedKey == name {
			return
		}
		s.press("j")
	}
	if s.m.Pools.SelectedKey != name {
		s.t.Fatalf("%s cannot be reached, the cursor is on %s", name, s.m.Pools.SelectedKey)
	}
}

func (s *stage) pooling() []string {
	var names []string
	for _, i := range s.m.Pools.List.Shown {
		names = append(names, s.m.Pools.Rows[i].Name)
	}
	return names
}

func TestPoolsSayHowTheyAreAndWhy(t *testing.T) {
	s := pooled(t, 160, 24)
	s.press("2")
	s.shows(
		"2 Pools 5 (1 failing)",
		"growing    batch         3/4      0-8  set by hand to 4; check returned 2, 8s ago",
		"steady     merge         1/1      0-1  open beads: 5; max is 1",
		"suspended  shop/tester   0/0      0-4  suspended with rig shop",
		"failing    triage        1/1      1-3  check failed 8s ago: exit 3; last result 1, 11m ago; running for 3s",
		"shrinking  worker        2/2      1-5  check returned 2, 8s ago · worker-3 draining")
}

func TestPoolCheckTexts(t *testing.T) {
	at := func(ago time.Duration) *time.Time { t := epoch.Add(-ago); return &t }
	two := 2
	for _, c := range []struct {
		pool city.Pool
		want string
	}{
		{city.Pool{Check: city.Check{Command: "x"}, Reason: "minimum until the first check"}, "minimum until the first check"},
		{city.Pool{Check: city.Check{Command: "x"}}, "not checked yet"},
		{city.Pool{Check: city.Check{Command: "x", Running: at(time.Second)}}, "first check running for 1s"},
		{city.Pool{}, "open beads not counted yet"},
		{city.Pool{Max: 9, Check: city.Check{Good: at(time.Hour), Value: 4}}, "open beads: 4"},
		{city.Pool{Min: 2, Max: 3, Check: city.Check{Command: "x", Good: at(0), Value: 0}}, "check returned 0, 0s ago; min is 2"},
		{city.Pool{Max: 3, Check: city.Check{Command: "x", Good: at(0), Value: 9}}, "check returned 9, 0s ago; max is 3"},
		{city.Pool{Max: 3, Override: &two, Check: city.Check{Command: "x", Good: at(0), Value: 9}}, "set by hand to 2; check returned 9, 0s ago"},
		{city.Pool{Max: 3, Override: &two, Check: city.Check{Command: "x"}}, "set by hand to 2"},
		{city.Pool{Max: 3, Override: &two, Check: city.Check{Command: "x", Problem: "timeout", At: at(0)}},
			"set by hand to 2; check failed 0s ago: timeout; no valid result yet"},
		{city.Pool{Suspended: true, Override: &two, Check: city.Check{Problem: "timeout"}}, "suspended"},
	} {
		r := panel.NewPoolRow(&c.pool)
		if got, _ := r.Why(epoch); got != c.want {
			t.Errorf("%+v: %q, want %q", c.pool, got, c.want)
		}
	}
}

// On a wide screen the details next to the lists are about the focused panel.
func TestDetailsShowThePool(t *testing.T) {
	s := pooled(t, 200, 60)
	s.pick("triage")
	s.shows("─ pool triage ─", "✗ failing · 1/1 live · 1-3", "output: queue.sh: giving up")
	s.pick("worker")
	s.shows("─ pool worker ─", "worker-3   ", "the check runs in", "last decision: scale · check returned 2: worker-3 drains")
	s.press("1")
	s.hides("pool worker")
}

func TestACutDescriptionSaysHowMuchIsMissing(t *testing.T) {
	s := pooled(t, 80, 24)
	s.press("2")
	s.pick("worker")
	s.hides(" more\n")
	s.change(func(n *city.Snapshot) {
		member := n.Agents[slices.IndexFunc(n.Agents, func(a city.Agent) bool { return a.Name == "worker-1" })]
		for i := 4; i < 24; i++ {
			member.Name = fmt.Sprintf("worker-%d", i)
			n.Agents = append(n.Agents, member)
		}
	})
	shown := 0
	for i := range 24 {
		if strings.Contains(s.text(), fmt.Sprintf("worker-%d ", i)) {
			shown++
		}
	}
	s.shows(fmt.Sprintf("… %d more", 25-shown)) // the omitted lines include the output and the last decision
}

// A pool fails if all its members crash repeatedly, also while some of them start again.
func TestAPoolWhoseMembersCrashFails(t *testing.T) {
	s := pooled(t, 120, 40)
	s.press("2")
	crash := func(of int, state city.State) {
		s.change(func(n *city.Snapshot) {
			for i := range n.Agents {
				if a := &n.Agents[i]; a.Pool == "worker" && of > 0 {
					a.State, a.Crashes, a.Since, of = state, 2, s.now, of-1
				}
			}
		})
	}
	s.pool("worker", func(p *city.Pool) { p.Size, p.Desired, p.Draining = 0, 3, nil })
	crash(2, city.Backoff)
	s.shows("growing    worker")
	crash(3, city.Backoff)
	s.shows("failing    worker", "no member keeps running; check returned 2", "2 failing")
	crash(2, city.Starting)
	s.pool("worker", func(p *city.Pool) { p.Size = 1 })
	s.shows("failing    worker")
	s.wait(time.Minute)
	s.pool("worker", func(p *city.Pool) { p.Size = 2 })
	s.shows("short      worker")
}

// A pool that has had too few members for a long time needs attention.
func TestAPoolThatStaysSmallIsShort(t *testing.T) {
	s := pooled(t, 120, 40)
	s.press("2")
	s.pool("worker", func(p *city.Pool) { p.Size, p.Draining = 1, nil })
	s.shows("growing    worker")
	s.wait(panel.MaxShort - time.Second)
	s.pool("worker", func(p *city.Pool) { p.Reason = "check returned 2 again" })
	s.shows("growing    worker")
	s.wait(time.Second)
	s.shows("! short      worker", "1 failing, 2 short") // the other short pool is batch
	s.pool("worker", func(p *city.Pool) { p.Size = 2 })
	s.shows("steady     worker")
	s.pool("worker", func(p *city.Pool) { p.Size = 1 })
	s.shows("growing    worker")
	s.wait(panel.MaxShort)
	s.pool("worker", func(p *city.Pool) { p.Desired, p.Since = 4, s.now })
	s.shows("growing    worker") // a new desired size restarts the wait
}

func TestThePoolsCursorIsItsOwn(t *testing.T) {
	s := pooled(t, 120, 40)
	s.choose("idle")
	s.pick("triage")
	s.press("1")
	if s.m.Agents.SelectedKey != "idle" {
		t.Errorf("the agent under the cursor is %s", s.m.Agents.SelectedKey)
	}
	s.pick("triage")
	s.change(func(n *city.Snapshot) {
		n.Pools = append([]city.Pool{{Name: "aaa"}}, slices.DeleteFunc(n.Pools, func(p city.Pool) bool { return p.Name == "merge" })...)
	})
	if got := s.pooling(); !slices.Equal(got, []string{"aaa", "batch", "shop/tester", "triage", "worker"}) || s.m.Pools.Current().Name != "triage" {
		t.Errorf("%v, the cursor is on %s", got, s.m.Pools.Current().Name)
	}
	s.change(func(n *city.Snapshot) {
		n.Pools = slices.DeleteFunc(n.Pools, func(p city.Pool) bool { return p.Name == "triage" })
	})
	if got := s.m.Pools.SelectedKey; got != "worker" {
		t.Errorf("the cursor did not stay at its position, but moved to %s", got)
	}
	s.change(func(n *city.Snapshot) { n.Pools = nil })
	s.press("j", "G", "g")
	if s.m.Pools.Current() != nil {
		t.Error("an empty list has a row under the cursor")
	}
	s.shows("No pools yet.")
}

func TestPoolsAreFiltered(t *testing.T) {
	for text, want := range map[string][]string{
		"work": {"worker"}, "open beads": {"merge"}, "name:work": {"worker"}, "state:fail": {"triage"}, "rig:shop": {"shop/tester"},
		"pool:test": {"shop/tester"}, "hand": {"batch"}, "!hand state:s": {"merge", "shop/tester", "worker"}, "~tsr": {"shop/tester"},
		"worker-3": {"worker"}, "provider:x": nil, "": {"batch", "merge", "shop/tester", "triage", "worker"},
	} {
		s := pooled(t, 120, 40)
		s.press("2", "/")
		for _, c := range text {
			s.press(string(c))
		}
		s.press("enter")
		if got := s.pooling(); !slices.Equal(got, want) {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
		if len(s.order()) != len(s.m.Agents.Rows) {
			t.Errorf("%q: the filter also applies to Agents", text)
		}
		if want != nil && !slices.Contains(want, s.m.Pools.SelectedKey) {
			t.Errorf("%q: the cursor is on %s, which is hidden", text, s.m.Pools.SelectedKey)
		}
	}
	s := pooled(t, 120, 40)
	s.press("2", "/", "x", "x", "enter")
	s.shows(`None of the 5 pools matches "xx".`, "/xx 0 of 5")
	s.press("esc")
	if len(s.pooling()) != 5 || s.m.Focus != panel.IDPools {
		t.Errorf("esc does more than clear the filter: %v, focus %v", s.pooling(), s.m.Focus)
	}
}

func TestAgentsAreFilteredByPoolAndRig(t *testing.T) {
	for text, want := range map[string][]string{
		"pool:wor": {"worker-3", "worker-1", "worker-2"}, "pool:merge": {"merge"}, "rig:shop": {"shop/reviewer", "shop/writer"},
		"pool:x": nil,
	} {
		s := pooled(t, 120, 40)
		s.press("/")
		for _, c := range text {
			s.press(string(c))
		}
		if got := s.order(); !slices.Equal(got, want) {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
	for word, want := range map[string]bool{"shop/te": true, "te": true, "shop": true, "ester": false, "": true} {
		if got := widget.HasNamePrefix("shop/tester", word); got != want {
			t.Errorf("%q: %v", word, got)
		}
	}
}

// Titles that do not fit lose spaces, counts and notes first. They always keep their keys.
func TestTitlesFit(t *testing.T) {
	s := pooled(t, 80, 24)
	s.change(func(n *city.Snapshot) { n.Rigs = nil })
	s.press("space", "space", "2")
	s.shows("━ 1 Agents ━ 2 Pools 5 (1 failing) ━ 3 Quara… 1 ━ 4 Autom… 0 ━ 5 Events ━ 8 ━ 9")
	s.size(122, 24)
	s.shows("━ 1 Agents 21 (2 marked) ━ 2 Pools 5 (1 failing) ━ 3 Quarantine 1 ━ 4 Automations 0 ━ 5 Events ━ 8 Work 0 ━ 9 Mail 0 ━")
	s.size(60, 20)
	s.shows("━ 1 Agents ━ 2 Pools 5 (1 failing) ━ 3 ━ 4 ━ 5 ━ 8 ━ 9 ━ 0")
	s.size(40, 10)
	s.shows("━ 1 ━ 2 Pools 5 ━ 3 ━ 4 ━ 5 ━ 8 ━ 9 ━")
}

// The result of the check is updated while the user is typing a size.
func TestScalePromptKnowsTheCheck(t *testing.T) {
	s := demo(t, 60, 20)
	s.change(withPools)
	s.pick("worker")
	s.press("S")
	s.shows("check: 2)")
	s.change(func(n *city.Snapshot) {
		for i := range n.Pools {
			if n.Pools[i].Name == "worker" {
				n.Pools[i].Check.Value = 3
			}
		}
	})
	s.shows("check: 3)")
}

// The filter that was set from a pool is removed when the user leaves the filtered list.
func TestTheFilterOfAPoolEndsWithItsList(t *testing.T) {
	s := pooled(t, 120, 40)
	for _, leave := range [][]string{{"2"}, {"esc"}, {"0", "2"}, {"5", "1"}} {
		s.pick("worker")
		s.press(".")
		s.shows("/pool:worker")
		s.press(leave...)
		s.hides("/pool:worker")
		if s.m.Agents.Filter.Active() {
			t.Errorf("after %v the filter stays", leave)
		}
	}
}

func TestTheRowOfAPoolShowsItsRestart(t *testing.T) {
	s := pooled(t, 120, 40)
	s.press("2")
	s.pool("worker", func(p *city.Pool) { p.Reason = "check returned 2; restarting, 1 of 2 done" })
	s.shows("restarting, 1 of 2 done")
}

// When a member exits, the cursor does not go to the first entry, which drains all members.
func TestTheCursorStaysAmongTheMembers(t *testing.T) {
	s := pooled(t, 120, 40)
	s.pick("batch")
	s.press("D", "m", "down")
	s.change(without("batch-1"))
	s.shows("> batch-2")
	s.press("down")
	s.change(without("batch-3"))
	s.shows("> batch-4")
	s.wait(time.Minute) // an update that does not change the members
	s.press("enter")
	s.shows("> batch-4", "the selected entry is gone")
	if _, sent := effectOf[feed.SendCommands](s); sent {
		t.Error("enter drained the member that replaced the selected one")
	}
	s.wait(time.Minute)
	s.shows("> batch-4", "the selected entry is gone")
	s.change(without("batch-4"))
	s.shows("> batch-2")
	s.press("up")
	s.hides("the selected entry is gone")
	s.press("enter")
	s.wants(city.Drain{Agent: "batch-2"})
}

// On a wide screen the pane shows a member of the pool under the cursor.
func TestThePaneFollowsThePool(t *testing.T) {
	s := pooled(t, 200, 60)
	s.choose("builder")
	s.pick("worker")
	if w := state.Watching(s.m).Agent; w != "worker-1" {
		t.Errorf("the pane shows %q", w)
	}
	s.press("a", "down", "enter")
	at, ok := effectOf[feed.Attach](s)
	if !ok || state.Watching(s.m).Agent != at.Agent {
		t.Errorf("attached to %q, the pane shows %q", at.Agent, state.Watching(s.m).Agent)
	}
	s.press("1")
	if s.m.Agents.SelectedKey != "builder" {
		t.Errorf("%q is selected in Agents", s.m.Agents.SelectedKey)
	}
}

func TestThePaneFollowsAChosenEvent(t *testing.T) {
	s := demo(t, 200, 60)
	s.choose("builder")
	s.press("5", "k")
	for range 20 {
		if r := state.SingleAgent(s.m); r != nil && r.Name != "builder" {
			break
		}
		s.press("k")
	}
	r := state.SingleAgent(s.m)
	if r == nil || state.Watching(s.m).Agent != r.Name {
		t.Errorf("the pane shows %q", state.Watching(s.m).Agent)
	}
	s.press("1")
	if s.m.Agents.SelectedKey != "builder" {
		t.Errorf("%q is selected in Agents", s.m.Agents.SelectedKey)
	}
}

func TestTheDescriptionOfAPoolShowsMembersInTroubleFirst(t *testing.T) {
	for _, size := range [][2]int{{200, 60}, {120, 40}, {80, 24}} {
		s := pooled(t, size[0], size[1])
		s.agent("batch-3", func(a *city.Agent) {
			a.State, a.Reason = city.Quarantined, strings.Repeat("crashed again and again ", 9)
		})
		s.pick("batch")
		text := s.text()
		_, text, _ = strings.Cut(text, " pool batch ─")
		var order []string
		for _, line := range strings.Split(text, "\n") {
			line = line[strings.LastIndex(line, "│")+1:]
			for _, word := range strings.Fields(line) {
				if strings.HasPrefix(word, "batch-") && strings.Contains(line, "again") != (word != "batch-3") {
					order = append(order, word)
				}
			}
			if strings.Contains(line, "again and") && !strings.HasSuffix(line, "…") {
				t.Errorf("%v: %q does not say that it is cut", size, line)
			}
		}
		if len(order) < 4 || !slices.Equal(order[:4], []string{"batch-3", "batch-4", "batch-1", "batch-2"}) {
			t.Errorf("%v: %v", size, order)
		}
	}
}
