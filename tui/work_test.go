package tui

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"gcity/beads"
	"gcity/city"
	"gcity/tui/feed"
)

func worked(t *testing.T) *stage {
	s := automated(t, 120, 40)
	s.press("b")
	s.find(someWork(), "")
	return s
}

// A key that is held asks one question at a time, and once more when that is answered.
func TestOneQuestionForWorkAtATime(t *testing.T) {
	s := automated(t, 120, 40)
	asked := func() (n int) {
		for _, e := range s.out {
			if _, ok := e.(feed.QueryBeads); ok {
				n++
			}
		}
		return n
	}
	s.press("b", "ctrl+r", "ctrl+r", "ctrl+r")
	if n := asked(); n != 1 {
		t.Errorf("%d questions are asked before one is answered", n)
	}
	s.hear(feed.News{Found: []feed.FoundBeads{{ID: s.m.dialogs.work().asked}}})
	if s.press("k"); s.m.dialogs.work().stale || s.m.dialogs.work().asked == 0 {
		t.Error("what was asked for meanwhile is forgotten")
	}
	s.press("esc", "b")
	if n := asked(); n != 1 {
		t.Errorf("%d questions for a list that is opened anew", n)
	}
}

func TestWorkIsListedByPoolAndWho(t *testing.T) {
	s := worked(t)
	s.shows("Work 6", "pool worker  1 open, 1 in progress", "no pool  2 open")
	text := s.text()
	last := 0
	for _, want := range []string{"pool triage  1 open, with 1 part", "gc-218", "    ○ gc-219", "pool worker", "gc-216", "gc-217", "no pool", "gc-7", "gc-6"} {
		at := strings.Index(text[last:], want)
		if at < 0 {
			t.Fatalf("%s is missing, or out of its place:\n%s", want, text)
		}
		last += at
	}
	s.hides("gc-208") // a run is no work
}

// The cursor is on work, never on a group's title, and follows its bead.
func TestWorkCursor(t *testing.T) {
	s := worked(t)
	var seen []string
	for range 7 {
		seen = append(seen, s.m.dialogs.work().chosen)
		s.press("j")
	}
	if got := strings.Join(seen, " "); got != "gc-218 gc-219 gc-216 gc-217 gc-7 gc-6 gc-6" {
		t.Errorf("down: %s", got)
	}
	s.press("k", "k", "k", "k", "k", "k", "k")
	if s.m.dialogs.work().chosen != "gc-218" {
		t.Errorf("up: %s", s.m.dialogs.work().chosen)
	}
	s.press("G", "g", "j", "j")
	s.press("ctrl+r")
	s.find(append([]beads.Bead{{ID: "gc-400", Status: beads.StatusOpen, Labels: []string{"pool:aaa"}}}, someWork()...), "")
	if s.m.dialogs.work().chosen != "gc-216" || s.m.dialogs.work().under().ID != "gc-216" {
		t.Errorf("the cursor left its bead for %s", s.m.dialogs.work().chosen)
	}
	s.press("ctrl+r")
	s.find(nil, "")
	s.press("j", "k", "enter", "X")
	s.wants()
	s.shows("No open work.", "cannot close it: no work is selected")
}

func TestWorkIsAdded(t *testing.T) {
	s := worked(t)
	s.press("n")
	for _, c := range "pool:nowhere" {
		s.press(string(c))
	}
	s.press("enter")
	s.wants()
	s.shows(`no pool is called "nowhere"`)
	s.press("esc")
	s.press("n")
	for _, c := range "pool:worker paint the" {
		s.press(strings.ReplaceAll(string(c), " ", "space"))
	}
	s.press("space", "d", "enter")
	s.wants(city.CreateBead{Bead: beads.Bead{Title: "paint the d", Labels: []string{"pool:worker"}}})
	s.shows("adding paint the d", "Work 6")
	id := s.m.status.id
	s.hear(feed.News{Results: []feed.Result{{ID: id, Title: "adding", Total: 1, Receipts: []string{"created gc-301"}}}})
	if _, again := effectOf[feed.QueryBeads](s); !again {
		t.Error("the list is not looked at anew")
	}
	s.shows("created gc-301")
	s.press("n", "enter")
	s.wants()
	s.press("n")
	s.m.dialogs.prompt().Edit.Paste(strings.Repeat("x", beads.MaxTitle+1))
	s.press("enter")
	s.wants()
	s.shows("too long: at most 500 bytes")
	s.press("esc", "n")
	s.m.dialogs.prompt().Edit.Paste("pool:worker")
	s.press("enter")
	s.shows("it needs a title")
}

