package tui

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"gcity/city"
	"gcity/themes"
	"gcity/tui/feed"
	"gcity/tui/panel"
	"gcity/tui/state"
	"gcity/tui/tuitest"
)

// If several agents are marked, text is sent only to those that can receive it.
func TestSendLeavesOutAgentsThatCannotReceive(t *testing.T) {
	s := demo(t, 120, 40)
	for _, name := range []string{"scout", "builder", "idle"} {
		s.choose(name)
		s.press("space")
	}
	s.press("i")
	s.shows("send to 2 agents: builder, idle", "agents that cannot receive text are left out: scout")
	s.typeIn("hello")
	s.press("enter")
	s.wants(city.Nudge{Agent: "builder", Text: "hello"}, city.Nudge{Agent: "idle", Text: "hello"})
}

// A question says how many of the marked agents are hidden by a filter.
func TestHiddenMarksAreReported(t *testing.T) {
	s := demo(t, 120, 40)
	for _, name := range []string{"builder", "idle"} {
		s.choose(name)
		s.press("space")
	}
	s.press("r")
	s.hides("hides 1 of them")
	s.press("n", "/")
	s.typeIn("idle")
	s.press("enter", "r")
	s.shows("Restart 2 marked agents?", "The filter in Agents hides 1 of them.")
}

func TestStatusFollowsWhatWasSent(t *testing.T) {
	s := demo(t, 120, 40)
	s.choose("idle")
	s.press("i", "x", "enter")
	draft := city.Send{ID: 9, Text: "x", Lines: 1, Bytes: 1, Stage: city.Queued, Why: "a user's draft is on the input line", Since: epoch}
	s.sent(draft)
	s.shows("idle: queued: a user's draft is on the input line (U cancels it)")
	at := func(stage city.Stage, why string) {
		s.agent("idle", func(a *city.Agent) {
			next := draft
			next.Stage, next.Why, next.Since = stage, why, s.now
			a.Sends = []city.Send{next}
		})
	}
	at(city.Queued, "a user's draft is on the input line")
	s.choose("builder") // no text is queued for builder, so this is about the text that was just sent
	s.press("U")
	s.shows("Cancel 1 nudge to idle?")
	s.press("esc")
	at(city.Typing, "")
	s.shows("idle: typing")
	at(city.Submitted, "")
	s.shows("sent to idle")
	s.hides("cancels it")
	at(city.Acknowledged, "")
	s.shows("sent to idle; it has printed output since")
	s.wait(2 * state.StatusDuration)
	s.agent("idle", func(a *city.Agent) { a.Sends = nil })
	s.hides("idle: ")
	if len(s.m.Following) != 0 {
		t.Errorf("%v are still followed", s.m.Following)
	}
}

