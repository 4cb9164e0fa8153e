package tui

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"gcity/beads"
	"gcity/city"
	"gcity/tui/feed"
	"gcity/tui/fleet"
	"gcity/tui/state"
	"gcity/tui/tuitest"
)

func without(name string) func(*city.Snapshot) {
	return func(n *city.Snapshot) {
		n.Agents = slices.DeleteFunc(n.Agents, func(a city.Agent) bool { return a.Name == name })
	}
}

func TestTheQuestionAboutAGateCountsDown(t *testing.T) {
	for _, size := range [][2]int{{200, 60}, {80, 24}} {
		s := automated(t, size[0], size[1])
		s.point("db-health")
		s.press("t")
		before := slices.Clone(s.m.Dialogs.Choice().Body)
		s.wait(time.Second)
		if after := s.m.Dialogs.Choice().Body; slices.Equal(before, after) {
			t.Errorf("%v: the question still says %q", size, after)
		}
	}
}

// A question drops agents that no longer exist. If no agents are left, it closes with a message.
func TestAQuestionDropsWhatIsGone(t *testing.T) {
	for _, size := range [][2]int{{200, 60}, {80, 24}} {
		s := pooled(t, size[0], size[1])
		for _, name := range []string{"builder", "chatty", "idle", "batch-1", "batch-2"} {
			s.choose(name)
			s.press("space")
		}
		s.press("r")
		s.shows("Restart 5 marked agents?", "type 5")
		s.press("5")
		s.change(without("builder"))
		s.shows("Restart 4 marked agents?", "Dropped: builder no longer exists.", "type 5, the number of agents")
		s.hides("y  yes")
		s.press("backspace")
		s.shows("y  yes")
		s.hides("type ")
		s.press("enter") // "no" is preselected again
		s.wants()
		s.press("r", "y")
		s.wants(city.Restart{Agent: "batch-1"}, city.Restart{Agent: "batch-2"}, city.Restart{Agent: "chatty"},
			city.Restart{Agent: "idle"})
		s.choose("chatty")
		s.press("ctrl+k")
		s.change(without("chatty"))
		if s.m.Dialogs.Choice() != nil {
			t.Errorf("%v: the question about nothing stays open", size)
		}
		s.shows("nothing was done: chatty no longer exists")
	}
}

func TestARequiredNumberStaysWhileTheUserTypes(t *testing.T) {
	s := pooled(t, 120, 40)
	s.out = perform(s.m, actionOf(s.m, "city.suspend"))
	n := state.RunningAgents(s.m)
	was := fmt.Sprintf("type %d, the number of running agents, to confirm:", n)
	s.shows(was)
	for _, digit := range fmt.Sprint(n) {
		s.press(string(digit))
		s.change(without(s.m.Snap.Agents[slices.IndexFunc(s.m.Snap.Agents,
			func(a city.Agent) bool { return a.State == city.Running })].Name))
		s.shows(was)
	}
	s.press("backspace", "backspace")
	s.hides(was)
	s.shows(fmt.Sprintf("type %d, the number", state.RunningAgents(s.m)))
	for _, digit := range fmt.Sprint(state.RunningAgents(s.m)) {
		s.press(string(digit))
	}
	s.change(without("builder"))
	s.send(tuitest.KeyPress("enter")) // the answer counts although the question has just changed
	s.wants(city.Suspend{})
}

// While the user types, both the number in the request and the smaller current number confirm. After any other number,
// the question asks for the current one.
func TestTheCurrentNumberConfirms(t *testing.T) {
	for _, c := range []struct {
		typed func(n int) string
		wants []city.Command
	}{
		{func(n int) string { return fmt.Sprint(n) }, []city.Command{city.Suspend{}}},
		{func(n int) string { return fmt.Sprint(n - 1) }, []city.Command{city.Suspend{}}},
		{func(n int) string { return fmt.Sprint(n - 2) }, nil},
	} {
		s := pooled(t, 120, 40)
		s.out = perform(s.m, actionOf(s.m, "city.suspend"))
		n := state.RunningAgents(s.m)
		for i, digit := range c.typed(n) {
			s.press(string(digit))
			if i == 0 {
				s.change(without("builder"))
			}
		}
		s.shows(fmt.Sprintf("type %d, the number", n))
		s.now = s.now.Add(time.Second)
		s.press("enter")
		s.wants(c.wants...)
		if c.wants == nil {
			s.shows(fmt.Sprintf("type %d to confirm:", n-1), "this does not match; nothing was done")
		}
	}
}

