package tui

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"gcity/city"
	"gcity/tui/actions"
	"gcity/tui/feed"
	"gcity/tui/panel"
	"gcity/tui/state"
	"gcity/tui/tuitest"
	"gcity/tui/widget"
)

func measured(n *city.Snapshot) {
	for i := range n.Agents {
		a := &n.Agents[i]
		a.Usage = &city.Usage{CPU: float64(i * 7 % 11), RSS: int64(i*5%13) << 20}
		a.Restarts = i * 3 % 7
	}
}

func TestSortCyclesAndReverses(t *testing.T) {
	s := demo(t, 200, 60)
	s.change(measured)
	s.shows("state ↓")
	usual := s.order()
	by := func(better func(a, b *panel.AgentRow) bool) {
		t.Helper()
		rows := s.m.Agents.List.Shown
		for i := 1; i < len(rows); i++ {
			if a, b := s.m.Agents.Rows[rows[i-1]], s.m.Agents.Rows[rows[i]]; better(b, a) {
				t.Errorf("%s is listed before %s", a.Name, b.Name)
			}
		}
	}
	s.press("o")
	s.shows("name ↑")
	by(func(a, b *panel.AgentRow) bool { return city.CompareNames(a.Name, b.Name) < 0 })
	s.press("o")
	s.shows("why ↑", `sorted by "why"`)
	by(func(a, b *panel.AgentRow) bool {
		return a.Why != "" && (b.Why == "" || strings.ToLower(a.Why) < strings.ToLower(b.Why))
	})
	s.press("o")
	s.shows("↑ for", `sorted by "for"`)
	by(func(a, b *panel.AgentRow) bool { return a.Since.After(b.Since) })
	s.press("o")
	s.shows(`sorted by "cpu"`)
	by(func(a, b *panel.AgentRow) bool { return a.Usage.CPU > b.Usage.CPU })
	s.press("o")
	s.shows("↓ mem")
	by(func(a, b *panel.AgentRow) bool { return a.Usage.RSS > b.Usage.RSS })
	s.press("O")
	s.shows("↑ mem")
	by(func(a, b *panel.AgentRow) bool { return a.Usage.RSS < b.Usage.RSS })
	s.line("sort restarts", "enter")
	s.shows(`sorted by "restarts"`)
	by(func(a, b *panel.AgentRow) bool { return a.Restarts > b.Restarts })
	s.line("sort pid", "enter")
	s.shows(`sorted by "pid"`)
	s.press("o")
	if got := s.order(); !slices.Equal(got, usual) {
		t.Errorf("after the last order: %v, want the first order: %v", got, usual)
	}
}

// The cursor follows its agent, and new data does not move rows while the user works.
func TestSortedListsStayStill(t *testing.T) {
	s := demo(t, 200, 60)
	s.change(measured)
	s.press("o", "o", "o", "o")
	chosen, before := s.m.Agents.SelectedKey, s.order()
	s.change(func(n *city.Snapshot) {
		for i := range n.Agents {
			n.Agents[i].Usage = &city.Usage{CPU: float64(-i)}
		}
	})
	if got := s.order(); !slices.Equal(got, before) {
		t.Errorf("the list moved right after a key: %v, was %v", got, before)
	}
	s.wait(state.IdleAfter)
	if got := s.order(); slices.Equal(got, before) {
		t.Error("the list is never sorted again")
	}
	if s.m.Agents.SelectedKey != chosen {
		t.Errorf("the cursor moved from %s to %s", chosen, s.m.Agents.SelectedKey)
	}
}

func TestSortPoolsAndAutomations(t *testing.T) {
	s := demo(t, 200, 60)
	withAll(s)
	s.line("pools", "enter")
	s.press("o", "o", "o", "o")
	s.shows(`sorted by "state"`)
	first := s.m.Pools.Rows[s.m.Pools.List.Shown[0]]
	if !first.Attention(s.m.Now) {
		t.Errorf("%s is %s, but is listed first", first.Name, first.State(s.m.Now))
	}
	s.press("4", "o", "o")
	s.shows("gate ↑", `sorted by "gate"`)
	rows := s.m.Automations.Rows
	for i := 1; i < len(rows); i++ {
		a, b := rows[i-1].Next, rows[i].Next
		if !b.IsZero() && (a.IsZero() || b.Before(a)) {
			t.Errorf("%s is listed before %s", rows[i-1].Name, rows[i].Name)
		}
	}
	s.press("5", "o")
	if o, _ := s.m.Focused().Sorting(s.now); o != nil || s.m.Agents.Order.Key != 0 {
		t.Error("key o in Events sorted a different list")
	}
}