func TestStatusCountsWhatWasSent(t *testing.T) {
	s := demo(t, 120, 40)
	s.choose("builder")
	s.press("space", "space", "space", "i", "x", "enter")
	s.sent(city.Send{ID: 1, Stage: city.Submitted, Since: epoch}, city.Send{ID: 1, Stage: city.Submitted, Since: epoch},
		city.Send{ID: 1, Stage: city.Queued, Why: "a user's draft is on the input line", Since: epoch})
	s.shows("2 sent, 1 queued: a user's draft is on the input line")
	s.agent("idle", func(a *city.Agent) {
		a.Sends = []city.Send{{ID: 1, Stage: city.GivenUp, Why: "the agent has ended", Since: epoch.Add(time.Second)}}
	})
	s.shows("idle: given up: the agent has ended", "esc dismisses")
	s.press("esc", ":")
	s.typeIn("messages")
	s.press("enter")
	s.shows("2 sent, 1 given up", "sent to chatty")
	if last := s.m.Messages[len(s.m.Messages)-1]; !strings.HasPrefix(last.Text, "2 sent, 1 given up") || last.Token != themes.Warn {
		t.Errorf("message: %+v", last)
	}
	s.press("esc")

	// A text that is too long for the history is a draft again.
	long := strings.Repeat("read the failing test first\n", 800)
	to := []string{"idle"}
	queued := city.Send{ID: 2, Stage: city.Queued, Since: s.now}
	send := func() {
		t.Helper()
		s.press("esc")
		state.UnmarkAll(s.m, state.Marking(s.m))
		s.choose("idle")
		state.ForgetDraft(s.m, to)
		s.press("i")
		s.paste(long)
		s.press("enter")
		p, _ := effectOf[feed.SendCommands](s)
		if len(p.Commands) != 1 {
			t.Fatalf("%d commands", len(p.Commands))
		}
	}
	keeps := func(when string) {
		t.Helper()
		if i := state.DraftOf(s.m, to); i < 0 {
			t.Errorf("%s: the text is lost", when)
		}
	}
	send()
	s.sent(queued)
	s.agent("idle", func(a *city.Agent) {
		a.Sends = []city.Send{{ID: 2, Stage: city.GivenUp, Why: "the agent has ended", Since: s.now}}
	})
	keeps("given up")

	// A text that left the queue during an absence might have been given up.
	send()
	queued.ID, queued.Since = 3, s.now
	s.sent(queued)
	s.agent("idle", func(a *city.Agent) { a.Sends = []city.Send{queued} })
	s.now = s.now.Add(2 * time.Minute)
	s.agent("idle", func(a *city.Agent) { a.Sends = nil })
	keeps("left the queue")
	const unknown = "idle: it is unknown whether the nudge was typed; see the events"
	if last := s.m.Messages[len(s.m.Messages)-1]; last.Text != unknown || last.Token != themes.Warn {
		t.Errorf("message: %+v", last)
	}

	// The receipt can be older than the first snapshot after an absence.
	send()
	queued.ID, queued.Since = 4, s.now
	s.now = s.now.Add(2 * time.Minute)
	command := s.out
	s.change(func(*city.Snapshot) {})
	s.out = command
	s.sent(queued)
	s.shows(unknown)
	keeps("the receipt is late")
	for _, l := range s.m.Following {
		if l.Send.ID == queued.ID {
			t.Errorf("still followed: %+v", l.Send)
		}
	}

	// The controller's clock can be behind that of the room.
	send()
	queued.ID, queued.Since = 5, s.m.Snap.At
	s.now = s.now.Add(2 * time.Minute)
	s.sent(queued)
	if all := s.m.Following; len(all) == 0 || all[len(all)-1].Send.ID != queued.ID {
		t.Error("a nudge is not followed because the clocks differ")
	}
	s.shows("idle: queued")
}

// The status of a sent text does not overwrite the result of a newer verb.
func TestStatusOfOlderTextsStaysBehind(t *testing.T) {
	s := demo(t, 120, 40)
	s.choose("idle")
	s.press("i", "x", "enter")
	s.sent(city.Send{ID: 1, Stage: city.Queued, Since: epoch})
	s.press("M")
	s.agent("idle", func(a *city.Agent) { a.Sends = []city.Send{{ID: 1, Stage: city.Submitted, Since: s.now}} })
	s.shows("the terminal handles the mouse")
	s.change(func(n *city.Snapshot) { n.Started = n.Started.Add(time.Hour) })
	if len(s.m.Following) != 0 {
		t.Error("a message from a previous controller is followed")
	}
}

func TestRowsSayWhatWaits(t *testing.T) {
	s := demo(t, 247, 60)
	s.agent("builder", withTexts)
	s.shows("2 nudges queued: draft in input")
	s.agent("idle", func(a *city.Agent) { a.Sends = []city.Send{{ID: 1, Stage: city.Submitted}} })
	s.agent("shop/reviewer", func(a *city.Agent) {
		a.Sends = []city.Send{{ID: 1, Stage: city.Queued, Why: "agent is starting", Text: "\x1b[2J"}}
	})
	if r := s.m.Agents.Find("shop/reviewer"); !strings.HasPrefix(r.Why, "waits for a line") || !strings.HasSuffix(r.Why, "; 1 nudge queued") {
		t.Errorf("why: %q", r.Why)
	}
	if r := s.m.Agents.Find("idle"); r.Why != "waits for work" {
		t.Errorf("why: %q", r.Why)
	}
	s.choose("builder")
	s.press("d")
	s.shows("submitted 44s ago; new output since", `"look at the log"`, "queued for 16s: a user's draft is on the input line", "(4 lines, 130 B)", "U cancels the queued nudge   I types the next queued nudge now")
}