// A typed number does not confirm an action on more targets than it says.
func TestATypedNumberDoesNotConfirmMore(t *testing.T) {
	s := pooled(t, 120, 40)
	idle := func(names ...string) {
		for _, name := range names {
			s.agent(name, func(a *city.Agent) { a.State, a.Running = city.Exited, false })
		}
	}
	idle("builder", "idle")
	s.out = perform(s.m, actionOf(s.m, "city.suspend"))
	n := state.RunningAgents(s.m)
	for _, digit := range fmt.Sprint(n) {
		s.press(string(digit))
	}
	for _, name := range []string{"builder", "idle"} {
		s.agent(name, func(a *city.Agent) { a.State, a.Running = city.Running, true })
	}
	s.shows(fmt.Sprintf("the number of targets has grown from %d to %d", n, n+2),
		fmt.Sprintf("type %d, the number of running agents, to confirm:", n+2))
	s.press("enter")
	s.wants()
	s.out = perform(s.m, actionOf(s.m, "city.suspend"))
	for _, digit := range fmt.Sprint(n + 2) {
		s.press(string(digit))
	}
	s.press("enter")
	s.wants(city.Suspend{})
}

func TestAnAnswerToTheOldQuestionIsRejected(t *testing.T) {
	s := pooled(t, 120, 40)
	s.choose("builder")
	s.press("space", "space", "r")
	s.now = s.now.Add(time.Second)
	s.change(without("builder"))
	s.send(tuitest.KeyPress("y"))
	s.wants()
	s.shows("y came too early")
	s.press("y")
	s.wants(city.Restart{Agent: "chatty"})
}

func TestRestartNamesSkippedAgents(t *testing.T) {
	for _, size := range [][2]int{{200, 60}, {80, 24}} {
		s := pooled(t, size[0], size[1])
		for _, name := range []string{"builder", "shop/writer", "worker-3"} {
			s.choose(name)
			s.press("space")
		}
		s.press("r")
		s.shows("Restart marked agent builder?", "Not restarted:", "shop/writer is suspended; s resumes it",
			"worker-3 is draining")
		s.press("y")
		s.wants(city.Restart{Agent: "builder"})
	}
}

// closes checks that the open question has closed with the given reason.
func (s *stage) closes(why string) {
	s.t.Helper()
	if c := s.m.Dialogs.Choice(); c != nil {
		s.t.Errorf("the question %q stays open", c.Title)
		s.m.Dialogs.Close(c)
	}
	if !strings.HasPrefix(s.m.Status.Text, why) || !s.m.Status.Failed {
		s.t.Errorf("the status is %q, want %q", s.m.Status.Text, why)
	}
	s.press("esc")
}

func (s *stage) reread(all []beads.Bead) {
	s.t.Helper()
	state.MarkListsOutdated(s.m, true)
	s.wait(time.Second)
	s.find(all, "")
}

func withoutBead(all []beads.Bead, id string) []beads.Bead {
	return slices.DeleteFunc(slices.Clone(all), func(b beads.Bead) bool { return b.ID == id })
}

func edited(all []beads.Bead, id string, edit func(*beads.Bead)) []beads.Bead {
	all = slices.Clone(all)
	for i := range all {
		if all[i].ID == id {
			edit(&all[i])
		}
	}
	return all
}

// The questions about queued nudges drop a nudge that was delivered in the meantime.
func TestQuestionsAboutNudgesAreLive(t *testing.T) {
	for key, title := range map[string]string{"U": "Cancel 2 nudges to builder?", "I": "Send to builder now?"} {
		s := demo(t, 120, 40)
		s.agent("builder", withTexts)
		if key == "I" {
			state.RememberSent(s.m, "go on")
		}
		s.choose("builder")
		s.press(key)
		s.shows(title)
		s.agent("builder", func(a *city.Agent) {
			a.Sends = slices.DeleteFunc(slices.Clone(a.Sends), func(n city.Send) bool { return n.ID == 5 })
		})
		if key == "U" {
			s.shows("Cancel 1 nudge to builder?", "Dropped: the nudge to builder is no longer queued.")
			s.press("y")
			s.wants(city.Unsend{Agent: "builder", ID: 6})
			s.press("U")
		} else {
			s.closes("nothing was done: the nudge to builder is no longer queued")
			continue
		}
		s.agent("builder", func(a *city.Agent) { a.Sends[len(a.Sends)-1].Text = "of another controller" })
		s.closes("nothing was done: the nudge to builder is no longer queued")
	}
}

