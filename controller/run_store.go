package controller

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"gcity/beads"
	"gcity/beads/guard"
	"gcity/city"
	"gcity/controller/effect"
	"gcity/events"
)

// bead makes or changes a piece of work, wherever it is kept.
func (r *runner) bead(ctx context.Context, f effect.ChangeBead) effect.Input {
	in := effect.BeadChanged{ID: f.ID}
	var err error
	switch c := f.Cmd.(type) {
	case city.CreateBead:
		if in.Bead, err = r.create(ctx, c); err == nil {
			in.Events = eventOf(nil, in.Bead, "", 0)
		}
	case city.UpdateBead:
		err = r.update(ctx, c, &in)
	case city.SlingWork:
		err = r.sling(ctx, c.SlingRequest, &in)
	}
	in.Err = asWorkError(err)
	return in
}

// eventOf is the event of a change, none if there is nothing to tell.
func eventOf(was *beads.Bead, b beads.Bead, by string, depth int) []events.Event {
	if e := city.BeadEvent(was, b, by, depth); e.Type != "" {
		return []events.Event{e}
	}
	return nil
}

// create makes a bead in the store that is meant.
func (r *runner) create(ctx context.Context, c city.CreateBead) (beads.Bead, error) {
	if !slices.Contains(r.c.scopes(), c.Rig) {
		return beads.Bead{}, &city.Error{Code: city.NotFound,
			Message: fmt.Sprintf("no rig is called %q", c.Rig)}
	}
	store, err := r.store(c.Rig)
	if err != nil {
		return beads.Bead{}, err
	}
	b, err := store.Create(ctx, c.Bead)
	return b, r.elsewhere(ctx, c.Rig, err, append(c.Bead.Needs, c.Bead.ParentID)...)
}

// update changes a bead in the store that has it, and says by what event; none = it was so already. A store that
// fails does not hide a bead of another one.
func (r *runner) update(ctx context.Context, c city.UpdateBead, in *effect.BeadChanged) error {
	var lost error
	for _, rig := range r.c.route(c.ID) {
		var was, b beads.Bead
		store, err := r.store(rig)
		if err == nil {
			err = c.Allowed(ctx, store)
		}
		if err == nil {
			was, b, err = swap(ctx, store, c)
			err = r.elsewhere(ctx, rig, err, linksOf(c.Patch)...)
		}
		switch {
		case errors.Is(err, beads.ErrNotFound):
		case err == nil || guard.Answered(err):
			if err != nil {
				return err
			}
			in.Bead, in.Message = b, city.Deed(&was, b)
			in.Events = append(eventOf(&was, b, "", 0), convoyEvent(ctx, store, was, b)...)
			return nil
		case lost == nil:
			lost = err
		}
	}
	if lost == nil {
		lost = r.c.noBead(c.ID)
	}
	return lost
}

// convoyEvent closes the convoy in which nothing is open any more by a change. One that cannot be closed now shows
// that all of it is done, and somebody closes it by hand.
func convoyEvent(ctx context.Context, store beads.Store, was, b beads.Bead) []events.Event {
	before, now, ok, err := city.CloseConvoy(ctx, store, was, b)
	if err != nil || !ok {
		return nil
	}
	return eventOf(&before, now, controller, 0)
}

// swaps is how often a change is tried anew because others were faster. The last try is made whatever they do:
// then their change may be taken for this one.
const swaps = 8

// swap changes a bead as it stands, so that it is known what has changed by this.
func swap(ctx context.Context, store beads.Store, c city.UpdateBead) (was, b beads.Bead,
	err error) {
	for try := range swaps {
		if was, err = store.Get(ctx, c.ID); err != nil {
			return was, b, err
		}
		p, forced := c.Patch, c.Patch.IfRev != nil || try == swaps-1
		if !forced {
			p.IfRev = &was.Rev
		}
		b, err = store.Update(ctx, c.ID, p)
		if forced || !errors.Is(err, beads.ErrConflict) {
			return was, b, err
		}
	}
	return was, b, err
}

