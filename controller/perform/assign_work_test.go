package perform

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"gcity/beads"
	"gcity/beads/fake"
	"gcity/controller/effect"
	"gcity/events"
	"gcity/mail"
)

// quick is a store in which another client closes some beads just before their first update.
type quick struct {
	*fake.Store
	closes map[string]bool
}

func (q *quick) Update(ctx context.Context, id string, p beads.Patch) (beads.Bead, error) {
	if q.closes[id] {
		delete(q.closes, id)
		if _, err := q.Store.Update(ctx, id, beads.Closing()); err != nil {
			return beads.Bead{}, err
		}
	}
	return q.Store.Update(ctx, id, p)
}

// The work of departed agents returns to their pool, from any store. Work of other agents, closed beads and
// messages stay unchanged. A bead keeps its pool label.
func TestWorkGoesBackToItsPool(t *testing.T) {
	own, yard := &quick{Store: fake.New("tw"), closes: map[string]bool{}}, fake.New("ya")
	r := counting(func(rig string) (beads.Store, error) {
		switch rig {
		case "yard":
			return yard, nil
		case "lost":
			return nil, errors.New("no such folder")
		}
		return own, nil
	}, "lost", "yard")
	put := func(s beads.Store, b beads.Bead) string {
		t.Helper()
		b, err := s.Create(t.Context(), b)
		if err != nil {
			t.Fatal(err)
		}
		return b.ID
	}
	begun := beads.StatusInProgress
	labelled := put(own, beads.Bead{Title: "labelled", Status: begun, Assignee: "w-3",
		Labels: []string{"pool:v", "red"}})
	bare := put(own, beads.Bead{Title: "bare", Status: begun, Assignee: "w-3"})
	next := put(yard, beads.Bead{Title: "next", Assignee: "w-4", Labels: []string{"pool:w"}})
	faster := put(own, beads.Bead{Title: "faster", Status: begun, Assignee: "w-3"})
	own.closes[faster] = true
	letter := mail.ToBead(mail.Message{To: "w-3", Text: "x"})
	letter.Assignee = "w-3"
	stay := map[string]beads.Store{
		put(own, beads.Bead{Title: "another's", Status: begun, Assignee: "w-2"}):         own,
		put(own, beads.Bead{Title: "done", Status: beads.StatusClosed, Assignee: "w-3"}): own,
		put(own, letter): own,
		put(yard, beads.Bead{Title: "a person's", Status: begun, Assignee: "ann"}): yard,
		put(yard, beads.Bead{Title: "nobody's", Status: begun}):                    yard,
	}
	was := map[string]beads.Bead{}
	for id, s := range stay {
		was[id], _ = s.Get(t.Context(), id)
	}
	order := effect.ReturnWork{Of: []effect.Leaver{{Agent: "w-3", Pool: "w"},
		{Agent: "w-4", Pool: "w"}}}
	in := r.work.returnWork(t.Context(), order).(effect.WorkReturned)
	if in.Err == nil || in.Err.Error() != "no such folder" {
		t.Errorf("error of a store that cannot be opened: got %v", in.Err)
	}
	var got []string
	for _, d := range in.Done {
		got = append(got, d.Agent+" "+d.Bead)
		if d.Event.Type != "bead.updated" || d.Event.Subject != d.Bead ||
			d.Event.Actor != effect.ActorController {
			t.Errorf("%+v", d.Event)
		}
	}
	slices.Sort(got)
	if want := []string{"w-3 " + labelled, "w-3 " + bare, "w-4 " + next}; !slices.Equal(got, want) {
		t.Errorf("returned: got %q, want %q", got, want)
	}
	for id, want := range map[string][]string{labelled: {"pool:v", "red"}, bare: {"pool:w"},
		next: {"pool:w"}} {
		s := beads.Store(own)
		if id == next {
			s = yard
		}
		if b, err := s.Get(t.Context(), id); err != nil || b.Status != beads.StatusOpen ||
			b.Assignee != "" || !slices.Equal(b.Labels, want) {
			t.Errorf("%+v, %v", b, err)
		}
	}
	if b, err := own.Get(t.Context(), faster); err != nil || b.Status != beads.StatusClosed ||
		b.Assignee != "w-3" {
		t.Errorf("bead closed during the return: got %+v, %v", b, err)
	}
	for id, s := range stay {
		if b, err := s.Get(t.Context(), id); err != nil || !b.Same(was[id]) {
			t.Errorf("%+v changed to %+v, %v", was[id], b, err)
		}
	}
	if in := r.work.returnWork(t.Context(), order).(effect.WorkReturned); len(in.Done) != 0 {
		t.Errorf("once more: %+v", in.Done)
	}
}