func TestOrdersAreKept(t *testing.T) {
	s := demo(t, 200, 60)
	s.press("o", "o", "o", "O", "2", "o")
	kept := s.m.Orders()
	if want := map[string]string{"agents": "for reversed", "pools": "size", "automations": "state", "rigs": "state", "work": "state", "mail": "age"}; !maps.Equal(kept, want) {
		t.Errorf("stored %v, want %v", kept, want)
	}
	kept["automations"] = "of a later version"
	next := demo(t, 200, 60)
	next.m.SetOrders(kept)
	kept["automations"] = "state"
	if got := next.m.Orders(); !maps.Equal(got, kept) {
		t.Errorf("restored %v, want %v", got, kept)
	}
}

// If a list is at its top, rows that are inserted above become visible, because problems come first.
func TestTheTopOfAListStaysInView(t *testing.T) {
	s := demo(t, 80, 24)
	for _, rows := range []int{0, 3} {
		s.press("g")
		for range rows {
			s.press("j")
		}
		first := s.m.Agents.Rows[s.m.Agents.List.Shown[0]].Name
		s.shows(first)
		s.change(func(n *city.Snapshot) {
			for i := range n.Agents {
				if n.Agents[i].Name == "idle" {
					n.Agents[i].State, n.Agents[i].Running, n.Agents[i].Reason = city.Failed, false, "it is broken anew"
				}
			}
		})
		s.wait(time.Minute)
		s.shows("it is broken anew", first, s.m.Agents.SelectedKey)
		s.change(func(n *city.Snapshot) {
			for i := range n.Agents {
				if n.Agents[i].Name == "idle" {
					n.Agents[i].State, n.Agents[i].Running, n.Agents[i].Reason = city.Running, true, "it is mended"
				}
			}
		})
		s.wait(time.Minute)
	}
}

// A click on a column heading sorts by that column, and another click reverses the order.
func TestAClickOnATitleSorts(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {120, 40}, {200, 60}} {
		s := demo(t, size[0], size[1])
		s.change(measured)
		s.shows("state ↓")
		for _, want := range []struct {
			click, shown string
			order        widget.Order
		}{
			{"name  ", "name ↑", widget.Order{Key: 1}},
			{"name ↑", "name ↓", widget.Order{Key: 1, Reversed: true}},
			{"for", "↑ for", widget.Order{Key: 3}},
			{"state", "state ↓", widget.Order{}},
			{"why", "why ↑", widget.Order{Key: 2}},
		} {
			s.click(want.click)
			s.wait(time.Second)
			if s.shows(want.shown); s.m.Agents.Order != want.order {
				t.Errorf("%v: after a click on %q the order is %+v", size, want.click, s.m.Agents.Order)
			}
		}
	}
	s := pooled(t, 80, 24)
	s.press("2")
	s.click("size")
	s.shows("↓size") // there is no room for a space in the gap
}

// If the number of matches does not fit, it is omitted, and never cut.
func TestFoundIsNeverCut(t *testing.T) {
	s := pooled(t, 200, 60)
	s.press("/", "e", "enter")
	for w := 60; w < 200; w++ {
		s.size(w, 60)
		for _, line := range strings.Split(s.text(), "\n")[:6] {
			if cut := regexp.MustCompile(`\d+ of \d*…|\d+ o…|of…`).FindString(line); cut != "" {
				t.Errorf("%d columns: %q", w, line)
			}
		}
	}
}

// The name of a sort order is the heading of its column.
func TestEveryColumnSorts(t *testing.T) {
	if testing.Short() {
		t.Skip("draws many frames")
	}
	s := pooled(t, 200, 60)
	withAll(s)
	s.change(measured)
	for _, p := range s.m.Panels {
		if o, _ := p.Sorting(s.now); o == nil || p.About().NoHeads {
			continue
		}
		state.FocusOn(s.m, p.About().ID)
		_, ways := p.Sorting(s.now)
		_, _, shown, _ := p.Cursor()
		last := -1
		for x := 3; x < 190 && shown > 0; x++ {
			way := p.OrderAt(s.m.Env(), 190, x)
			if way < 0 || way == last {
				continue
			}
			last = way
			actions.SortBy(s.m, way)
			s.shows(fmt.Sprintf("sorted by %q", ways[way]))
		}
	}
	s = pooled(t, 80, 24)
	s.change(measured)
	for _, name := range []string{"name", "why", "for", "state"} {
		s.press("o")
		s.shows(fmt.Sprintf("sorted by %q", name))
	}
}