// The question about closing beads leaves out beads that were closed, or are no longer listed.
func TestTheQuestionAboutClosingBeadsIsLive(t *testing.T) {
	s := worked(t)
	s.press("g", "space", "space", "X")
	s.shows("Close 2 marked beads?")
	s.reread(withoutBead(todaysWork(), "gc-7"))
	s.shows("Close gc-216?", "Dropped: gc-7 is no longer listed.")
	s.reread(edited(todaysWork(), "gc-216", func(b *beads.Bead) {
		b.Status, b.ClosedAt = beads.StatusClosed, &s.now
	}))
	s.shows("Close gc-7?", "Dropped, because closed in the meantime: 1 bead.")
	s.press("y")
	s.wants(city.UpdateBead{ID: "gc-7", Patch: beads.Closing()})
	s.press("X")
	at := s.m.Work.SelectedKey
	s.reread(withoutBead(todaysWork(), at))
	s.closes("nothing was done: " + at + " is no longer listed")
	s.wants()
}

func TestTheQuestionAboutArchivingMailIsLive(t *testing.T) {
	s := mailed(t)
	s.press("t", "g")
	for s.m.Mail.SelectedKey != "gc-230" {
		s.press("j")
	}
	s.press("A")
	s.shows("pool:worker has not read it")
	s.reread(withoutBead(someMail(), "gc-230"))
	s.closes("nothing was done: gc-230 is no longer listed")
	s.wantsTasks()
}

// The question about reassigning a bead shows its current assignee.
func TestTheQuestionAboutSlingingIsLive(t *testing.T) {
	ask := func() *stage {
		s := worked(t)
		s.pickWork("gc-7")
		s.press("B")
		s.typeIn("idle")
		s.press("enter")
		s.shows("Sling gc-7 to idle?", "It is assigned to builder")
		return s
	}
	s := ask()
	s.reread(edited(todaysWork(), "gc-7", func(b *beads.Bead) { b.Assignee = "chatty" }))
	s.shows("It is assigned to chatty")
	s.reread(edited(todaysWork(), "gc-7", func(b *beads.Bead) { b.Assignee = "" }))
	s.hides("It is assigned to")
	s.press("y")
	s.wantsTasks(feed.Sling{Request: city.SlingRequest{Target: "idle", Bead: "gc-7", Nudge: true}})
	s = ask()
	s.reread(withoutBead(todaysWork(), "gc-7"))
	s.closes("nothing was done: gc-7 is no longer listed")
	s = ask()
	s.change(without("idle"))
	s.closes("nothing was done: idle no longer exists")
}

// Slinging several beads asks one question about all of them.
func TestSlingingSeveralBeadsAsksOnce(t *testing.T) {
	s := worked(t)
	all := edited(todaysWork(), "gc-6", func(b *beads.Bead) { b.Assignee = "chatty" })
	s.reread(all)
	for _, id := range []string{"gc-7", "gc-6", "gc-217"} {
		s.pickWork(id)
		s.press("space")
	}
	ask := func() {
		s.press("B")
		s.typeIn("idle")
		s.press("enter")
		s.wantsTasks()
	}
	ask()
	s.shows("Sling 3 beads to idle?", "gc-7 is assigned to builder (open).",
		"gc-6 is assigned to chatty (open).")
	s.press("n")
	s.wantsTasks()
	ask()
	s.press("y")
	d, _ := effectOf[feed.RunTasks](s)
	var slung []city.SlingRequest
	for _, task := range d.Tasks {
		slung = append(slung, task.(feed.Sling).Request)
	}
	slices.SortFunc(slung, func(a, b city.SlingRequest) int { return strings.Compare(a.Bead, b.Bead) })
	if want := []city.SlingRequest{{Target: "idle", Bead: "gc-217", Nudge: true},
		{Target: "idle", Bead: "gc-6", Nudge: true, Force: true},
		{Target: "idle", Bead: "gc-7", Nudge: true, Force: true}}; !reflect.DeepEqual(slung, want) {
		t.Errorf("slung: %+v", slung)
	}
	if len(s.m.Work.Marks) > 0 {
		t.Errorf("still marked: %v", s.m.Work.Marks)
	}
	for _, id := range []string{"gc-7", "gc-6"} {
		s.pickWork(id)
		s.press("space")
	}
	ask()
	s.reread(edited(all, "gc-6", func(b *beads.Bead) {
		b.Status, b.ClosedAt, b.UpdatedAt = beads.StatusClosed, &s.now, s.now
	}))
	s.shows("Sling gc-7 to idle?", "Dropped: gc-6 is already closed.")
}