// Unread messages that a leaver sent to itself go to its pool, and those that it took from the pool and that are not
// answered. All others stay in its mailbox.
func TestMailGoesBackToThePool(t *testing.T) {
	store := fake.New("tw")
	r := counting(func(string) (beads.Store, error) { return store, nil }, "yard")
	send := func(from, to string, more ...string) string {
		b := mail.ToBead(mail.Message{From: from, To: to, Subject: "half done", Text: "step 3"})
		b.Labels = append(b.Labels, more...)
		b, err := store.Create(t.Context(), b)
		if err != nil {
			t.Fatal(err)
		}
		return b.ID
	}
	take := func(from, by string) string {
		id := send(from, "pool:w")
		b, err := store.Get(t.Context(), id)
		if err == nil {
			_, err = store.Update(t.Context(), id, mail.TakePatch(b, by))
		}
		if err == nil {
			_, err = store.Update(t.Context(), id, mail.ReadPatch())
		}
		if err != nil {
			t.Fatal(err)
		}
		return id
	}
	reply := func(id, from string) string {
		m := mail.Reply(mail.Message{ID: id, From: "boss", To: "w-3"}, from, "yes")
		b, err := store.Create(t.Context(), mail.ToBead(m))
		if err != nil {
			t.Fatal(err)
		}
		return b.ID
	}
	note, taken := send("w-3", "w-3"), take("boss", "w-3")
	stay := []string{send("boss", "w-3"), send("w-3", "w-3", "read"), send("w-2", "w-2"),
		take("boss", "w-2"), reply(taken, "boss")}
	for _, from := range []string{"w-3", "lead"} { // a reply can name another sender
		stay = append(stay, take("boss", "w-3"))
		reply(stay[len(stay)-1], from)
	}
	in := r.work.returnWork(t.Context(), effect.ReturnWork{
		Of: []effect.Leaver{{Agent: "w-3", Pool: "w"}}}).(effect.WorkReturned)
	if in.Err != nil || len(in.Done) != 2 {
		t.Fatalf("got %+v, want %s and %s", in, note, taken)
	}
	for i, id := range []string{taken, note} { // the store lists the newest first
		if d := in.Done[i]; d.Bead != id || !d.Note || d.Event.Type != events.BeadUpdated {
			t.Errorf("got %+v, want %s", d, id)
		}
		b, err := store.Get(t.Context(), id)
		if m, ok := mail.FromBead(b); err != nil || !ok || m.To != "pool:w" || m.Read ||
			m.TakenFrom != "" || b.Assignee != "" {
			t.Errorf("got %+v, %v", b, err)
		}
	}
	for _, id := range stay {
		b, err := store.Get(t.Context(), id)
		if m, _ := mail.FromBead(b); err != nil || m.To != b.Assignee || b.Assignee == "" {
			t.Errorf("got %+v, %v", b, err)
		}
	}
}

// restless is a store in which another client updates a bead just before each update.
type restless struct{ *fake.Store }

func (b restless) Update(ctx context.Context, id string, p beads.Patch) (beads.Bead, error) {
	if _, err := b.Store.Update(ctx, id, beads.Patch{SetMetadata: map[string]string{"n": time.Now().String()}}); err != nil {
		return beads.Bead{}, err
	}
	return b.Store.Update(ctx, id, p)
}

// Work is not reported as returned if other clients' updates prevent every attempt.
func TestWorkThatChangesAllTheTime(t *testing.T) {
	store := restless{fake.New("tw")}
	r := counting(func(string) (beads.Store, error) { return store, nil })
	b, err := store.Create(t.Context(), beads.Bead{Title: "x", Assignee: "w-3"})
	if err != nil {
		t.Fatal(err)
	}
	in := r.work.returnWork(t.Context(), effect.ReturnWork{
		Of: []effect.Leaver{{Agent: "w-3", Pool: "w"}}}).(effect.WorkReturned)
	if !errors.Is(in.Err, beads.ErrConflict) || len(in.Done) != 0 {
		t.Errorf("got %+v, want a conflict", in)
	}
	if b, err := store.Get(t.Context(), b.ID); err != nil || b.Assignee != "w-3" {
		t.Errorf("got %+v, %v, want a bead of w-3", b, err)
	}
}

// dying is a store that rejects all updates after the first few, as if the controller had been killed.
type dying struct {
	*fake.Store
	left *int
}

func (d dying) Update(ctx context.Context, id string, p beads.Patch) (beads.Bead, error) {
	if *d.left == 0 {
		return beads.Bead{}, errors.New("killed")
	}
	*d.left--
	return d.Store.Update(ctx, id, p)
}

// A controller that is killed while it returns work leaves a bead in progress. The next controller returns the rest.
func TestWorkInProgressGoesBackLast(t *testing.T) {
	for n := range 5 {
		left := n
		stores := map[string]dying{"": {fake.New("tw"), &left}, "yard": {fake.New("ya"), &left}}
		r := counting(func(rig string) (beads.Store, error) { return stores[rig], nil }, "yard")
		for _, s := range stores {
			for _, status := range []beads.Status{beads.StatusInProgress, beads.StatusOpen} {
				if _, err := s.Create(t.Context(),
					beads.Bead{Title: "x", Status: status, Assignee: "w-3"}); err != nil {
					t.Fatal(err)
				}
			}
		}
		in := r.work.returnWork(t.Context(), effect.ReturnWork{
			Of: []effect.Leaver{{Agent: "w-3", Pool: "w"}}}).(effect.WorkReturned)
		count := r.work.count(t.Context(), effect.CountWork{}).(effect.WorkCounted)
		if len(in.Done) != n || count.Held["w-3"].N != 4-n ||
			(n < 4) != (count.Tasks["w-3"] != "") {
			t.Errorf("stopped after %d: got %d returned, %d held, current task %q", n, len(in.Done),
				count.Held["w-3"].N, count.Tasks["w-3"])
		}
	}
}
