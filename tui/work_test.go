package tui

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"gcity/beads"
	"gcity/city"
	"gcity/events"
	"gcity/tui/feed"
	"gcity/tui/panel"
	"gcity/tui/state"
)

func todaysWork() []beads.Bead {
	end := epoch.Add(-time.Hour)
	return append(someWork(), beads.Bead{ID: "sh-4", Title: "paint the shop", Type: "task",
		Status: beads.StatusOpen, CreatedAt: epoch.Add(-time.Hour)},
		beads.Bead{ID: "gc-3", Title: "sweep the yard", Type: "task", Status: beads.StatusClosed,
			Assignee: "builder", CreatedAt: epoch.Add(-99 * time.Hour), ClosedAt: &end})
}

func worked(t *testing.T) *stage {
	s := automated(t, 120, 40)
	s.press("8")
	s.find(todaysWork(), "")
	return s
}

func (s *stage) work() (ids []string) {
	for _, r := range s.m.Work.Visible() {
		ids = append(ids, r.Bead.ID)
	}
	return ids
}

func (s *stage) queries() (all []beads.Query) {
	for _, e := range s.out {
		if q, ok := e.(feed.QueryBeads); ok {
			all = append(all, q.Query)
		}
	}
	return all
}

func (s *stage) pickWork(id string) {
	s.t.Helper()
	s.press("g")
	for range s.m.Work.Rows {
		if s.m.Work.SelectedKey == id {
			return
		}
		s.press("j")
	}
	s.t.Fatalf("%s cannot be reached", id)
}

// Runs of automations do not count as work.
func TestWorkIsListedByState(t *testing.T) {
	s := worked(t)
	if got := s.work(); !slices.Equal(got, []string{"gc-216", "gc-7", "sh-4", "gc-217", "gc-218",
		"gc-6", "gc-219", "gc-3"}) {
		t.Errorf("listed: %v", got)
	}
	s.shows("in progress", "gc-216", "blocked", "gc-219", "closed", "sweep the yard", "pool worker",
		"shop")
	s.hides("gc-208")
	if r := s.m.Work.Find("gc-219"); r.State != "blocked" {
		t.Errorf("a bead that needs open work is %s", r.State)
	}
}

