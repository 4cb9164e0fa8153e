package citytest

import (
	"context"
	"slices"
	"testing"

	"gcity/beads"
	"gcity/city"
	"gcity/events"
	"gcity/mail"
)

func mailed(t *testing.T, ctx context.Context, ctl city.Control, m mail.Message) string {
	t.Helper()
	r, err := city.SendMail(ctx, ctl, m)
	if err != nil {
		t.Fatalf("%+v: %v", m, err)
	}
	return beadOf(t, r).ID
}

func inbox(t *testing.T, ctx context.Context, ctl city.Control, who string, all bool) []string {
	t.Helper()
	found, err := city.Mail(ctx, ctl, who, all)
	if err != nil {
		t.Fatalf("Mail of %q: %v", who, err)
	}
	ids := []string{}
	for _, m := range found {
		ids = append(ids, m.ID)
	}
	return ids
}

type mailChecks struct {
	t   *testing.T
	ctx context.Context
	ctl city.Control
}

func (m mailChecks) want(who string, all bool, want ...string) {
	m.t.Helper()
	if got := inbox(m.t, m.ctx, m.ctl, who, all); !slices.Equal(got, append([]string{}, want...)) {
		m.t.Errorf("mail of %q: got %q, want %q (all: %v)", who, got, want, all)
	}
}

func (m mailChecks) await(agent string, unread int, people city.MailCount) {
	m.t.Helper()
	for s, err := range m.ctl.Snapshots(m.ctx) {
		if err != nil {
			m.t.Fatal(err)
		}
		if a, ok := s.Agent(agent); ok && a.Mail == unread && s.Mail == people {
			return
		}
	}
	s, err := m.ctl.Snapshot(context.WithoutCancel(m.ctx))
	m.t.Fatalf("want %d unread messages for %s and %+v for users, got %+v, %v", unread, agent,
		people, s, err)
}

func testMail(t *testing.T, ctx context.Context, ctl city.Control) {
	checks := mailChecks{t, ctx, ctl}
	one := mailed(t, ctx, ctl, mail.Message{From: Worker, To: "hand", Subject: "one",
		Text: "for hand"})
	two := mailed(t, ctx, ctl, mail.Message{To: RigWorker, Text: "two\nlines"})
	people := mailed(t, ctx, ctl, mail.Message{From: Worker, To: "human", Subject: "help"})
	named := mailed(t, ctx, ctl, mail.Message{From: Worker, To: "grace", Subject: "hello"})
	checks.await(RigWorker, 2, city.MailCount{Unread: 2, Total: 2})
	checks.want("hand", false, two, one)
	checks.want(Worker, false)
	checks.want("grace", false, named)
	checks.want("", false, named, people)

	m, err := city.ReadMail(ctx, ctl, one)
	if err != nil || !m.Read || m.From != Worker || m.To != RigWorker || m.Subject != "one" ||
		m.Text != "for hand" {
		t.Errorf("read %+v, %v", m, err)
	}
	if m, err = city.ReadMail(ctx, ctl, one); err != nil || !m.Read {
		t.Errorf("reading it again: got %+v, %v", m, err)
	}
	if _, err := city.ReadMail(ctx, ctl, people); err != nil {
		t.Error(err)
	}
	checks.await(RigWorker, 1, city.MailCount{Unread: 1, Total: 2})
	checks.want("hand", false, two)
	checks.want("hand", true, two, one)
	for range 2 {
		if r, err := city.ArchiveMail(ctx, ctl, two, ""); err != nil || r.Message == "" {
			t.Errorf("%+v, %v", r, err)
		}
	}
	checks.await(RigWorker, 0, city.MailCount{Unread: 1, Total: 2})
	checks.want("hand", true, one)
	open := beads.StatusOpen
	for _, c := range []struct {
		what beads.Patch
		want string
	}{
		{beads.Patch{Status: &open}, two + " is back in the inbox of " + RigWorker},
		{mail.ReadPatch(), two + " was marked as read"},
		{mail.UnreadPatch(), two + " was marked as unread"},
		{mail.ArchivePatch(), "archived " + two},
	} {
		if r := do(t, ctx, ctl, city.UpdateBead{ID: two, Patch: c.what}); r.Message != c.want {
			t.Errorf("%+v: got %q, want %q", c.what, r.Message, c.want)
		}
	}

	for _, kind := range []string{events.MailSent, events.MailRead} {
		found, err := ctl.History(ctx, events.Query{Types: []string{kind}, Subject: one})
		if err != nil || len(found) != 1 {
			t.Errorf("%s: %+v, %v", kind, found, err)
		}
	}
	snap, err := ctl.Snapshot(ctx)
	if err != nil || snap.Work.Open != 0 {
		t.Errorf("got mail that counts as work: %+v, %v", snap.Work, err)
	}
}

