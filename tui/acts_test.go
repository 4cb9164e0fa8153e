package tui

import (
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"gcity/beads"
	"gcity/city"
	"gcity/controller/controllertest"
	"gcity/internal/eventually"
	"gcity/mail"
	"gcity/tui/feed"
)

// inCity is a stage that shows a city with a real controller.
type inCity struct {
	*stage
	city *controllertest.City
	run  *feed.Runner
}

const harbor = `[workspace]
name = "harbor"
[[rigs]]
name = "web"
path = "web"
[[agents]]
name = "lead"
start_command = "exec cat"
[[agents]]
name = "coder"
dir = "web"
start_command = "exec cat"
`

func newInCity(t *testing.T) *inCity {
	f := controllertest.Start(t, harbor)
	f.Await(t, func(n *city.Snapshot) bool { return n.Count()[city.Running] == 2 })
	s := &inCity{newStage(t, Options{}), f, &feed.Runner{Ctx: t.Context(), City: f, Mailbox: feed.NewMailbox(), Log: slog.New(slog.DiscardHandler)}}
	s.now = time.Now()
	s.size(120, 40)
	s.look()
	return s
}

func (s *inCity) look() {
	s.t.Helper()
	n, err := s.city.Snapshot(s.t.Context())
	if err != nil {
		s.t.Fatal(err)
	}
	s.hear(feed.News{Snap: n})
	s.answer()
}

func (s *inCity) until(what string, ok func() bool) {
	s.t.Helper()
	eventually.True(s.t, what, func() bool { s.look(); return ok() })
}

func (s *inCity) sees(want ...string) {
	s.t.Helper()
	s.until(strings.Join(want, ", "), func() bool {
		text := s.text()
		return !slices.ContainsFunc(want, func(w string) bool { return !strings.Contains(text, w) })
	})
}

// answer carries out effects and delivers their results, until there are no more results.
func (s *inCity) answer() {
	s.t.Helper()
	for range 20 {
		for _, e := range s.out {
			switch e.(type) {
			case feed.SendCommands, feed.RunTasks, feed.QueryBeads:
				s.run.Start(e)
			}
		}
		s.run.Goroutines.Wait()
		n, _ := s.run.Mailbox.Take(s.now)
		if n.Empty() {
			return
		}
		s.hear(n)
	}
	s.t.Fatal("the room and the city never become idle")
}

func (s *inCity) write(text string) {
	for _, c := range text {
		s.press(strings.ReplaceAll(string(c), " ", "space"))
		s.answer()
	}
}

func (s *inCity) act(keys ...string) {
	s.t.Helper()
	for _, k := range keys {
		s.press(k)
		s.answer()
	}
	s.wait(2 * time.Second)
	s.answer()
	s.look()
}

func TestActsOnRigs(t *testing.T) {
	s := newInCity(t)
	s.act("7", "s", "y")
	s.sees("○ suspended  web")
	s.until("the stop of the rig's agent", func() bool { return !s.m.Agents.Find("web/coder").Running })
	s.act("s")
	s.sees("● running    web", "1/1")
	was := s.m.Agents.Find("web/coder").Session.ID
	s.act("r", "y")
	s.until("a new session", func() bool {
		is := s.m.Agents.Find("web/coder").Session
		return is != nil && is.ID != was
	})
}

func TestActsOnWork(t *testing.T) {
	s := newInCity(t)
	s.act("8")
	s.act("n")
	s.write("paint the door")
	s.act("enter")
	s.sees("○ open", "paint the door")
	s.act("B")
	s.write("lead")
	s.act("enter")
	s.until("the assignee", func() bool { return s.m.Work.Rows[0].Bead.Assignee == "lead" })
	s.sees("paint the door", "lead")
	s.act("X", "y")
	s.sees("✓ closed", "paint the door")
	if b := s.m.Work.Rows[0].Bead; b.Status != beads.StatusClosed {
		t.Errorf("the bead's status is %s", b.Status)
	}
}

func TestActsOnMail(t *testing.T) {
	s := newInCity(t)
	if _, err := city.SendMail(t.Context(), s.city, mail.Message{From: "lead", To: mail.Person, Subject: "may I merge?", Text: "The branch is green."}); err != nil {
		t.Fatal(err)
	}
	s.act("9")
	s.sees("lead", "may I merge?")
	s.act("enter")
	s.sees("The branch is green.")
	s.act("r")
	s.write("yes")
	s.act("enter")
	if !s.m.Mail.Rows[len(s.m.Mail.Rows)-1].Read {
		t.Error("the message is unread after it was read")
	}
	s.act("t")
	s.sees("Re: may I merge?")
	for !s.m.Mail.Row().ForPeople() {
		s.act("j")
	}
	s.act("u")
	if s.m.Mail.Row().Read {
		t.Error("the message is read after it was marked as unread")
	}
	s.act("A")
	for _, r := range s.m.Mail.Visible() {
		if r.ForPeople() {
			t.Errorf("an archived message is listed: %s", r.Subject)
		}
	}
}

// The controller does not stop a single member of a pool, so the question does not offer that.
func TestAMemberIsOnlyKilled(t *testing.T) {
	s := pooled(t, 120, 40)
	s.choose("worker-2")
	s.press("ctrl+k")
	s.shows("Kill worker-2", "kill: stop it immediately")
	s.hides("keep it stopped")
	s.press("esc")
	s.choose("idle")
	s.press("ctrl+k")
	s.shows("Kill or stop idle", "keep it stopped")
}

// A verb that the city would refuse is refused immediately, with the reason.
func TestAnAgentWithoutASessionIsNotKilledOrRestarted(t *testing.T) {
	s := demo(t, 120, 40)
	s.choose("shop/writer") // suspended
	s.hides("r restart")
	s.press("r")
	s.shows("cannot restart shop/writer: it is suspended; s resumes it")
	s.press("ctrl+k")
	s.shows("shop/writer is suspended and has no session")
	s.choose("scout") // quarantined
	s.shows("r restart")
	s.press("ctrl+k")
	s.shows("scout is quarantined and has no session; s keeps it stopped")
	if s.m.Dialogs.Top() != nil {
		t.Error("a question is open")
	}
}

// Whatever the controller would refuse is refused before the question, in the palette too, with the controller's reason.
func TestARefusedRestartIsNotAsked(t *testing.T) {
	for _, c := range []struct{ agent, why string }{
		{"worker-2", "cannot restart worker-2: it is surplus: pool worker wants 1; to scale the pool up, press 2, then S"},
		{"builder", "cannot restart builder: a restart would only stop it"},
	} {
		s := pooled(t, 120, 40)
		s.choose(c.agent)
		s.shows("r restart")
		s.press("r")
		if s.m.Dialogs.Choice() == nil {
			t.Fatalf("%s cannot be restarted", c.agent)
		}
		refuse := func(a *city.Agent) {
			a.State, a.Refusal = city.Stopping, city.Refusal{NoRestart: "a restart would only stop it"}
			a.Surplus = a.Pool != ""
		}
		s.change(func(n *city.Snapshot) {
			for i := range n.Pools {
				n.Pools[i].Desired = 1
			}
		})
		s.agent(c.agent, refuse) // the open question closes
		if s.m.Dialogs.Choice() != nil {
			t.Errorf("the question about %s stays open", c.agent)
		}
		s.press("esc")
		s.hides("r restart")
		s.press("r")
		s.wants()
		s.shows(c.why)
		s.press("esc")
		s.line("restart "+c.agent, "enter")
		s.wants()
		s.shows(strings.TrimPrefix(c.why[strings.Index(c.why, ":")+2:], "it is "))
	}
}