// A key that arrives just after rows have moved is meant for the rows that the user saw.
func TestAKeyMovesTheCursorInTheOrderThatWasSeen(t *testing.T) {
	fail := func(s *stage, name string) {
		s.agent(name, func(a *city.Agent) { a.State, a.Running = city.Backoff, false })
	}
	for _, late := range []time.Duration{50 * time.Millisecond, 2 * time.Second} {
		s := demo(t, 80, 24)
		s.press("G", "k", "k")
		s.wait(state.IdleAfter)
		before, at := s.order(), s.m.Agents.List.Cursor
		fail(s, before[at+1])
		if slices.Equal(s.order(), before) {
			t.Fatal("the failed agent does not move up")
		}
		s.now = s.now.Add(late)
		s.send(tuitest.KeyPress("j"))
		if seen := late < widget.ReactionTime; (s.m.Agents.SelectedKey == before[at+1]) != seen {
			t.Errorf("%v after the rows moved, j selects %s; the row below the cursor was %s", late,
				s.m.Agents.SelectedKey, before[at+1])
		}
	}
}

// An agent that crashes again and again does not make the rows move each time.
func TestRowsRestAfterTheyHaveMoved(t *testing.T) {
	s := demo(t, 80, 24)
	s.wait(state.IdleAfter)
	set := func(state city.State) {
		s.agent("idle", func(a *city.Agent) { a.State, a.Running = state, state == city.Running })
	}
	set(city.Backoff)
	before := s.order()
	s.wait(time.Second)
	if set(city.Running); !slices.Equal(s.order(), before) {
		t.Error("rows move again after one second")
	}
	if s.wait(widget.MinReorderInterval); slices.Equal(s.order(), before) {
		t.Error("rows never move again")
	}
}

// An agent that crashes repeatedly needs attention even during the short times in which it is running.
func TestAnAgentThatCrashesRepeatedlyStaysInTrouble(t *testing.T) {
	s := demo(t, 80, 24)
	s.agent("idle", func(a *city.Agent) { a.State, a.Running, a.Crashes, a.Since = city.Running, true, 3, s.now })
	s.press("!")
	s.shows("idle")
	s.wait(2 * time.Minute)
	s.press("g")
	s.wait(state.IdleAfter)
	s.hides("idle")
}

// Quarantine is sorted in the same way as Agents, so it has no keys for the order.
func TestQuarantineIsNotSorted(t *testing.T) {
	s := demo(t, 120, 40)
	before := s.order()
	s.press("3", "o")
	s.shows("Quarantine is sorted like Agents; press 1 and sort there")
	if got := s.order(); !slices.Equal(got, before) {
		t.Errorf("Agents has the order %v, want %v", got, before)
	}
}

// Only one column has the arrow for the order of a list, even if two columns belong to the same order.
func TestOneColumnHasTheArrow(t *testing.T) {
	s := demo(t, 247, 60)
	s.change(measured)
	s.line("sort cpu", "enter")
	s.shows("↓ cpu  from 10:42")
	s.press("O")
	s.shows(`sorted by "cpu", in reverse`)
}

// While the user works in a list, the sort arrow is in parentheses.
func TestAPausedOrderIsShown(t *testing.T) {
	for _, w := range []int{200, 80} {
		s := demo(t, w, 40)
		s.press("j")
		s.shows("state ↓")
		s.hides("(↓)", "order held")
		s.agent("monitor", func(a *city.Agent) { a.State = city.Failed })
		s.shows("state (↓)")
		if w == 200 {
			s.shows("order held")
		}
		s.wait(state.IdleAfter)
		s.change(func(*city.Snapshot) {})
		s.shows("state ↓")
		s.hides("order held")
	}
}

// A list with one row has column headings while it has the focus, so that the sort order is visible.
func TestAListOfOneRowHasTitles(t *testing.T) {
	s := pooled(t, 200, 60)
	s.change(func(n *city.Snapshot) { n.Pools = n.Pools[4:] })
	s.hides("min-max")
	s.press("2", "o")
	s.shows("↓size  min-max", "worker")
}

