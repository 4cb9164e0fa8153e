package tui

import (
	"fmt"
	"log/slog"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"gcity/beads"
	"gcity/city"
	"gcity/mail"
	"gcity/tui/feed"
	"gcity/tui/state"
	"gcity/tui/tuitest"
)

func someMail() []beads.Bead {
	letter := func(id string, ago time.Duration, m mail.Message) beads.Bead {
		b := mail.ToBead(m)
		b.ID, b.Status, b.CreatedAt, b.UpdatedAt = id, beads.StatusOpen, epoch.Add(-ago), epoch.Add(-ago)
		if m.Read {
			b.Labels = append(b.Labels, mail.ReadPatch().AddLabels...)
		}
		return b
	}
	return []beads.Bead{
		letter("gc-231", 40*time.Second, mail.Message{From: "builder", To: mail.Person, Subject: "May I use the spare machine?",
			Text: "The tests take an hour on this one.\n\nI would need it from four on,\nand be done by six."}),
		letter("gc-230", 3*time.Minute, mail.Message{From: "worker-1", To: "pool:worker", Subject: "the retry test is mine"}),
		letter("gc-229", 20*time.Minute, mail.Message{From: "shop/reviewer", To: mail.Person, Subject: "three notes on the last change", ReplyTo: "gc-220", Thread: "gc-220",
			Text: "See the branch."}),
		letter("gc-228", 2*time.Hour, mail.Message{From: "idle", To: "builder", Subject: "have you seen my brush?", Text: "The flat one.", Read: true}),
		letter("gc-227", 50*time.Hour, mail.Message{From: "scout", To: "ann", Subject: "no map", Text: "There is none.", Read: true}),
	}
}

func withMail(s *stage) {
	s.change(func(n *city.Snapshot) { n.Mail = city.MailCount{Unread: 2, Total: 3} })
	s.agent("builder", func(a *city.Agent) { a.Mail = 1 })
}

func openWork() []beads.Bead {
	return slices.DeleteFunc(someWork(), func(b beads.Bead) bool { return b.Type == state.RunType || b.Status != beads.StatusOpen })
}

func (s *stage) wantsTasks(want ...feed.Task) {
	s.t.Helper()
	var got []feed.Task
	for _, e := range s.out {
		if d, ok := e.(feed.RunTasks); ok {
			got = append(got, d.Tasks...)
		}
	}
	if !reflect.DeepEqual(got, want) {
		s.t.Errorf("tasks %+v, want %+v", got, want)
	}
}

func mailed(t *testing.T) *stage {
	s := automated(t, 120, 40)
	withMail(s)
	s.press("9")
	s.find(someMail(), "")
	return s
}

// A key for a row of a list that is still loading does not report an empty list.
func TestKeyWhileMailIsLoading(t *testing.T) {
	s := automated(t, 120, 40)
	s.press("9", "enter")
	s.shows("the messages are still loading; press the key again when they are shown")
}

// The header counts only unread mail for users.
func TestInboxListsMailOfPeople(t *testing.T) {
	s := automated(t, 120, 40)
	s.hides("unread")
	withMail(s)
	s.shows("2 unread")
	s.press("L")
	s.shows("loading")
	s.find(someMail(), "")
	s.shows("9 Mail 3 (2 unread)", "May I use the spare machine?", "shop/reviewer", "ann")
	s.hides("the retry test is mine", "have you seen my brush?")
	s.press("t")
	s.shows("the retry test is mine", "have you seen my brush?", "pool:worker", "t for users")
	s.agent("builder", func(a *city.Agent) { a.Mail = 3 })
	s.shows("9 Mail 5 (all mail, 3 unread)") // a message to a pool counts once, not once for each member
	s.press("G", "t", "k")
	if s.m.Mail.SelectedKey != "gc-229" {
		t.Errorf("the cursor is on %s", s.m.Mail.SelectedKey)
	}
	s.press("esc")
	s.hides("May I use")
}

