package perform

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"gcity/beads"
	"gcity/city"
	"gcity/controller/effect"
	"gcity/formula"
	"gcity/mail"
	"gcity/sling"
)

// returnWork returns the work and the mail of members that have left their pools. Work in progress is last, so that if
// this controller ends early, the next one still finds out which members have work.
func (wr *workRunner) returnWork(ctx context.Context, f effect.ReturnWork) effect.Input {
	var in effect.WorkReturned
	of := map[string]effect.Leaver{}
	for _, l := range f.Of {
		if !l.MailOnly {
			of[l.Agent] = l
		}
	}
	type found struct {
		in beads.Store
		city.Located
	}
	var all []found
	for _, scope := range wr.Stores.scopes() {
		store, err := wr.Stores.Store(scope)
		if err != nil {
			in.Err = errors.Join(in.Err, err)
			continue
		}
		if scope == "" { // the store with the mail
			for _, l := range f.Of {
				in.Err = errors.Join(in.Err, returnMail(ctx, &in, store, l))
			}
		}
		held, err := store.List(ctx, beads.Query{
			Status: beads.Unclosed(), Assigned: true,
			NotType: city.NotWork(), Limit: -1,
		})
		in.Err = errors.Join(in.Err, err)
		for _, b := range slices.Backward(held) {
			if _, gone := of[b.Assignee]; gone {
				all = append(all, found{store, city.Located{Bead: b, Rig: scope}})
			}
		}
	}
	for _, last := range [...]bool{false, true} {
		for _, b := range all {
			if (b.Status == beads.StatusInProgress) == last {
				in.Err = errors.Join(in.Err, returnBead(ctx, &in, b.in, b.Located, of[b.Assignee]))
			}
		}
	}
	return in
}

// returnMail readdresses messages of a leaver to its pool. These are the unread ones that it sent to itself, because a
// new member with the same name would continue work that now belongs to another member. They are also the ones that it
// took from the pool and that are not answered, because no other member could answer them.
func returnMail(ctx context.Context, in *effect.WorkReturned, store beads.Store,
	l effect.Leaver) error {
	all, err := store.List(ctx, mail.Query(l.Agent))
	if err != nil {
		return err
	}
	for _, b := range all {
		switch returns, err := returnsToPool(ctx, store, b, l.Agent); {
		case err != nil:
			return err
		case !returns:
			continue
		}
		now, err := store.Update(ctx, b.ID, mail.PoolPatch(l.Pool))
		if errors.Is(err, beads.ErrNotFound) {
			continue
		}
		if err != nil {
			return err
		}
		for _, e := range eventOf(&b, city.Located{Bead: now}, effect.ActorController) {
			in.Done = append(in.Done, effect.Returned{Leaver: l, Bead: b.ID, Note: true, Event: e})
		}
	}
	return nil
}

func returnsToPool(ctx context.Context, store beads.Store, b beads.Bead, leaver string) (bool,
	error) {
	m, ok := mail.FromBead(b)
	switch {
	case !ok:
		return false, nil
	case m.From == leaver && !m.Read:
		return true, nil
	case m.TakenFrom == "":
		return false, nil
	}
	thread, err := store.List(ctx, mail.ThreadQuery(cmp.Or(m.Thread, m.ID)))
	return err == nil && !m.Answered(thread), err
}

func returnBead(ctx context.Context, in *effect.WorkReturned, store beads.Store, b city.Located,
	l effect.Leaver) error {
	was, now, err := unassign(ctx, store, b.Bead, l.Pool)
	if err != nil {
		return err
	}
	for _, e := range eventOf(&was, city.Located{Bead: now, Rig: b.Rig}, effect.ActorController) {
		in.Done = append(in.Done, effect.Returned{Leaver: l, Bead: b.ID, Event: e})
	}
	return nil
}

// unassign reopens a bead and labels it with the pool, unless it already has a pool label. It does not change a bead
// that was deleted, closed or assigned to another agent in the meantime. It returns ErrConflict if other clients update
// the bead before each of its attempts.
func unassign(ctx context.Context, store beads.Store, b beads.Bead, pool string) (was,
	now beads.Bead, err error) {
	assignee := b.Assignee
	for range swaps {
		p := beads.Patch{Status: new(beads.StatusOpen), Assignee: new(""), IfRev: &b.Rev}
		if !slices.ContainsFunc(b.Labels, func(l string) bool {
			return strings.HasPrefix(l, city.PoolLabel)
		}) {
			p.AddLabels = []string{city.PoolLabel + pool}
		}
		if now, err = store.Update(ctx, b.ID, p); !errors.Is(err, beads.ErrConflict) {
			break
		}
		latest, failed := store.Get(ctx, b.ID)
		if failed != nil {
			err = failed
			break
		}
		if latest.Assignee != assignee || latest.Status == beads.StatusClosed {
			return b, b, nil
		}
		b = latest
	}
	if errors.Is(err, beads.ErrNotFound) {
		return b, b, nil
	}
	return b, now, err
}

func (wr *workRunner) sling(ctx context.Context, req city.SlingRequest,
	in *effect.BeadChanged) error {
	conf := wr.w.InForce()
	if conf == nil || conf.Source == nil {
		return city.Errorf(city.Unavailable, "work cannot be assigned yet, "+
			"because the configuration is still being read")
	}
	source := conf.Source
	s := sling.Slinger{
		Config: source, City: wr.w.Snapshot(), Host: wr.w.Host, Scopes: wr.Stores.scopes(),
		Store: func(rig string) (beads.Store, error) { return wr.Stores.Store(rig) },
		FindFormula: func(name, rig string) (*formula.Formula, error) {
			return wr.au.findInBackground(ctx, source, name, rig)
		},
		MayRun: func(ctx context.Context, agent string) error {
			return wr.mayRun(ctx, "agent "+agent)
		},
	}
	out, err := s.Sling(ctx, req)
	in.Bead, in.Events, in.Message = out.Bead, out.Events, out.Message
	return err
}