func TestWorkIsClosed(t *testing.T) {
	s := worked(t)
	s.press("X")
	s.shows("Close gc-218?", "1 part of it is not closed and stays open.")
	s.press("y")
	s.wants(city.UpdateBead{ID: "gc-218", Patch: beads.Closing(), Force: true}) // as was agreed to
	s = worked(t)
	s.m.confirm = confirmNever
	s.press("X")
	s.shows("Close gc-218?", "stays open.")
	s.m.confirm = confirmNormal
	s.press("esc", "j", "j", "X")
	s.shows("Close gc-216?", "fix the flaky retry test")
	s.hides("stays open")
	s.press("y")
	s.wants(city.UpdateBead{ID: "gc-216", Patch: beads.Closing()})
	s.hear(feed.News{Results: []feed.Result{{ID: s.m.status.id, Title: "closing", Total: 1, Failures: []string{"gc-216 is gone"}}}})
	s.shows("gc-216 is gone")
	s.find(someWork(), "")
	s.press("enter")
	s.shows("fix the flaky retry test", "worker-1", "in progress", "branch      retry")
	s.press("esc", "esc")
	s.hides("Work 6")
}

func TestWorkIsLookedAtAnewWhenItChanges(t *testing.T) {
	s := automated(t, 120, 40)
	s.press("b")
	s.shows("loading")
	if q, _ := effectOf[feed.QueryBeads](s); !slices.Equal(append(q.Query.NotType, city.GateType), city.NotWork()) {
		t.Errorf("what is no work is asked for: %+v", q.Query)
	}
	out := s.out
	s.change(func(n *city.Snapshot) { n.Work.Open = 9 })
	if _, twice := effectOf[feed.QueryBeads](s); twice {
		t.Error("a second question while the first is open")
	}
	s.out = out
	s.hear(feed.News{Found: []feed.FoundBeads{{ID: s.m.dialogs.work().asked, Beads: someWork()[:1]}}})
	if _, again := effectOf[feed.QueryBeads](s); !again {
		t.Error("what changed meanwhile is not asked for")
	}
	s.find(someWork(), "")
	s.shows("Work 6")
	s.press("ctrl+r")
	s.find(nil, "no such store")
	s.shows("cannot be read: no such store", "gc-216") // what was known stays
}

func TestReadOnlyWork(t *testing.T) {
	s := newStage(t, Options{Mode: ReadOnly})
	s.size(120, 40)
	s.hear(feed.News{Snap: demoSnapshot(epoch)})
	s.press("b")
	s.find(someWork(), "")
	s.hides("n add")
	s.press("n", "x")
	s.wants()
	s.shows("this control room is read-only")
	if s.m.dialogs.prompt() != nil || s.m.dialogs.choice() != nil {
		t.Error("it asks all the same")
	}
}