func TestWorkIsFilteredAndSorted(t *testing.T) {
	for text, want := range map[string][]string{
		"rig:shop": {"sh-4"}, "assignee:build": {"gc-7", "gc-3"}, "state:blocked": {"gc-219"},
		"state:closed": {"gc-3"}, "pool:worker !state:open": {"gc-216"},
		"neighbours": {"gc-7"}, "nothing like it": nil,
	} {
		s := worked(t)
		s.press("/")
		s.typeIn(text)
		s.press("enter")
		if got := s.work(); !slices.Equal(got, want) {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
	s := worked(t)
	s.line("sort age", "enter")
	if got := s.work()[:3]; !slices.Equal(got, []string{"gc-219", "gc-218", "gc-217"}) {
		t.Errorf("the newest are %v", got)
	}
	s.line("sort prio", "enter")
	if got := s.work()[0]; got != "gc-219" {
		t.Errorf("the most urgent is %v", got)
	}
}

// Only a visible panel sends queries.
func TestWorkIsRequestedWhenVisibleAndChanged(t *testing.T) {
	s := automated(t, 120, 40)
	s.change(func(n *city.Snapshot) { n.Work.Open = 9 })
	if q := s.queries(); len(q) > 0 {
		t.Errorf("hidden work is requested: %+v", q)
	}
	s.shows("8 Work")
	s.press("8")
	s.shows("loading")
	asked := s.queries()
	if len(asked) != 2 || asked[0].Limit != panel.WorkPage ||
		!slices.Equal(append(asked[0].NotType, city.GateType), city.NotWork()) ||
		asked[1].ClosedSince.IsZero() {
		t.Fatalf("requested: %+v", asked)
	}
	out, before := s.out, s.m.Requests
	closed := feed.News{Events: []events.Event{{Seq: 900, TS: epoch, Type: events.BeadClosed, Subject: "gc-7"}}}
	s.wait(2 * time.Second)
	s.hear(closed)
	if s.m.Requests != before {
		t.Error("a second request is sent while the first is pending")
	}
	s.out = out
	s.find(todaysWork(), "")
	if s.m.Requests != before+2 {
		t.Error("a change during the request does not lead to another request")
	}
	for range 5 {
		if s.wait(5 * time.Second); len(s.queries()) > 0 {
			t.Error("work is requested although nothing has changed")
		}
	}
	s.hear(closed)
	if len(s.queries()) != 2 {
		t.Error("an event does not lead to a request")
	}
	s.find(nil, "no such store")
	s.shows("cannot be read", "gc-216") // known rows stay
	s.wait(8 * time.Second)
	if len(s.queries()) > 0 {
		t.Error("a failed request is repeated too early")
	}
	if s.wait(3 * time.Second); len(s.queries()) != 2 {
		t.Error("a failed request is not repeated")
	}
	s.shows("cannot be read")
	s.find(todaysWork(), "")
	s.hides("cannot be read")
}

// If there are many beads, moving to the end of the list requests more.
func TestWorkOfManyBeads(t *testing.T) {
	s := automated(t, 120, 40)
	all := make([]beads.Bead, 0, 3000)
	for i := range 3000 {
		b := beads.Bead{ID: fmt.Sprintf("gc-%d", 9000-i), Title: "later", Status: beads.StatusOpen,
			CreatedAt: epoch.Add(-time.Duration(i) * time.Second)}
		if i == 10 {
			b.Needs = []string{"gc-6001"} // a bead that is not in the list
		}
		all = append(all, b)
	}
	s.change(func(n *city.Snapshot) { n.Work = city.Work{Open: 3000} })
	answer := func() {
		for _, e := range s.out {
			if q, ok := e.(feed.QueryBeads); ok {
				found := all
				switch {
				case q.Query.Ready:
					found = slices.DeleteFunc(slices.Clone(all), func(b beads.Bead) bool {
						return len(b.Needs) > 0
					})
				case !q.Query.ClosedSince.IsZero():
					found = nil
				}
				s.hear(feed.News{Found: []feed.FoundBeads{{ID: q.ID,
					Beads: found[:min(len(found), q.Query.Limit)]}}})
			}
		}
	}
	s.press("8")
	answer()
	s.wait(2 * time.Second)
	if q := s.queries(); len(q) != 3 || !q[2].Ready {
		t.Fatalf("requested: %+v", q)
	}
	answer()
	s.shows("8 Work 3000 (newest 500)")
	if r := s.m.Work.Find("gc-8990"); r.State != "blocked" {
		t.Errorf("a bead that needs unlisted work is %s", r.State)
	}
	for range 10 {
		s.press("G")
		s.wait(10 * time.Second)
		answer()
	}
	if n := len(s.m.Work.Rows); n != 4*panel.WorkPage {
		t.Errorf("%d beads are listed", n)
	}
	s.press("/", "8", "9", "9", "0", "enter")
	s.shows("/8990 in the newest 2000, 1 of 2000")
}

// A filter by assignee requests only the work of that agent.
func TestWorkOfAnAgentIsRequested(t *testing.T) {
	s := worked(t)
	s.wait(2 * time.Second)
	s.press("/")
	s.send(tea.PasteMsg{Content: "assignee:builder"})
	q := s.queries()
	if len(q) != 3 || q[0].Assignee != "builder" || q[1].Assignee != "builder" ||
		q[2].Assignee != "builder" || !q[2].Ready {
		t.Fatalf("requested: %+v", q)
	}
	answers := [][]beads.Bead{{{ID: "gc-77", Title: "wait", Status: beads.StatusOpen, Assignee: "builder",
		Needs: []string{"gc-78"}}}, nil, nil}
	for _, e := range s.out {
		if q, ok := e.(feed.QueryBeads); ok {
			s.hear(feed.News{Found: []feed.FoundBeads{{ID: q.ID, Beads: answers[0]}}})
			answers = answers[1:]
		}
	}
	if r := s.m.Work.Find("gc-77"); r == nil || r.State != "blocked" {
		t.Errorf("a bead that needs another agent's work is %+v", r)
	}
	s.press("enter")
	s.wait(2 * time.Second)
	s.press("esc")
	if q := s.queries(); len(q) != 2 || q[0].Assignee != "" {
		t.Errorf("without the filter: %+v", q)
	}
}

func TestWorkIsAdded(t *testing.T) {
	s := worked(t)
	s.press("n")
	s.typeIn("pool:nowhere")
	s.press("enter")
	s.wants()
	s.shows(`unknown pool "nowhere"`)
	s.press("esc", "n")
	s.typeIn("pool:worker paint the door")
	s.press("enter")
	s.wants(city.CreateBead{Bead: beads.Bead{Title: "paint the door",
		Labels: []string{"pool:worker"}}})
	s.shows("adding paint the door")
	id := s.m.Status.ID
	s.wait(2 * time.Second)
	s.hear(feed.News{Results: []feed.Result{{ID: id, Title: "adding", Total: 1,
		Receipts: []string{"created gc-301"}}}})
	if len(s.queries()) == 0 {
		t.Error("the list is not requested again")
	}
	s.shows("created gc-301")
	s.press("n", "enter")
	s.wants()
	s.press("n")
	s.m.Dialogs.Prompt().Edit.Paste(strings.Repeat("x", beads.MaxTitle+1))
	s.press("enter")
	s.wants()
	s.shows("too long: at most 500 bytes")
	s.press("esc", "n")
	s.m.Dialogs.Prompt().Edit.Paste("pool:worker")
	s.press("enter")
	s.shows("a title is missing")
}

func TestWorkIsClosed(t *testing.T) {
	s := worked(t)
	s.pickWork("gc-218")
	s.press("X")
	s.shows("Close gc-218?", "1 part is still open and will stay open.")
	s.press("y")
	s.wants(city.UpdateBead{ID: "gc-218", Patch: beads.Closing(), Force: true})
	s.pickWork("gc-216")
	s.press("X")
	s.shows("Close gc-216?", "fix the flaky retry test")
	s.hides("stays open")
	s.press("y")
	s.wants(city.UpdateBead{ID: "gc-216", Patch: beads.Closing()})
	s.hear(feed.News{Results: []feed.Result{{ID: s.m.Status.ID, Title: "closing", Total: 1,
		Failures: []string{"gc-216 is gone"}}}})
	s.shows("gc-216 is gone")
	s.pickWork("gc-216")
	s.press("enter")
	s.shows("fix the flaky retry test", "worker-1", "in progress", "branch      retry")
	s.press("esc", "G", "X")
	s.wants()
	s.shows("gc-3 is already closed")
	s.press("esc", "g", "space", "space", "X")
	s.shows("Close 2 marked beads?")
	s.press("y")
	s.wants(city.UpdateBead{ID: "gc-216", Patch: beads.Closing()},
		city.UpdateBead{ID: "gc-7", Patch: beads.Closing()})
}

// The pane shows the terminal of the bead's assignee.
func TestWorkLeadsToItsAgent(t *testing.T) {
	s := worked(t)
	s.pickWork("gc-7")
	if r := state.Selected(s.m); r == nil || r.Name != "builder" {
		t.Errorf("the pane shows %+v", r)
	}
	s.press("r")
	s.wants()
	s.shows("press 1 for the agents")
	s.press("esc", ".")
	if s.m.Focus != panel.IDAgents || s.m.Agents.SelectedKey != "builder" {
		t.Errorf("the focus is on %s, the selected agent is %s", s.m.Focus, s.m.Agents.SelectedKey)
	}
}

// The pane says that the selected bead is not assigned.
func TestThePaneOfABeadWithoutAnAgent(t *testing.T) {
	s := automated(t, 200, 60)
	s.press("8")
	s.find([]beads.Bead{{ID: "gc-300", Title: "paint the fence", Status: beads.StatusOpen}}, "")
	s.shows("The bead gc-300 is not assigned to an agent.")
}

func TestReadOnlyWork(t *testing.T) {
	s := newStage(t, Options{Mode: state.ReadOnly})
	s.size(120, 40)
	s.hear(feed.News{Snap: demoSnapshot(epoch)})
	s.press("b")
	s.find(nil, "")
	s.shows("No open beads. Agents create beads, and so do automations")
	s.hides(" adds some", "n new")
	s.press("n")
	s.wants()
	s.shows("this control room is read-only")
	if s.m.Dialogs.Prompt() != nil {
		t.Error("a read-only room asks for a title")
	}
}

// If a gate blocks a bead, the list and the details of the bead say so.
func TestWorkThatAwaitsAGate(t *testing.T) {
	s := automated(t, 120, 40)
	s.press("b")
	all := append(someWork(), beads.Bead{ID: "gc-300", Title: "release approved",
		Type: city.GateType, Status: beads.StatusOpen})
	for i := range all {
		if all[i].ID == "gc-217" {
			all[i].Needs = []string{"gc-300"}
		}
	}
	s.find(all, "")
	s.shows("awaiting gate document the exec provider")
	s.hides("release approved")
	s.pickWork("gc-217")
	s.press("d")
	s.shows("awaits      gate gc-300 release approved")
	s.press("esc", "!")
	if got := s.work(); !slices.Equal(got, []string{"gc-217"}) {
		t.Errorf("beads that need attention: %v", got)
	}
}

// If an agent's work waits for a gate, the agent's row shows the gate instead of the work.
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

// Before a bead is closed, a question says what waits for the bead.
func TestClosingSaysWhatWaits(t *testing.T) {
	s := worked(t)
	s.pickWork("gc-219")
	s.press("X")
	s.shows("It is blocked", "This cannot be undone.")
	s.press("esc")
	needed := s.m.Work.Find("gc-219").Bead.Needs[0]
	s.pickWork(needed)
	s.press("X")
	s.shows("Waiting for it: gc-219.")
}

func TestANewBeadIsSelected(t *testing.T) {
	for filter, took := range map[string]time.Duration{"": 0, "sweep": 0, "yard": 2 * state.IdleAfter} {
		s := automated(t, 80, 24)
		s.press("8")
		all := todaysWork()
		for i := range 60 {
			all = append(all, beads.Bead{ID: fmt.Sprint("gc-3", i+100), Title: "old", Type: "task", Status: beads.StatusOpen, CreatedAt: epoch.Add(-time.Hour)})
		}
		s.find(all, "")
		s.press("/")
		s.typeIn(filter)
		s.press("enter", "n")
		s.typeIn("count the chairs")
		s.press("enter")
		p, _ := effectOf[feed.SendCommands](s)
		s.hear(feed.News{Results: []feed.Result{{ID: p.ID, Title: p.Title, Total: 1, Receipts: []string{"created gc-9"}, Created: "gc-9"}}})
		if s.m.Work.SelectedKey == "gc-9" {
			t.Error("a bead is selected that is not listed")
		}
		asked := s.out
		s.wait(took)
		s.out = asked
		s.find(append(all, beads.Bead{ID: "gc-9", Title: "count the chairs", Type: "task", Status: beads.StatusOpen, CreatedAt: s.now}), "")
		if s.m.Work.SelectedKey != "gc-9" {
			t.Errorf("%q: %s is selected", filter, s.m.Work.SelectedKey)
		}
		s.shows("gc-9", "count the chairs")
		s.wait(2 * state.IdleAfter)
		s.shows("gc-9", "count the chairs")
	}
	s := worked(t)
	s.press("n", "x", "enter")
	p, _ := effectOf[feed.SendCommands](s)
	s.hear(feed.News{Results: []feed.Result{{ID: p.ID, Total: 1, Receipts: []string{"created gc-9"}, Created: "gc-9"}}})
	asked := s.out
	s.press("j")
	at := s.m.Work.SelectedKey
	s.out = asked
	s.find(append(todaysWork(), beads.Bead{ID: "gc-9", Title: "x", Type: "task", Status: beads.StatusOpen, CreatedAt: s.now}), "")
	if s.m.Work.SelectedKey != at {
		t.Errorf("the cursor went from %s to %s", at, s.m.Work.SelectedKey)
	}
}

// In the line for a new bead, tab first adds a pool, and then goes through the pools.
func TestTabChoosesThePoolOfANewBead(t *testing.T) {
	s := pooled(t, 120, 40)
	s.press("8", "n")
	s.shows("tab chooses a pool  enter adds it  esc cancels")
	s.typeIn("count the chairs")
	names := map[string]bool{}
	for range s.m.Pools.Rows {
		s.press("tab")
		_, name, _ := strings.Cut(s.m.Dialogs.Prompt().Edit.String(), "count the chairs pool:")
		names[name] = s.m.Pools.Find(name) != nil
	}
	if len(names) != len(s.m.Pools.Rows) || names[""] {
		t.Errorf("tab chooses %v", names)
	}
	s.press("ctrl+w")
	s.typeIn("pool:wo")
	s.press("tab", "enter")
	s.wants(city.CreateBead{Bead: beads.Bead{Title: "count the chairs", Labels: []string{city.PoolLabel + "worker"}}})
	s = demo(t, 120, 40)
	s.press("8", "n", "x", "tab")
	s.hides("tab chooses", "pool:")
}

func TestTabLeadsFromTheSubjectToTheText(t *testing.T) {
	s := demo(t, 120, 40)
	s.choose("builder")
	s.press("W", "h", "i", "tab")
	s.shows(`mail to builder, "hi": `)
}

// Work shows the user's own change immediately, and a change by another program within a second.
func TestWorkIsUpdatedSoon(t *testing.T) {
	s := worked(t)
	created := func(seq uint64) {
		s.hear(feed.News{Events: []events.Event{{Seq: seq, TS: s.now, Type: events.BeadCreated, Subject: "gc-9"}}})
	}
	s.wait(10 * time.Second)
	created(901)
	if len(s.queries()) == 0 {
		t.Fatal("an event does not update the list")
	}
	s.find(todaysWork(), "")
	s.wait(100 * time.Millisecond)
	created(902)
	wake, ok := effectOf[feed.Wake](s)
	if len(s.queries()) > 0 || !ok || wake.After <= 0 || wake.After > time.Second {
		t.Fatalf("%+v", s.out)
	}
	created(903)
	if _, again := effectOf[feed.Wake](s); again {
		t.Error("a second event requests a second wake")
	}
	s.now = s.now.Add(wake.After)
	s.hear(feed.News{Woken: true})
	if len(s.queries()) == 0 {
		t.Fatal("no queries after the wake")
	}
	s.find(todaysWork(), "")
	s.hear(feed.News{Results: []feed.Result{{ID: 1, Total: 1, Receipts: []string{"created gc-9"}, Created: "gc-9"}}})
	if len(s.queries()) == 0 {
		t.Error("a bead that the user has added waits for the gap")
	}
}
