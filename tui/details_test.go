package tui

import (
	"slices"
	"strings"
	"testing"
	"time"

	"gcity/city"
	"gcity/tui/feed"
	"gcity/tui/widget"
)

func TestDetailsOfAnAgent(t *testing.T) {
	s := pooled(t, 120, 40)
	s.agent("zeta", func(a *city.Agent) { a.DependsOn = append(a.DependsOn, "gone") })
	s.choose("zeta")
	s.press("d")
	s.shows("next        starts when its dependencies are running", "needs       builder running, shop/reviewer starting, worker 2/2 live, gone")
	s.hides("drain  ", "idle  ", "takes")
	s.press("esc")
	s.choose("idle")
	s.press("d")
	s.shows("idle        restarts after 30m without activity; idle for 29m", "restarts in")
	s.agent("idle", func(a *city.Agent) { a.Session.Attached = true })
	s.shows("30m without activity, except while a user is attached")
	s.agent("idle", func(a *city.Agent) { a.Session = nil })
	s.shows("30m without activity ")
}

func TestDetailsOfADrain(t *testing.T) {
	s := pooled(t, 120, 40)
	s.choose("worker-3")
	s.press("d")
	s.shows("asked by pool", " to finish", "it has not reported done", "pool        worker, shrinking, 2/2 live",
		"uses        20.0% of a CPU, 160M in 2 processes", "if still running (10:43:19)")
	s.hides("is killed", "the deadline is") // the state line already says so
	s.agent("worker-3", func(a *city.Agent) { at := epoch.Add(time.Hour); a.Drain.Deadline = &at })
	s.shows("it has not reported done, the deadline is 11:42:07")
	s.agent("worker-3", func(a *city.Agent) { a.Drain, a.Until = &city.DrainInfo{By: "operator"}, nil })
	s.shows("asked by operator", " to finish", "it has not reported done, and there is no deadline", "draining for", "no deadline")
	s.agent("worker-3", func(a *city.Agent) { a.Drain = &city.DrainInfo{By: "operator", Acked: true} })
	s.shows("it has reported done", "reported done; its session is ending")
}

func TestDetailsOfAPool(t *testing.T) {
	s := pooled(t, 120, 40)
	s.pick("worker")
	s.press("d")
	s.shows("━ pool worker ━", "2/2 live, at least 1, at most 5", "check       cat wanted", "output      2", "it took 9ms",
		"draining     worker-3", "the check runs in", "Nov 20 08:42  scale       check returned 3", "10:41:19      scale       check returned 2: worker-3 drains")
	s.pool("worker", func(p *city.Pool) {
		p.Check.Output, p.Timeout, p.Override = "one\n\x1b[31mtwo\x1b[m\n\n", 0, new(int)
	})
	s.shows("output      one ", "            two ", "no deadline", "by hand     0, instead of the check")
	s.change(func(n *city.Snapshot) {
		n.Pools = slices.DeleteFunc(n.Pools, func(p city.Pool) bool { return p.Name == "worker" })
	})
	s.shows("This pool is no longer part of the city.")
}

// The members are in natural order, regardless of the order of the snapshot.
func TestMembersAreCounted(t *testing.T) {
	s := pooled(t, 120, 40)
	s.change(func(n *city.Snapshot) {
		for _, name := range []string{"worker-10", "worker-9"} {
			n.Agents = append(n.Agents, city.Agent{Name: name, Pool: "worker", State: city.Failed, Since: epoch})
		}
	})
	var got []string
	for _, r := range s.m.Pools.Members("worker") {
		got = append(got, r.Name)
	}
	if !slices.Equal(got, []string{"worker-1", "worker-2", "worker-3", "worker-9", "worker-10"}) {
		t.Errorf("members %v", got)
	}
	s.pick("merge")
	s.press("d")
	s.shows("Members", "running      merge  2h00")
	s.press("esc")
	s.pick("shop/tester")
	s.press("d")
	s.shows("None.", "rig         shop · 1 of 2 agents running · /srv/shop · suspended")
	s.change(func(n *city.Snapshot) { n.Rigs = nil })
	s.shows("rig         shop ")
}