func TestUnsendCancelsQueuedTexts(t *testing.T) {
	s := demo(t, 120, 40)
	s.choose("builder")
	s.press("U")
	s.shows("no nudge is queued for builder")
	s.press("esc")
	s.agent("builder", withTexts)
	s.press("U")
	s.shows("Cancel 2 nudges to builder?", `builder: "go on"`)
	s.press("y")
	s.wants(city.Unsend{Agent: "builder", ID: 5}, city.Unsend{Agent: "builder", ID: 6})
	s.choose("idle")
	s.press("space")
	s.choose("builder")
	s.press("d", "I", "y") // the details are about builder, although another agent is marked
	s.wants(city.Nudge{Agent: "builder", Text: "go on", Now: true})
	s.press("d")
	s.agent("builder", func(a *city.Agent) { a.Sends = nil })
	s.hides("cancels the queued nudge")
	s.press("U")
	s.wants()
	s.shows("no nudge is queued for builder")
}

// A text that the user withdraws is not reported as a failure.
func TestUndoneChangeIsNotReported(t *testing.T) {
	s := demo(t, 120, 40)
	s.choose("idle")
	s.press("i", "x", "enter")
	waits := city.Send{ID: 7, Text: "x", Lines: 1, Bytes: 1, Stage: city.Queued, Since: epoch}
	s.sent(waits)
	s.agent("idle", func(a *city.Agent) { a.Sends = []city.Send{waits} })
	s.press("U", "y")
	s.done("took back 1 text")
	s.agent("idle", func(a *city.Agent) {
		waits.Stage, waits.Why, waits.Since = city.GivenUp, "canceled by operator", s.now
		a.Sends = []city.Send{waits}
	})
	s.shows("took back 1 text")
	if s.m.Status.Failed {
		t.Errorf("the status line shows a failure: %q", s.m.Status.Text)
	}
}

// A nudge that the city submits while the user withdraws it is not a draft. It is followed as before.
func TestUnsendThatIsTooLate(t *testing.T) {
	for _, key := range []string{"U", "I"} {
		s := demo(t, 120, 40)
		s.choose("idle")
		s.press("i", "x", "enter")
		queued := city.Send{ID: 7, Text: "x", Lines: 1, Bytes: 1, Stage: city.Queued, Since: epoch}
		s.sent(queued)
		s.agent("idle", func(a *city.Agent) { a.Sends = []city.Send{queued} })
		s.press(key, "y")
		p, ok := effectOf[feed.SendCommands](s)
		if !ok {
			t.Fatalf("%s: nothing is sent", key)
		}
		s.hear(feed.News{Results: []feed.Result{{ID: p.ID, Title: p.Title, Total: 1, Failures: []string{"the nudge was already typing"},
			FailedIndexes: []int{0}, RejectedUnsends: []int{0}}}})
		if len(s.m.Drafts) > 0 {
			t.Errorf("%s: a text that the city has is a draft: %+v", key, s.m.Drafts)
		}
		s.press("esc")
		queued.Stage, queued.Why, queued.Since = city.GivenUp, "the agent has ended", s.now
		s.agent("idle", func(a *city.Agent) { a.Sends = []city.Send{queued} })
		s.shows("idle: given up: the agent has ended", "esc dismisses")
	}
}

// Before a queued text is sent now, it is withdrawn from the queue.
func TestSendNowDoesNotDouble(t *testing.T) {
	s := demo(t, 120, 40)
	s.choose("builder")
	s.agent("builder", withTexts)
	s.press("I")
	s.shows("Send to builder now?", "a user's draft")
	s.press("y")
	p, ok := effectOf[feed.SendCommands](s)
	if !ok || len(p.Prerequisites) != 1 || p.Prerequisites[0] != (city.Unsend{Agent: "builder", ID: 5}) {
		t.Fatalf("before it: %v", p.Prerequisites)
	}
	s.wants(city.Nudge{Agent: "builder", Text: "go on", Now: true})
	s.agent("builder", func(a *city.Agent) { a.Sends = slices.Clone(a.Sends[2:]) })
	s.press("I")
	s.shows("only its beginning is known here")
	if s.m.Dialogs.Choice() != nil {
		t.Error("part of a text would be sent")
	}
	s.press("esc")
	s.choose("idle")
	s.press("i")
	s.paste("two\nlines")
	s.press("enter")
	waits := city.Send{ID: 3, Text: "two", Lines: 2, Bytes: 9, Stage: city.Queued, Since: epoch}
	s.sent(waits)
	s.agent("idle", func(a *city.Agent) { a.Sends = []city.Send{waits} })
	s.press("I", "y")
	s.wants(city.Nudge{Agent: "idle", Text: "two\nlines", Now: true})
}