// From five beads on, the user must type their number.
func TestSlingingManyBeadsNeedsTheirNumber(t *testing.T) {
	s := worked(t)
	var all []beads.Bead
	for i := range 5 {
		all = append(all, beads.Bead{ID: fmt.Sprintf("gc-%d", 300+i), Type: "task",
			Status: beads.StatusOpen, CreatedAt: epoch, UpdatedAt: epoch})
	}
	s.reread(all)
	for _, b := range all {
		s.pickWork(b.ID)
		s.press("space")
	}
	s.press("B")
	s.typeIn("idle")
	s.press("enter", "4", "enter")
	s.wantsTasks()
	s.press("backspace", "5", "enter")
	if d, _ := effectOf[feed.RunTasks](s); len(d.Tasks) != 5 {
		t.Errorf("slung: %+v", d.Tasks)
	}
}

// The questions about a rig close if the rig is gone, or is in the requested state already.
func TestQuestionsAboutRigsAreLive(t *testing.T) {
	s := pooled(t, 120, 40)
	s.pick("shop/tester")
	rig := func(edit func(*city.Rig)) {
		s.change(func(n *city.Snapshot) {
			n.Rigs = slices.Clone(n.Rigs)
			for i := range n.Rigs {
				edit(&n.Rigs[i])
			}
		})
	}
	s.press("s")
	s.shows("Resume rig shop?")
	rig(func(r *city.Rig) { r.Suspended = false })
	s.closes("nothing was done: rig shop is not suspended")
	s.wants()
	s.out = perform(s.m, actionOf(s.m, "rig.suspend"))
	s.shows("Suspend rig shop?")
	rig(func(r *city.Rig) { r.Suspended = true })
	s.closes("nothing was done: rig shop is already suspended")
	s.press("s")
	s.change(func(n *city.Snapshot) { n.Rigs = nil })
	s.closes("nothing was done: rig shop no longer exists")
}

// Questions about rigs omit rigs that no longer exist.
func TestQuestionsOfTheRigsPanelAreLive(t *testing.T) {
	open := func(key string, rigs ...string) *stage {
		s := rigged(t, 120, 40)
		for _, name := range rigs {
			s.press("g")
			for s.m.Rigs.SelectedKey != name {
				s.press("j")
			}
			s.press("space")
		}
		s.press(key)
		return s
	}
	rigs := func(s *stage, edit func([]city.Rig) []city.Rig) {
		s.change(func(n *city.Snapshot) { n.Rigs = edit(slices.Clone(n.Rigs)) })
	}
	drop := func(name string) func([]city.Rig) []city.Rig {
		return func(all []city.Rig) []city.Rig {
			return slices.DeleteFunc(all, func(r city.Rig) bool { return r.Name == name })
		}
	}
	s := open("s", "api", "docs")
	s.shows("Suspend 2 marked rigs?")
	rigs(s, drop("api"))
	s.shows("Suspend rig docs?", "Dropped: api no longer exists.")
	rigs(s, func(all []city.Rig) []city.Rig {
		for i := range all {
			all[i].Suspended = true
		}
		return all
	})
	s.closes("nothing was done: rig docs changed in the meantime")
	s.wants()
	s = open("r", "api")
	s.shows("Restart rig api?")
	rigs(s, drop("api"))
	s.closes("nothing was done: api no longer exists")
	s.wants()
}

func TestQuestionsAboutCitiesAreLive(t *testing.T) {
	list := func(s *stage, edit func(f *fleet.List)) {
		f := demoFleet(epoch)
		edit(f)
		s.hear(feed.News{Fleet: f})
	}
	gone := func(f *fleet.List) {
		f.Rows = slices.DeleteFunc(f.Rows, func(c fleet.City) bool { return c.Info.Name == "harbour" })
	}
	for _, key := range []string{"s", "ctrl+k"} {
		s := lobby(t, 120, 40, Options{})
		s.sail("harbour")
		s.press(key)
		list(s, gone)
		s.closes("nothing was done: harbour is no longer listed")
	}
	s := lobby(t, 120, 40, Options{})
	s.sail("harbour")
	s.press("s")
	s.shows("of 8 agents.")
	list(s, func(f *fleet.List) { f.Find("harbour").Summary.Suspended = true })
	s.closes("nothing was done: harbour is already suspended")

	s = among(t, 120, 40)
	s.hear(feed.News{Fleet: unsupervisedFleet()})
	s.line("city tower", "enter")
	s.shows("Start tower?")
	f := unsupervisedFleet()
	f.Find("tower").Info.Running = true
	s.hear(feed.News{Fleet: f})
	s.closes("nothing was done: tower is no longer stopped")
}