// Parts of each other are no way to hide work, and a part for another pool stands there.
func TestPartsOfWork(t *testing.T) {
	open := func(id, parent, pool string) beads.Bead {
		b := beads.Bead{ID: id, ParentID: parent, Status: beads.StatusOpen}
		if pool != "" {
			b.Labels = []string{city.PoolLabel + pool}
		}
		return b
	}
	deep := []beads.Bead{open("a", "", "")}
	for i := range 12 {
		deep = append(deep, open(string(rune('b'+i)), string(rune('a'+i)), ""))
	}
	for _, c := range []struct {
		all  []beads.Bead
		want string
	}{
		{[]beads.Bead{open("a", "", "x"), open("b", "a", ""), open("c", "b", ""), open("d", "a", "y")},
			"[pool x  1 open, with 2 parts] a >b >>c [pool y  1 open] d"},
		{[]beads.Bead{open("a", "gone", "")}, "[no pool  1 open] a"},
		{[]beads.Bead{open("a", "b", ""), open("b", "a", ""), open("c", "a", "")}, "[no pool  3 open] a b c"},
		{[]beads.Bead{open("a", "a", "")}, "[no pool  1 open] a"},
		{deep, "[no pool  6 open, with 7 parts] a >b >>c >>>d >>>>e >>>>>f >>>>>>g >>>>>>>h i j k l m"},
		{nil, ""},
	} {
		var got []string
		for _, r := range grouped(c.all) {
			if r.head != "" {
				got = append(got, "["+r.head+"]")
			} else {
				got = append(got, strings.Repeat(">", r.depth)+r.bead.ID)
			}
		}
		if text := strings.Join(got, " "); text != c.want {
			t.Errorf("%s, want %s", text, c.want)
		}
	}
}

// However much newer work there is, every pool has its group, in which the most urgent goes first; what is left out is told.
func TestMuchWork(t *testing.T) {
	s := automated(t, 120, 40)
	many := func(n int) []beads.Bead {
		all := make([]beads.Bead, 0, n+1)
		for i := range n {
			all = append(all, beads.Bead{ID: fmt.Sprintf("gc-%d", 9000+i), Title: "later", Status: beads.StatusOpen, CreatedAt: epoch, Labels: []string{city.PoolLabel + "many"}})
		}
		return append(all, beads.Bead{ID: "gc-1", Title: "long ago", Status: beads.StatusOpen, CreatedAt: epoch.Add(-time.Hour), Priority: beads.Urgent,
			Labels: []string{city.PoolLabel + "alone"}})
	}
	s.press("b")
	s.find(many(2000), "")
	s.shows("Work 2001", "pool alone  1 open", "long ago", "pool many  2000 open")
	s.press("esc")
	s.change(func(n *city.Snapshot) { n.Work = city.Work{Open: 9000, InProgress: 3000} })
	s.press("b")
	s.find(many(12000), "")
	s.shows("Work 5000 of 12000 shown, newest only")
}

// However low the screen is, the row under the cursor is on it.
func TestTheCursorOfAListIsShown(t *testing.T) {
	for _, h := range []int{9, 10, 12} {
		s := automated(t, 60, h)
		s.press("b")
		s.find(someWork(), "")
		for range s.m.dialogs.work().rows {
			s.shows(s.m.look.Glyphs.Cursor+" ", s.m.dialogs.work().under().ID)
			s.press("j")
		}
	}
}

// Who may only look is not told of a key that adds work.
func TestEmptyWorkReadOnly(t *testing.T) {
	s := newStage(t, Options{Mode: ReadOnly})
	s.size(120, 40)
	s.hear(feed.News{Snap: demoSnapshot(epoch)})
	s.press("b")
	s.find(nil, "")
	s.shows("No open work. Automations that cook a formula")
	s.hides(" adds some")
}

// A gate is no row of its own; what it blocks says so, in the list and in its details.
func TestWorkThatAwaitsAGate(t *testing.T) {
	s := automated(t, 120, 40)
	s.press("b")
	all := append(someWork(), beads.Bead{ID: "gc-300", Title: "release approved", Type: city.GateType, Status: beads.StatusOpen})
	for i := range all {
		if all[i].ID == "gc-216" {
			all[i].Needs = []string{"gc-300"}
		}
	}
	s.find(all, "")
	s.shows("Work 6", "awaiting gate fix the flaky retry test")
	s.hides("release approved")
	for s.m.dialogs.work().chosen != "gc-216" {
		s.press("j")
	}
	s.press("d")
	s.shows("awaits      gate gc-300 release approved")
}

// An agent whose work awaits a gate shows that in place of its work.
func TestAgentThatAwaitsAGate(t *testing.T) {
	s := demo(t, 120, 40)
	s.change(func(n *city.Snapshot) {
		for i := range n.Agents {
			if n.Agents[i].State == city.Running {
				n.Agents[i].AwaitsGate = "gc-300 release approved"
			}
		}
	})
	s.shows("awaiting gate gc-300 release approved")
}