// A nudge that is too long for the history of sent texts stays available if its delivery fails.
func TestNudgeThatFailsIsADraftAgain(t *testing.T) {
	s := demo(t, 120, 40)
	long := strings.Repeat("read the failing test first\n", 800) + "go on"
	fails := func(failed ...int) {
		t.Helper()
		p, ok := effectOf[feed.SendCommands](s)
		if !ok {
			t.Fatal("nothing is sent")
		}
		r := feed.Result{ID: p.ID, Title: "sending to", Total: len(p.Commands), FailedIndexes: failed}
		for range failed {
			r.Failures = append(r.Failures, "the queue is full")
		}
		s.hear(feed.News{Results: []feed.Result{r}})
	}
	for _, name := range []string{"builder", "idle"} {
		s.choose(name)
		s.press("space")
	}
	s.press("i")
	s.paste(long)
	s.press("enter")
	p, _ := effectOf[feed.SendCommands](s)
	fails(1)
	to := []string{p.Commands[1].Target()}
	if i := state.DraftOf(s.m, to); len(s.m.Drafts) != 1 || i < 0 {
		t.Fatalf("drafts after the failure for %s: %+v", to, s.m.Drafts)
	}
	s.choose(to[0])
	s.press("i", "enter")
	s.wants(city.Nudge{Agent: to[0], Text: long})
	s.sent(city.Send{ID: 1, Stage: city.Queued, Text: long[:10], Lines: 801, Bytes: len(long), Since: epoch})
	s.agent(to[0], func(a *city.Agent) { a.Sends = []city.Send{s.m.Following[0].Send} })
	if len(s.m.Drafts) != 0 {
		t.Errorf("a delivered text is a draft: %+v", s.m.Drafts)
	}

	s.press("I", "y")
	s.wants(city.Nudge{Agent: to[0], Text: long, Now: true})
	fails(0)
	s.press("i", "enter")
	s.wants(city.Nudge{Agent: to[0], Text: long})
	s.sent(city.Send{ID: 2, Stage: city.Submitted, Since: epoch})
	s.line("send a word", "enter")
	fails(0)
	if i := state.DraftOf(s.m, to); i < 0 || s.m.Drafts[i].Text != "a word" {
		t.Errorf("the line's text is lost: %+v", s.m.Drafts)
	}
}

// The runner sends the second command only if the first one has succeeded.
func TestSendNowStopsWhereItCannotBeTakenBack(t *testing.T) {
	c := newFakeCity(epoch)
	box := feed.NewMailbox()
	r := &feed.Runner{Ctx: t.Context(), City: c, Mailbox: box, Log: slog.New(slog.DiscardHandler)}
	p := feed.SendCommands{Commands: []city.Command{city.Nudge{Agent: "idle", Text: "x", Now: true}}, Prerequisites: []city.Command{city.Unsend{Agent: "builder", ID: 1}}}
	c.fail = map[string]string{"builder": "nothing waits to be sent"}
	r.Start(p)
	r.Wait()
	n, _ := box.Take(epoch)
	if len(c.done) != 0 || len(n.Results) != 1 || !slices.Equal(n.Results[0].Failures, []string{"nothing waits to be sent"}) ||
		!slices.Equal(n.Results[0].RejectedUnsends, []int{0}) {
		t.Errorf("done: %v, %+v", c.done, n.Results)
	}
	c.fail = map[string]string{"idle": "idle has no session"}
	r.Start(p)
	r.Wait()
	if n, _ := box.Take(epoch); len(c.done) != 1 || len(n.Results) != 1 || len(n.Results[0].RejectedUnsends) > 0 {
		t.Errorf("the nudge was withdrawn: %v, %+v", c.done, n.Results)
	}
	c.fail, c.done = nil, nil
	r.Start(p)
	r.Wait()
	if len(c.done) != 2 {
		t.Errorf("done: %v", c.done)
	}
}

// patientCity is a city that responds to every command after a delay.
type patientCity struct {
	*fakeCity
	takes time.Duration
}

func (c *patientCity) Do(ctx context.Context, cmd city.Command) (city.Receipt, error) {
	select {
	case <-time.After(c.takes):
		return city.Receipt{Message: "done"}, nil
	case <-ctx.Done():
		return city.Receipt{}, ctx.Err()
	}
}