// members gives a pool n running members.
func (s *stage) members(pool string, n int) {
	s.change(func(c *city.Snapshot) {
		c.Agents = slices.DeleteFunc(c.Agents, func(a city.Agent) bool { return a.Pool == pool })
		for i := 1; i <= n; i++ {
			c.Agents = append(c.Agents, city.Agent{Name: fmt.Sprintf("%s-%d", pool, i), Pool: pool,
				State: city.Running, Running: true, Since: epoch})
		}
		for i := range c.Pools {
			if c.Pools[i].Name == pool {
				c.Pools[i].Size, c.Pools[i].Desired, c.Pools[i].Draining = n, n, nil
			}
		}
	})
}

// The questions about a pool follow its members. When a pool grows, the question says so, and an answer that was meant
// for fewer members does not count.
func TestQuestionsAboutAPoolFollowItsMembers(t *testing.T) {
	for _, size := range [][2]int{{200, 60}, {80, 24}} {
		for _, c := range []struct {
			key, one, four string
			want           []city.Command
		}{
			{"r", "1 member will restart: worker-1.", "4 members will restart: worker-1, worker-2, worker-3, worker-4.",
				[]city.Command{city.RestartPool{Pool: "worker", Rolling: true}}},
			{"s", "1 session will stop", "4 sessions will stop", []city.Command{city.Suspend{Agent: "worker"}}},
			{"D", "yes, drain worker-1", "a  yes, drain all 4 members",
				[]city.Command{city.Drain{Agent: "worker-1"}, city.Drain{Agent: "worker-2"},
					city.Drain{Agent: "worker-3"}, city.Drain{Agent: "worker-4"}}},
		} {
			s := pooled(t, size[0], size[1])
			s.m.Confirm = state.ConfirmAlways
			s.members("worker", 1)
			s.pick("worker")
			s.press(c.key)
			s.shows(c.one)
			s.wait(time.Minute)
			s.members("worker", 4)
			s.shows(c.four, "the number of targets has grown from 1 to 4")
			s.send(tuitest.KeyPress("y"))
			s.wants()
			s.shows("y came too early")
			s.press("y")
			s.wants(c.want...)
		}
	}
}

// A starting member is counted, because the controller restarts it, too. A member that a user is draining restarts, but
// a surplus member does not.
func TestTheQuestionAboutAPoolNamesSkippedMembers(t *testing.T) {
	s := pooled(t, 80, 24)
	s.agent("worker-1", func(a *city.Agent) {
		a.State, a.Drain = city.Draining, &city.DrainInfo{Since: epoch, By: "operator"}
	})
	s.agent("worker-2", func(a *city.Agent) { a.State, a.Running = city.Starting, false })
	s.pick("worker")
	s.press("r")
	s.shows("2 members will restart: worker-1, worker-2.", "Skipped: worker-3 is draining.")
	refusal := city.Refusal{}
	s.agent("worker-3", func(a *city.Agent) { refusal, a.Refusal = a.Refusal, refusal }) // as an older controller sends it
	s.shows("2 members will restart: worker-1, worker-2.", "Skipped: worker-3 is draining.")
	s.agent("worker-3", func(a *city.Agent) { refusal, a.Refusal = a.Refusal, refusal })
	s.agent("worker-3", func(a *city.Agent) { a.State, a.Drain = city.Stopping, nil })
	s.shows("2 members will restart: worker-1, worker-2.", "Skipped: worker-3 is stopping.")
	s.change(without("worker-3"))
	s.hides("Skipped")
	s.pool("worker", func(p *city.Pool) { p.Suspended = true })
	s.closes("cannot restart pool worker: it is suspended; s resumes it")
}

// The answer that restarts the whole pool says how many members it restarts, and does not count while the pool grows.
func TestTheQuestionAboutAMemberFollowsItsPool(t *testing.T) {
	s := pooled(t, 120, 40)
	s.members("worker", 2)
	s.choose("worker-1")
	s.press("r")
	s.shows("restart both members of worker")
	s.wait(time.Minute)
	s.members("worker", 4)
	s.shows("restart all 4 members of worker", "the number of targets has grown from 2 to 4")
	s.send(tuitest.KeyPress("p"))
	s.wants()
	s.press("p")
	s.wants(city.RestartPool{Pool: "worker", Rolling: true})
}
