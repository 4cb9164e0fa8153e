package perform

import (
	"context"
	"errors"
	"slices"

	"gcity/beads"
	"gcity/beads/guard"
	"gcity/city"
	"gcity/controller/effect"
	"gcity/events"
	"gcity/internal/suggest"
)

// bead creates or changes a bead in its store.
func (wr *workRunner) bead(ctx context.Context, f effect.ChangeBead) effect.Input {
	in := effect.BeadChanged{ID: f.ID}
	var err error
	switch c := f.Cmd.(type) {
	case city.CreateBead:
		if in.Bead, err = wr.Stores.create(ctx, c); err == nil {
			in.Events = eventOf(nil, in.Bead, "", 0)
		}
	case city.UpdateBead:
		err = wr.Stores.update(ctx, c, &in)
	case city.SlingWork:
		err = wr.sling(ctx, c.SlingRequest, &in)
	}
	in.Err = asWorkError(err)
	return in
}

// eventOf returns the event for a change, or nil if nothing changed.
func eventOf(was *beads.Bead, b beads.Bead, by string, depth int) []events.Event {
	if e := city.BeadEvent(was, b, by, depth); e.Type != "" {
		return []events.Event{e}
	}
	return nil
}

// create creates a bead in the requested store.
func (s *Stores) create(ctx context.Context, c city.CreateBead) (beads.Bead, error) {
	if !slices.Contains(s.scopes(), c.Rig) {
		return beads.Bead{}, city.Missing(suggest.NotFound(suggest.Rig, c.Rig, s.scopes()[1:]))
	}
	store, err := s.Store(c.Rig)
	if err != nil {
		return beads.Bead{}, err
	}
	b, err := store.Create(ctx, c.Bead)
	return b, s.elsewhere(ctx, c.Rig, err, append(c.Bead.Needs, c.Bead.ParentID)...)
}

// update changes a bead in its store. It stores the event for the change in in.Events, or no event if nothing
// changed. If one store fails, it still searches the others.
func (s *Stores) update(ctx context.Context, c city.UpdateBead, in *effect.BeadChanged) error {
	var lost error
	for _, rig := range s.Route(c.ID) {
		var was, b beads.Bead
		store, err := s.Store(rig)
		if err == nil {
			err = c.Allowed(ctx, store)
		}
		if err == nil {
			was, b, err = swap(ctx, store, c)
			err = s.elsewhere(ctx, rig, err, linksOf(c.Patch)...)
		}
		switch {
		case errors.Is(err, beads.ErrNotFound):
		case err == nil || guard.Rejected(err):
			if err != nil {
				return err
			}
			in.Bead, in.Message = b, city.ChangeText(&was, b)
			in.Events = append(eventOf(&was, b, "", 0), convoyEvent(ctx, store, was, b)...)
			return nil
		case lost == nil:
			lost = err
		}
	}
	if lost == nil {
		lost = s.noBead(c.ID)
	}
	return lost
}

// convoyEvent closes a convoy if its last open bead was closed, and returns the event. If closing fails, the convoy
// stays open and shows that all its beads are closed, so a user can close it.
func convoyEvent(ctx context.Context, store beads.Store, was, b beads.Bead) []events.Event {
	before, now, ok, err := city.CloseConvoy(ctx, store, was, b)
	if err != nil || !ok {
		return nil
	}
	return eventOf(&before, now, effect.ActorController, 0)
}

// swaps is the maximum number of attempts to change a bead that another client changes at the same time. The last
// attempt ignores conflicts, so its event may also contain the other client's change.
const swaps = 8

// swap changes a bead and returns its state before and after the change.
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

// asWorkError returns an error with the code that clients use.
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

// scopes returns "" for the city, and the names of its rigs.
func (s *Stores) scopes() []string {
	scopes := []string{""}
	for _, rig := range s.snapshot().Rigs {
		scopes = append(scopes, rig.Name)
	}
	return scopes
}