// The room waits as long for a command that stops agents as the agents may take to exit.
func TestTheRoomWaitsForAgentsToStop(t *testing.T) {
	for _, c := range []struct {
		cmd   city.Command
		takes time.Duration
		fails bool
	}{
		{city.RestartPool{Pool: "worker", Rolling: true}, 8 * time.Minute, false},
		{city.Kill{Agent: "idle"}, 5 * time.Minute, false},
		{city.Restart{Agent: "idle"}, 5 * time.Minute, false},
		{city.Nudge{Agent: "idle", Text: "x"}, 5 * time.Minute, true},
		{city.RestartPool{Pool: "worker"}, time.Hour, true},
	} {
		synctest.Test(t, func(t *testing.T) {
			box := feed.NewMailbox()
			r := &feed.Runner{Ctx: t.Context(), City: &patientCity{newFakeCity(epoch), c.takes}, Mailbox: box,
				Log: slog.New(slog.DiscardHandler)}
			r.Start(feed.SendCommands{Commands: []city.Command{c.cmd}})
			r.Goroutines.Wait()
			n, _ := box.Take(epoch)
			if len(n.Results) != 1 || len(n.Results[0].Failures) > 0 != c.fails {
				t.Errorf("%T, answered after %v: %+v", c.cmd, c.takes, n.Results)
			}
		})
	}
}

func TestPaletteSends(t *testing.T) {
	for line, want := range map[string]city.Command{
		"send go  on, and on":            city.Nudge{Agent: "idle", Text: "go  on, and on"},
		"nudge builder  x  y z":          city.Nudge{Agent: "builder", Text: "x  y z"},
		"nudge agent builder x":          city.Nudge{Agent: "builder", Text: "x"},
		"agent  nudge builder  agent  x": city.Nudge{Agent: "builder", Text: "agent  x"},
	} {
		s := demo(t, 120, 40)
		s.choose("idle")
		s.line(line, "enter")
		s.wants(want)
	}
	for line, why := range map[string]string{
		"send ":            "send needs TEXT…",
		"nudge idle ":      "the text after the name is missing",
		"agent nudge idle": "the text after the name is missing",
		"nudge scout x":    "scout is quarantined and has no session",
		"nudge qqqq x":     `unknown agent "qqqq"`,
		"unsend idle":      "no nudge is queued for it",
	} {
		s := demo(t, 120, 40)
		s.choose("idle")
		s.line(line, "enter")
		s.wants()
		s.shows(why)
	}
	for _, line := range []string{"mail builder  a  b", "mail agent builder a  b", "agent mail builder a  b"} {
		s := demo(t, 120, 40)
		s.line(line, "enter")
		s.shows(`mail to builder, "a  b"`)
	}
	s := demo(t, 120, 40)
	s.agent("builder", withTexts)
	s.line("unsend builder", "enter")
	s.press("y")
	if len(s.commands()) != 2 {
		t.Errorf("commands: %v", s.commands())
	}
}

// A paste that is too long for the palette is rejected, because an agent must not receive a part of a text.
func TestAPasteThatIsTooLongForThePalette(t *testing.T) {
	for _, w := range []int{200, 80} {
		s := demo(t, w, 24)
		s.choose("idle")
		s.press(":")
		s.typeIn("send ")
		s.paste(strings.Repeat("many words ", 2000))
		s.shows("the pasted text is too long", "opens an input for longer text after")
		s.press("x")
		s.hides("too long")
		s.press("enter")
		s.wants(city.Nudge{Agent: "idle", Text: "x"})
		s.press("/")
		s.paste(strings.Repeat("many words ", 2000))
		s.shows("the pasted text is")
	}
}

// If an agent cannot receive text, letters that the user keeps typing are not taken as verbs.
func TestTextAfterARefusalIsNotAVerb(t *testing.T) {
	s := demo(t, 120, 40)
	s.choose("scout")
	quickly := func(keys ...string) {
		for _, k := range keys {
			s.now = s.now.Add(150 * time.Millisecond)
			s.send(tuitest.KeyPress(k))
		}
	}
	s.press("i")
	quickly("s", "a", "y", " ", "y", "e", "s", "enter")
	s.shows("cannot send text to the agent: scout is quarantined")
	if s.m.Dialogs.Choice() != nil || len(s.out) > 0 || s.m.Focus != panel.IDAgents {
		t.Fatalf("letters ran actions: %v\n%s", s.out, s.text())
	}
	s.press("i")
	quickly("down")
	if s.m.Agents.SelectedKey == "scout" {
		t.Error("a key other than a letter does nothing")
	}
	s.choose("scout")
	s.press("i", "s")
	s.shows("Suspend scout?")
}