// asWorkError gives a store's error the class that callers decide on.
func asWorkError(err error) *city.Error {
	if err == nil {
		return nil
	}
	var e *city.Error
	if errors.As(city.WorkError(err), &e) {
		return e
	}
	return &city.Error{Code: city.Unavailable, Message: err.Error()}
}

// scopes are the places where work is kept: the city, and each of its rigs.
func (c *Controller) scopes() []string {
	scopes := []string{""}
	for _, rig := range c.snap.Load().Rigs {
		scopes = append(scopes, rig.Name)
	}
	return scopes
}

// purge removes what automations have made, once it has been closed for long enough, and records of runs that are
// old.
func (r *runner) purge(ctx context.Context, f effect.Purge) effect.Input {
	var in effect.Purged
	in.N, in.Err = r.purgeRuns(ctx, f)
	for _, rig := range r.c.scopes() {
		store, err := r.store(rig)
		if err != nil {
			in.Err = errors.Join(in.Err, err)
			continue
		}
		if f.Wisps == 0 {
			continue
		}
		n, err := store.Purge(ctx, beads.Query{Type: beads.TypeMolecule,
			Labels: []string{wispLabel}}, time.Now().Add(-f.Wisps))
		in.N += n
		if !errors.Is(err, errors.ErrUnsupported) {
			in.Err = errors.Join(in.Err, err)
		}
	}
	if in.N > 0 {
		r.c.o.Logger.Info("old wisps are removed", "beads", in.N)
	}
	return in
}

// wispLabel marks the root of what an automation made.
const wispLabel = city.WispLabel

// Beads implements city.Control.
func (c *Controller) Beads(ctx context.Context, q beads.Query) ([]beads.Bead, error) {
	if err := q.Check(); err != nil {
		return nil, city.WorkError(err)
	}
	var before *beads.Bead
	if q.Before != "" {
		b, err := c.Bead(ctx, q.Before)
		if err != nil {
			return nil, err
		}
		before = &b
	}
	var all []beads.Bead
	passed := false
	for _, rig := range c.scopes() {
		found, own, err := c.listed(ctx, rig, q, before, passed)
		if err != nil {
			return nil, err
		}
		all, passed = append(all, found...), passed || own
	}
	slices.SortStableFunc(all, func(a, b beads.Bead) int {
		return b.CreatedAt.Compare(a.CreatedAt)
	})
	if most := q.Most(); most >= 0 && len(all) > most {
		all = all[:most]
	}
	return all, nil
}

// listed is the page of one store. The bead that the page before ended with is in one of them only, its own: in
// the others the page begins at its time, and in those behind that one (passed) with what was made in the same
// moment.
func (c *Controller) listed(ctx context.Context, rig string, q beads.Query, before *beads.Bead,
	passed bool) (found []beads.Bead, own bool, err error) {
	store, err := c.runner.store(rig)
	if err != nil {
		return nil, false, city.UnreadError(err)
	}
	foreign := false
	if before != nil {
		_, err := store.Get(ctx, before.ID)
		if foreign = errors.Is(err, beads.ErrNotFound); foreign {
			q.Before, q.Limit = "", -1
		}
	}
	found, err = store.List(ctx, q)
	if err != nil {
		return nil, false, city.UnreadError(err)
	}
	if foreign {
		found = slices.DeleteFunc(found, func(b beads.Bead) bool {
			return b.CreatedAt.After(before.CreatedAt) || !passed &&
				b.CreatedAt.Equal(before.CreatedAt)
		})
	}
	return found, !foreign, nil
}

// Bead implements city.Getter. A store that fails does not hide a bead of another one.
func (c *Controller) Bead(ctx context.Context, id string) (b beads.Bead, err error) {
	var lost error
	for _, rig := range c.route(id) {
		store, err := c.runner.store(rig)
		if err == nil {
			b, err = store.Get(ctx, id)
		}
		switch {
		case errors.Is(err, beads.ErrNotFound):
		case err == nil || guard.Answered(err):
			return b, city.WorkError(err)
		case lost == nil:
			lost = err
		}
	}
	if lost != nil {
		return b, city.UnreadError(lost)
	}
	return b, city.WorkError(c.noBead(id))
}