// The row of an agent contains the number of its unread messages, and a mark if the agent has work.
func TestAgentsAreMarkedForWorkAndMail(t *testing.T) {
	s := demo(t, 80, 24)
	s.hides("▤")
	s.agent("builder", func(a *city.Agent) { a.Mail = 3 })
	s.agent("idle", func(a *city.Agent) { a.Task = "gc-7 thank the neighbours" })
	for _, line := range strings.Split(s.text(), "\n") {
		if strings.Contains(line, "running  builder") && !strings.Contains(line, "▤3") || strings.Contains(line, "running  idle") && !strings.Contains(line, "◐") {
			t.Errorf("no mark: %s", line)
		}
	}
	s.shows("▤3")
}

// Mail can be filtered, and can be sorted by need for attention or by sender.
func TestMailIsFilteredAndSorted(t *testing.T) {
	ids := func(s *stage) (all []string) {
		for _, r := range s.m.Mail.Visible() {
			all = append(all, r.ID)
		}
		return all
	}
	for text, want := range map[string][]string{
		"to:builder": {"gc-228"}, "from:worker": {"gc-230"}, "state:unread": {"gc-231", "gc-229"}, "spare": {"gc-231"}, "to:ann": {"gc-227"}, "nothing like it": nil,
	} {
		s := mailed(t)
		s.press("/")
		s.typeIn(text)
		s.press("enter")
		if got := ids(s); !slices.Equal(got, want) {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
	s := mailed(t)
	s.press("t", "o")
	if got := ids(s); !slices.Equal(got, []string{"gc-231", "gc-230", "gc-229", "gc-228", "gc-227"}) {
		t.Errorf("by need: %v", got)
	}
	s.press("o")
	if got := ids(s); !slices.Equal(got, []string{"gc-231", "gc-228", "gc-227", "gc-229", "gc-230"}) {
		t.Errorf("by sender: %v", got)
	}
	s.press("!")
	if got := ids(s); !slices.Equal(got, []string{"gc-231", "gc-229"}) {
		t.Errorf("messages that need attention: %v", got)
	}
	s = mailed(t)
	s.press("1")
	s.choose("builder")
	s.line("agent.inbox", "enter")
	if got := ids(s); !slices.Equal(got, []string{"gc-228"}) {
		t.Errorf("builder's mail is %v", got)
	}
}

// A reply to the user's own mail goes to the recipient of that mail.
func TestReplyToOwnMail(t *testing.T) {
	s := automated(t, 120, 40)
	withMail(s)
	s.press("L")
	s.find(nil, "")
	s.wait(2 * time.Second)
	s.press("t", "ctrl+r")
	own := mail.ToBead(mail.Message{From: mail.Person, To: "builder", Subject: "take the spare machine"})
	own.ID, own.CreatedAt, own.Status = "gc-232", epoch, beads.StatusOpen
	s.find(append(someMail(), own), "")
	s.press("g", "r")
	s.shows(`mail to builder, "Re: take the spare machine":`)
	s.typeIn("until six")
	s.press("enter")
	s.wantsTasks(feed.SendMail{Message: mail.Message{From: mail.Person, To: "builder", Subject: "Re: take the spare machine", Text: "until six", Thread: "gc-232", ReplyTo: "gc-232"}})
}

// When the snapshot counts a new message, the room requests the mail again. The cursor stays on its message.
func TestInboxFollows(t *testing.T) {
	s := mailed(t)
	s.press("j")
	s.wait(2 * time.Second)
	s.change(func(n *city.Snapshot) { n.Mail.Total++; n.Mail.Unread++ })
	if _, asks := effectOf[feed.QueryBeads](s); !asks {
		t.Fatal("the mail is not requested again")
	}
	fresh := mail.ToBead(mail.Message{From: "chatty", To: mail.Person, Subject: "hello"})
	fresh.ID, fresh.CreatedAt, fresh.Status = "gc-240", epoch, beads.StatusOpen
	s.find(append(someMail(), fresh), "")
	if s.shows("hello"); s.m.Mail.SelectedKey != "gc-229" || s.m.Mail.Visible()[0].ID != "gc-240" {
		t.Errorf("the cursor is on %s, the first is %s", s.m.Mail.SelectedKey, s.m.Mail.Visible()[0].ID)
	}
	s.wait(2 * time.Second)
	s.press("ctrl+r")
	s.find(nil, "the store does not answer")
	s.shows("cannot be read", "hello")
}

// Opening mail for users marks it as read. Mail for an agent remains unread, because the agent has not read it.
func TestReadingMail(t *testing.T) {
	s := mailed(t)
	s.press("enter")
	s.wantsTasks(feed.ReadMail{ID: "gc-231"})
	s.shows("from", "builder", "I would need it from four on,", "r reply", "A archive")
	d, _ := effectOf[feed.RunTasks](s)
	was := s.m.Status.Text
	s.hear(feed.News{Results: []feed.Result{{ID: d.ID, Title: "reading", Total: 1, Receipts: []string{"gc-231 is read"}, FailuresOnly: true}}})
	if s.m.Status.Text != was {
		t.Errorf("status after reading a message: got %q", s.m.Status.Text)
	}
	s.press("esc", "enter")
	s.wantsTasks()
	s.press("esc", "u")
	s.wants(city.UpdateBead{ID: "gc-231", Patch: mail.UnreadPatch()})
	s.press("t", "j", "enter")
	s.wantsTasks()
	s.shows("the retry test is mine", "The message has no text.")
	s.press("esc", "k", "enter")
	s.hear(feed.News{Results: []feed.Result{{ID: s.m.Actions, Title: "reading", Total: 1, FailedIndexes: []int{0}, Failures: []string{"the store is full"}, FailuresOnly: true}}})
	s.press("esc")
	s.shows("the store is full")
}

func TestReplyingToMail(t *testing.T) {
	s := mailed(t)
	s.press("enter", "r")
	s.shows(`mail to builder, "Re: May I use the spare machine?":`)
	s.typeIn("yes")
	s.press("alt+enter")
	s.typeIn("blue is out")
	s.press("enter")
	s.wantsTasks(feed.SendMail{Message: mail.Message{From: mail.Person, To: "builder", Subject: "Re: May I use the spare machine?", Text: "yes\nblue is out", Thread: "gc-231", ReplyTo: "gc-231"}})
	s.shows("9 Mail 3", "sending mail to builder")
	if len(s.m.Drafts) != 0 {
		t.Errorf("drafts are kept: %+v", s.m.Drafts)
	}
}

// Mail that could not be delivered to some recipients can be sent again to these recipients only.
func TestMailThatFailsIsADraftAgain(t *testing.T) {
	s := mailed(t)
	s.press("enter", "r")
	s.typeIn("blue is out")
	s.press("enter")
	d, _ := effectOf[feed.RunTasks](s)
	receiveResult(s.m, feed.Result{ID: d.ID, Title: "sending", Total: 1, Failures: []string{"no answer"}, FailedIndexes: []int{0}})
	s.press("enter", "r")
	s.shows("blue is out")
	s.press("enter")
	d, _ = effectOf[feed.RunTasks](s)
	receiveResult(s.m, feed.Result{ID: d.ID, Title: "sending", Total: 1, Receipts: []string{"sent"}})
	if len(s.m.Drafts) != 0 || len(s.m.Sending) != 0 {
		t.Errorf("still kept: %+v, %+v", s.m.Drafts, s.m.Sending)
	}
}

// A draft is kept for its recipients, together with its subject.
func TestWritingMail(t *testing.T) {
	s := automated(t, 120, 40)
	s.choose("builder")
	s.press("W", "enter", "enter")
	s.wantsTasks()
	s.shows("the message is empty")
	s.press("esc", "W")
	s.typeIn("paint")
	s.press("enter", "h", "i", "esc", "W")
	s.shows("mail to builder, subject: paint")
	s.press("enter", "!", "enter")
	s.wantsTasks(feed.SendMail{Message: mail.Message{From: mail.Person, To: "builder", Subject: "paint", Text: "hi!"}})
	s.press("i")
	s.hides("hi!")
	s.press("esc")
	s.choose("builder")
	s.press("space", "space", "W", "y", "enter", "enter")
	d, _ := effectOf[feed.RunTasks](s)
	if len(d.Tasks) != 2 {
		t.Errorf("%+v", d)
	}
	s.pick("worker")
	s.press("W", "z", "enter", "enter")
	s.wantsTasks(feed.SendMail{Message: mail.Message{From: mail.Person, To: "pool:worker", Subject: "z"}})
	s.press("W")
	s.m.Dialogs.Prompt().Edit.Paste(strings.Repeat("x", beads.MaxTitle+1))
	s.press("enter")
	s.shows("too long: at most")
	s.press("esc", "4", "W")
	s.shows("cannot write mail to the agent or the pool")
}

func TestMailByName(t *testing.T) {
	s := automated(t, 120, 40)
	s.line("mail ann about the map", "enter")
	s.shows(`mail to ann, "about the map":`)
	s.press("o", "enter")
	s.wantsTasks(feed.SendMail{Message: mail.Message{From: mail.Person, To: "ann", Subject: "about the map", Text: "o"}})
	s.line("mail pool:nowhere x", "enter")
	s.wantsTasks()
	s.shows(`pool "nowhere" not found`)
	s.press("esc", "esc", "L")
	s.find(someMail(), "")
	s.press("n")
	s.typeIn("ann")
	s.press("enter", "x", "enter")
	s.shows("mail to ann, \"x\"")
	s.press("esc")
	s.shows("May I use")
}

// An archived message disappears from the list immediately, and undo brings it back.
func TestArchivingMail(t *testing.T) {
	s := mailed(t)
	s.press("A")
	s.wantsTasks(feed.ArchiveMail{ID: "gc-231"})
	s.hides("May I use")
	if s.m.Mail.SelectedKey != "gc-229" {
		t.Errorf("the cursor is on %q", s.m.Mail.SelectedKey)
	}
	s.press("u")
	open := beads.StatusOpen
	s.wants(city.UpdateBead{ID: "gc-231", Patch: beads.Patch{Status: &open}})
	s.done("gc-231 is updated")
	s.find(someMail(), "")
	if s.m.Mail.SelectedKey != "gc-231" {
		t.Errorf("the cursor is on %q, not on the restored message", s.m.Mail.SelectedKey)
	}
	s.press("t")
	s.press("g")
	for s.m.Mail.SelectedKey != "gc-230" {
		s.press("j")
	}
	s.press("A")
	s.wantsTasks()
	s.shows("pool:worker has not read it")
	s.press("y")
	s.wantsTasks(feed.ArchiveMail{ID: "gc-230"})
	s.press("t", "*", "A")
	d, _ := effectOf[feed.RunTasks](s)
	if len(d.Tasks) != 3 || len(s.m.Mail.Visible()) != 0 {
		t.Errorf("archived marked messages with %+v; %d are still listed", d, len(s.m.Mail.Visible()))
	}
}

// A user who archives messages quickly acts on the next message each time, and can undo immediately.
func TestArchivingMailQuickly(t *testing.T) {
	s := mailed(t)
	quickly := func(key string) {
		t.Helper()
		s.now = s.now.Add(50 * time.Millisecond)
		s.send(tuitest.KeyPress(key))
	}
	for _, id := range []string{"gc-231", "gc-229"} {
		quickly("A")
		s.wantsTasks(feed.ArchiveMail{ID: id})
	}
	quickly("u")
	open := beads.StatusOpen
	s.wants(city.UpdateBead{ID: "gc-229", Patch: beads.Patch{Status: &open}})
}

// If another client removes the message under the cursor, r does not reply to the next message, and the text that the
// user types for the reply runs no verbs. Actions that need no row still work.
func TestAReplyToAVanishedMessage(t *testing.T) {
	gone := func() *stage {
		s := mailed(t)
		s.press("j", "k")
		s.m.Mail.Remove(s.m.Mail.SelectedKey)
		s.change(func(*city.Snapshot) {})
		return s
	}
	s := gone()
	for _, k := range []string{"r", "q", "A", "n"} {
		s.now = s.now.Add(50 * time.Millisecond)
		s.send(tuitest.KeyPress(k))
		if len(s.out) > 0 || s.m.Dialogs.Top() != nil {
			t.Errorf("%s has the effects %v and opens %T", k, s.out, s.m.Dialogs.Top())
		}
	}
	s.shows("gc-231 is gone; press r again to act on gc-229")
	s = gone()
	s.now = s.now.Add(50 * time.Millisecond)
	s.send(tuitest.KeyPress("n"))
	s.shows("Mail to")
}

// In a read-only room, opening mail does not mark it as read.
func TestMailReadOnly(t *testing.T) {
	s := mailed(t)
	s.m.Mode = state.ReadOnly
	s.press("enter")
	s.wantsTasks()
	s.shows("I would need it")
	s.press("r")
	s.wantsTasks()
	s.shows("read-only")
	s.press("esc", "A", "n", "u")
	s.wantsTasks()
	s.wants()
	s.press("esc", "W", "B")
	if s.m.Typing() || s.m.Dialogs.Finder() != nil {
		t.Error("a read-only room writes")
	}
}

// Unassigned work is listed first. Work that has an assignee needs a confirmation.
func TestSling(t *testing.T) {
	s := automated(t, 120, 40)
	s.choose("idle")
	s.press("B")
	s.shows("Work for idle", "loading")
	q, _ := effectOf[feed.QueryBeads](s)
	if !q.Query.Ready || !slices.Equal(q.Query.NotType, city.NotWork()) {
		t.Errorf("%+v", q.Query)
	}
	s.find(openWork(), "")
	s.shows("gc-219", "pool worker", "assigned to builder")
	s.press("enter")
	s.wantsTasks(feed.Sling{Request: city.SlingRequest{Target: "idle", Bead: "gc-219", Nudge: true}})
	s.hear(feed.News{Results: []feed.Result{{ID: s.m.Status.ID, Title: "handing", Total: 1, Receipts: []string{"handed gc-219 to idle"}}}})
	s.shows("handed gc-219 to idle")
	s.press("B")
	s.find(openWork(), "")
	s.typeIn("thank")
	s.press("enter")
	s.wantsTasks()
	s.shows("Sling gc-7 to idle?", "It is assigned to builder (open).")
	s.press("y")
	s.wantsTasks(feed.Sling{Request: city.SlingRequest{Target: "idle", Bead: "gc-7", Nudge: true, Force: true}})
	s.press("B")
	s.find(nil, "")
	s.shows("No bead is ready")
	s.press("esc", "8")
	s.find(someWork(), "")
	s.press("j", "j", "B")
	s.typeIn("pool:worker")
	s.press("enter")
	d, ok := effectOf[feed.RunTasks](s)
	if !ok || d.Tasks[0].(feed.Sling).Request.Target != "pool:worker" {
		t.Errorf("%+v", d)
	}
	s.press("esc")
	s.line("sling worker gc-6", "enter")
	s.wantsTasks(feed.Sling{Request: city.SlingRequest{Target: "worker", Bead: "gc-6", Nudge: true}})
}

// If a molecule has an assignee, its steps are not offered to other agents.
func TestReadyWorkHasNoOwner(t *testing.T) {
	f := newFakeCity(epoch)
	f.beads = []beads.Bead{
		{ID: "gc-1", Title: "whole", Type: beads.TypeMolecule, Assignee: "builder",
			Status: beads.StatusOpen},
		{ID: "gc-2", Title: "step", Type: "task", ParentID: "gc-1", Status: beads.StatusOpen},
		{ID: "gc-3", Title: "free", Type: "task", Status: beads.StatusOpen},
	}
	box := feed.NewMailbox()
	r := &feed.Runner{Ctx: t.Context(), City: f, Mailbox: box, Log: slog.New(slog.DiscardHandler)}
	r.Start(feed.QueryBeads{ID: 7, Unassigned: true, Query: beads.Query{Ready: true, Limit: -1}})
	r.Goroutines.Wait()
	n, _ := box.Take(epoch)
	if len(n.Found) != 1 || n.Found[0].Problem != "" {
		t.Fatalf("%+v", n.Found)
	}
	var ids []string
	for _, b := range n.Found[0].Beads {
		ids = append(ids, b.ID)
	}
	if slices.Sort(ids); !slices.Equal(ids, []string{"gc-1", "gc-3"}) {
		t.Errorf("%q are offered", ids)
	}
}

// If a task fails, the others can still succeed. A panic ends the room but not the process.
func TestTasks(t *testing.T) {
	f := newFakeCity(epoch)
	f.beads = someMail()
	box, broken := feed.NewMailbox(), make(chan struct{}, 1)
	r := &feed.Runner{Ctx: t.Context(), City: f, Mailbox: box, Log: slog.New(slog.DiscardHandler), Fail: func() { broken <- struct{}{} }}
	r.Start(feed.RunTasks{ID: 7, Title: "all", Tasks: []feed.Task{
		feed.SendMail{Message: mail.Message{To: "builder", Subject: "a"}}, feed.ReadMail{ID: "gc-231"}, feed.ReadMail{ID: "gc-999"}, feed.ArchiveMail{ID: "gc-229"},
		feed.Sling{Request: city.SlingRequest{Target: "builder", Bead: "gc-1"}}}})
	r.Goroutines.Wait()
	n, _ := box.Take(epoch)
	if len(n.Results) != 1 || n.Results[0].Total != 5 || len(n.Results[0].Receipts) != 4 || fmt.Sprint(n.Results[0].FailedIndexes) != "[2]" {
		t.Fatalf("%+v", n.Results)
	}
	if got := n.Results[0].Receipts[0]; !strings.HasPrefix(got, "sent") || !strings.Contains(got, "builder") {
		t.Errorf("%q", got)
	}
	all, err := f.Beads(t.Context(), mail.Query(""))
	if err != nil || len(all) != len(someMail()) {
		t.Errorf("%d messages, %v", len(all), err)
	}
	for _, b := range all {
		if m, _ := mail.FromBead(b); m.ID == "gc-231" && !m.Read {
			t.Error("the message is not marked as read")
		}
	}
	f.fail = map[string]string{"gc-231": "panic"}
	r.Start(feed.RunTasks{ID: 8, Title: "x", Tasks: []feed.Task{feed.ArchiveMail{ID: "gc-231"}}})
	r.Goroutines.Wait()
	select {
	case <-broken:
	default:
		t.Error("a panic in a task was not recorded")
	}
}

// A panel that has room for only a few lines shows the text of a message before its sender and its time.
func TestTheTextOfAMessageComesFirst(t *testing.T) {
	s := mailed(t)
	lines := s.m.Mail.Summary(s.m.Env(), 60)
	text := slices.IndexFunc(lines, func(l string) bool {
		return strings.Contains(l, strings.Fields(s.m.Mail.Row().Text)[0])
	})
	sent := slices.IndexFunc(lines, func(l string) bool { return strings.Contains(l, "sent  ") })
	if text != 1 || sent < text {
		t.Errorf("got the text in line %d, the time in line %d", text, sent)
	}
}

// The prompt for the text of mail always shows how to send it.
func TestTheTextOfMailSaysHowToSend(t *testing.T) {
	for w, want := range map[int]string{200: "esc closes", 120: "esc closes", 80: "alt+enter new line  esc closes", 60: "enter sends", 40: "enter sends"} {
		s := demo(t, w, 24)
		s.choose("builder")
		s.press("W")
		s.typeIn("the blue paint of the shop and its door")
		s.press("enter")
		s.shows(want, "mail to")
		long := strings.Repeat("x", w/2-6)
		s.typeIn(long)
		s.shows(long)
	}
}

// A watchdog reads no mail, so the room refuses a reply before the user types it.
func TestNoReplyToAWatchdog(t *testing.T) {
	s := mailed(t)
	s.press("g")
	s.m.Mail.Row().From = city.WatchdogSender + "chain"
	s.hides("r reply")
	s.press("r")
	s.shows("a watchdog reads no mail; press 6, then u to acknowledge its call")
	s.press("esc", "enter", "r")
	s.shows("a watchdog reads no mail")
	if s.m.Dialogs.Composer() != nil {
		t.Error("r opens an input field")
	}
}