// If all decisions are from today, their times do not include the date.
func TestDecisionsHaveDates(t *testing.T) {
	s := pooled(t, 120, 40)
	s.agent("builder", func(a *city.Agent) {
		a.Decisions = []city.Decision{{At: epoch.Add(-25 * time.Hour), What: "stop", Why: "by operator"}, {At: epoch, What: "start", Why: "resumed"}}
	})
	s.choose("builder")
	s.press("d")
	s.shows("10:42:07      start       resumed", "Nov 20 09:42  stop        by operator")
	s.agent("builder", func(a *city.Agent) { a.Decisions = a.Decisions[1:] })
	s.shows("10:42:07  start       resumed")
	s.agent("builder", func(a *city.Agent) { a.Decisions[0].What, a.Decisions[0].Why = city.CannotStart, "no folder" })
	s.shows("10:42:07  cannot start  no folder")
}

// The details of a pool can also be opened from its members.
func TestDetailsByThePaletteFollowTheAgent(t *testing.T) {
	s := pooled(t, 120, 40)
	run := func() { perform(s.m, actionOf(s.m, "pool.details")) }
	s.choose("builder")
	run()
	s.shows("no pool is selected; press 2")
	s.press("esc")
	s.choose("batch-2")
	run()
	s.shows("━ pool batch ━")
}

// A wrapped line is indented to the start of its text.
func TestHangingIndent(t *testing.T) {
	for _, c := range []struct {
		in   string
		w    int
		want []string
	}{
		{"why         one two three", 24, []string{"why         one two", "            three"}},
		{"10:20:07  start       died by exit 1", 30, []string{"10:20:07  start       died by", "          exit 1"}},
		{"! one two three", 10, []string{"! one two", "  three"}},
		{"  wants     one two three", 24, []string{"  wants     one two", "            three"}},
		{"one two three", 9, []string{"one two", "three"}},
		{"why         a", 24, []string{"why         a"}},
		{"why         one two three", 14, []string{"why", "one two three"}},
	} {
		got := widget.WrapHanging(c.in, c.w)
		if strings.Join(got, "|") != strings.Join(c.want, "|") {
			t.Errorf("WrapHanging(%q, %d) = %q, want %q", c.in, c.w, got, c.want)
		}
	}
}

func TestAgentVerbsInThePoolDetails(t *testing.T) {
	s := pooled(t, 120, 40)
	s.press("2", "d", "u")
	s.shows("cannot release the agent: this page shows pool batch, not an agent")
}

// The details use the pane's output before the city reports it.
func TestTheLastOutputIsCurrent(t *testing.T) {
	s := demo(t, 120, 40)
	s.choose("builder")
	s.agent("builder", func(a *city.Agent) {
		at := s.now
		a.Session.LastActivity = &at
	})
	s.hear(feed.News{Pane: paneOf("builder", "1")})
	s.wait(20 * time.Second)
	s.press("d")
	s.shows("output within the last 20s")
	s.hear(feed.News{Pane: paneOf("builder", "1")})
	s.shows("last output 0s ago")
}

// Without the pane, the age of the last output is an upper limit.
func TestTheLastOutputIsAtMostAsOldAsThePatrol(t *testing.T) {
	s := demo(t, 120, 40)
	s.choose("builder")
	s.change(func(n *city.Snapshot) { n.Patrol.Last = s.now })
	s.agent("builder", func(a *city.Agent) {
		at := s.now
		a.Session.LastActivity = &at
		a.Restarts, a.Crashes = 3, 1
	})
	s.press("d")
	s.shows("last output 0s ago", "3 automatic · 1 crash recently")
	s.wait(20 * time.Second)
	s.shows("output within the last 20s")
}

// A remedy that does not fit next to the state is below it.
func TestTheRemedyIsNotCut(t *testing.T) {
	for _, size := range [][2]int{{120, 40}, {160, 40}} {
		s := demo(t, size[0], size[1])
		s.choose("builder")
		s.agent("builder", func(a *city.Agent) {
			a.Next = &city.Next{What: "continues when the session provider responds; gcity agent restart ends it"}
			a.State = city.Unknown
		})
		s.choose("builder")
		for word := range strings.FieldsSeq("continues when the session provider responds; gcity agent restart ends it") {
			s.shows(word)
		}
	}
}