// A message to a pool belongs to the first member that takes it.
func testPoolMail(t *testing.T, ctx context.Context, ctl city.Control) {
	checks := mailChecks{t, ctx, ctl}
	id := mailed(t, ctx, ctl, mail.Message{From: Worker, To: Crew, Subject: "who?"})
	checks.await(crew(1), 1, city.MailCount{})
	for _, who := range []string{crew(1), crew(2), Crew, "pool:" + Crew} {
		checks.want(who, false, id)
	}
	if m, err := city.TakeMail(ctx, ctl, id, Worker); err != nil || m.To != "pool:"+Crew {
		t.Errorf("taken by an agent outside the pool: got %+v, %v", m, err)
	}
	m, err := city.TakeMail(ctx, ctl, id, crew(2))
	if err != nil || m.To != crew(2) || !m.Read {
		t.Errorf("taken: %+v, %v", m, err)
	}
	for _, who := range []string{crew(1), "pool:" + Crew} {
		checks.want(who, true)
	}
	checks.want(crew(2), true, id)
	_, err = city.TakeMail(ctx, ctl, id, crew(1))
	wantCode(t, "a message that another member has taken", err, city.Conflict)
	checks.await(crew(1), 0, city.MailCount{})

	id = mailed(t, ctx, ctl, mail.Message{From: Worker, To: Crew, Subject: "old?"})
	for _, by := range []string{crew(1), crew(1), crew(2)} { // archiving it again has no effect
		if _, err := city.ArchiveMail(ctx, ctl, id, by); err != nil {
			t.Error(err)
		}
	}
	found, err := ctl.History(ctx, events.Query{Types: []string{events.MailRead}, Subject: id})
	if err != nil || len(found) != 1 {
		t.Errorf("an archived message: got %+v, %v", found, err)
	}
}

func testMailRejected(t *testing.T, ctx context.Context, ctl city.Control) {
	for _, m := range []mail.Message{
		{To: "", Text: "x"}, {To: Worker}, {To: "a\nb", Text: "x"},
		{To: Worker, Text: string(make([]byte, mail.MaxText+1))},
	} {
		_, err := city.SendMail(ctx, ctl, m)
		wantCode(t, "a message to "+m.To, err, city.Invalid)
	}
	_, err := city.SendMail(ctx, ctl, mail.Message{To: "pool:nobody", Text: "x"})
	wantCode(t, "a message to an unknown pool", err, city.NotFound)
	work := create(t, ctx, ctl, beads.Bead{Title: "work"})
	for _, id := range []string{"tw-99", "../x", work.ID} {
		_, err := city.ReadMail(ctx, ctl, id)
		wantCode(t, "reading "+id, err, city.NotFound)
		_, err = city.ArchiveMail(ctx, ctl, id, "")
		wantCode(t, "archiving "+id, err, city.NotFound)
	}
}

// Assigned work has an agent as its assignee, or a pool in a label.
func testSling(t *testing.T, ctx context.Context, ctl city.Control) {
	b := create(t, ctx, ctl, beads.Bead{Title: "polish"})
	sling := func(s city.SlingRequest) beads.Bead {
		t.Helper()
		r, err := city.Sling(ctx, ctl, s)
		if err != nil {
			t.Fatalf("%+v: %v", s, err)
		}
		return beadOf(t, r)
	}
	if got := sling(city.SlingRequest{Target: Crew, Bead: b.ID}); got.Assignee != "" ||
		!slices.Contains(got.Labels, city.PoolLabel+Crew) {
		t.Errorf("work slung to the pool: got %+v", got)
	}
	got := sling(city.SlingRequest{Target: "hand", Bead: b.ID, By: Worker})
	if got.Assignee != RigWorker || slices.Contains(got.Labels, city.PoolLabel+Crew) {
		t.Errorf("work slung to the agent: got %+v", got)
	}
	if again := sling(city.SlingRequest{Target: RigWorker, Bead: b.ID}); again.Rev != got.Rev {
		t.Errorf("again: %+v", again)
	}
	_, err := city.Sling(ctx, ctl, city.SlingRequest{Target: Worker, Bead: b.ID})
	wantCode(t, "work of another agent", err, city.Conflict)
	if got := sling(city.SlingRequest{Target: Worker, Bead: b.ID, Force: true}); got.Assignee !=
		Worker {
		t.Errorf("work slung with force: got %+v", got)
	}
	if got := sling(city.SlingRequest{Target: Worker, Title: "write", Description: "a README",
		Nudge: true}); got.Assignee != Worker || got.Title != "write" ||
		got.Description != "a README" {
		t.Errorf("new: %+v", got)
	}
	if got := sling(city.SlingRequest{Target: Crew, Formula: Brew, Title: "tea"}); got.Type !=
		beads.TypeMolecule || got.Title != "tea" ||
		!slices.Contains(got.Labels, city.PoolLabel+Crew) {
		t.Errorf("cooked: %+v", got)
	}
	do(t, ctx, ctl, city.UpdateBead{ID: b.ID, Patch: beads.Closing()})
	_, err = city.Sling(ctx, ctl, city.SlingRequest{Target: Worker, Bead: b.ID})
	wantCode(t, "closed work", err, city.Conflict)
	_, err = city.Sling(ctx, ctl, city.SlingRequest{Target: Worker, Bead: "tw-99"})
	wantCode(t, "missing work", err, city.NotFound)
	_, err = city.Sling(ctx, ctl, city.SlingRequest{Target: "nobody", Title: "x"})
	wantCode(t, "to nobody", err, city.NotFound)
	for _, bad := range []city.SlingRequest{{}, {Target: Worker},
		{Bead: "tw-1", Title: "x", Target: Worker}, {Title: "x"},
		{Target: Worker, Title: "x", By: "\x1b"}} {
		_, err = city.Sling(ctx, ctl, bad)
		wantCode(t, "an incomplete or contradictory request", err, city.Invalid)
	}
}