func TestTheLastRunColumnKeepsItsPlace(t *testing.T) {
	s := automated(t, 120, 40)
	s.press("4")
	place := func() int {
		before, _, _ := strings.Cut(s.text(), "last run")
		return len(before) - strings.LastIndexByte(before, '\n')
	}
	before := place()
	for _, d := range []time.Duration{time.Second, time.Minute, time.Hour, 20 * time.Hour} {
		s.wait(d)
		if at := place(); at != before {
			t.Errorf("after %s the column is at %d, not %d", d, at, before)
		}
	}
	s.change(func(n *city.Snapshot) { n.Automations = n.Automations[:2] })
	s.shows("last run")
}

// Rows do not move while a dialog covers them, however long it is open, nor right after it closes.
func TestRowsDoNotMoveBehindADialog(t *testing.T) {
	drain := func(s *stage, name string) {
		s.agent(name, func(a *city.Agent) { a.State, a.Until = city.Draining, nil })
	}
	for _, size := range [][2]int{{200, 60}, {80, 24}} {
		for _, open := range []string{"r", "d", ":"} {
			s := demo(t, size[0], size[1])
			s.choose("builder")
			before := s.order()
			s.press(open)
			for range 3 {
				s.wait(time.Minute)
				s.agent("idle", func(a *city.Agent) { a.State, a.Running = city.Failed, false })
				drain(s, "monitor")
			}
			s.press("esc")
			for range 2 {
				if got := s.order(); !slices.Equal(got, before) {
					t.Fatalf("%v: after %s the rows are %v, want %v", size, open, got, before)
				}
				s.wait(time.Second)
			}
			if s.wait(state.IdleAfter); slices.Equal(s.order(), before) {
				t.Errorf("%v: after %s the rows never move", size, open)
			}
		}
	}
	s := demo(t, 80, 24)
	s.choose("builder")
	s.press("r")
	s.wait(time.Minute)
	s.agent("idle", func(a *city.Agent) { a.State, a.Running = city.Failed, false })
	s.change(without("builder")) // closes the question
	before := s.order()
	s.wait(time.Second)
	if got := s.order(); !slices.Equal(got, before) {
		t.Errorf("after the question has closed by itself the rows are %v, want %v", got, before)
	}
}

// A key that arrives just after the row under the cursor has vanished does not act on the next row.
func TestAKeyForAVanishedRowDoesNothing(t *testing.T) {
	for _, key := range []string{"a", "i", "r", "s", "ctrl+k", "d"} {
		s := demo(t, 120, 40)
		s.choose("chatty")
		s.wait(state.IdleAfter)
		before := s.order()
		next := before[slices.Index(before, "chatty")+1]
		s.change(without("chatty"))
		for _, k := range []string{"j", "k", key, "y"} {
			s.now = s.now.Add(50 * time.Millisecond)
			s.send(tuitest.KeyPress(k))
			s.wants()
			if _, attaches := effectOf[feed.Attach](s); attaches || s.m.Dialogs.Top() != nil {
				t.Errorf("%s: %s attaches: %v, or opens %T", key, k, attaches, s.m.Dialogs.Top())
			}
		}
		s.shows("chatty is gone; press ", " again to act on "+next)
		s.press(key)
		if e, attaches := effectOf[feed.Attach](s); s.m.Dialogs.Top() == nil && !attaches || attaches && e.Agent != next {
			t.Errorf("%s: the second time, it has the effects %+v", key, s.out)
		}
	}
	s := demo(t, 120, 40)
	s.choose("chatty")
	s.change(without("chatty"))
	s.press("a") // the user had time to see the next row
	if _, attaches := effectOf[feed.Attach](s); !attaches {
		t.Error("a later key does not attach")
	}
}

// When the selected agent leaves the list, the cursor stays where it is, also if the agent was a member of a pool.
func TestTheCursorStaysWhenItsAgentLeaves(t *testing.T) {
	for _, size := range [][2]int{{200, 60}, {80, 24}} {
		s := pooled(t, size[0], size[1])
		s.choose("worker-2")
		s.wait(state.IdleAfter)
		at, before := s.m.Agents.List.Cursor, s.order()
		s.change(without("worker-2"))
		if got, want := s.m.Agents.SelectedKey, before[at+1]; got != want {
			t.Errorf("%v: the cursor goes to %s, want %s, the next row", size, got, want)
		}
	}
}
