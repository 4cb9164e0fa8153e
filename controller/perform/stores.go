package perform

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"gcity/beads"
	"gcity/beads/guard"
	"gcity/city"
	"gcity/config"
	"gcity/controller/effect"
	"gcity/events"
	"gcity/internal/suggest"
)

// Stores opens the stores of a city: its own, and one for each rig. It is safe for concurrent use.
type Stores struct {
	open func(rig string) (beads.Store, error) // nil = the city has no stores
	// returns an error while the city's folder is not at its path
	checkFolder func() error
	snapshot    func() *city.Snapshot
	guards      *guard.Guards
}

// Route returns the scopes in the order in which they are searched for a bead. The rig with the ID's prefix is first.
// All others follow, because prefixes might have changed.
func (s *Stores) Route(id string) []string {
	scopes, prefix := s.scopes(), city.BeadPrefix(id)
	for _, rig := range s.snapshot().Rigs {
		if i := slices.Index(scopes, rig.Name); rig.Prefix == prefix && i > 0 {
			return append([]string{rig.Name}, slices.Delete(scopes, i, i+1)...)
		}
	}
	return scopes
}

func (s *Stores) noBead(id string) error {
	now := s.snapshot()
	own := config.City{Workspace: config.Workspace{Name: now.Name}}
	all := []city.Prefix{{Prefix: own.Prefix()}}
	for _, rig := range now.Rigs {
		all = append(all, city.Prefix{Rig: rig.Name, Prefix: rig.Prefix})
	}
	err := beads.NotFound(id)
	if slices.ContainsFunc(all, func(p city.Prefix) bool {
		return p.Prefix == city.BeadPrefix(id)
	}) {
		return err
	}
	return fmt.Errorf("%w; %s", err, city.PrefixText(all))
}

func (s *Stores) elsewhere(ctx context.Context, scope string, err error, links ...string) error {
	invalid, ok := errors.AsType[*beads.Invalid](err)
	if !ok {
		return err
	}
	for _, id := range links {
		if id == "" || !strings.Contains(invalid.Field, fmt.Sprintf("%q", id)) {
			continue
		}
		for _, other := range s.Route(id) {
			if other == scope {
				continue
			}
			store, openErr := s.Store(other)
			if openErr != nil {
				continue
			}
			if _, getErr := store.Get(ctx, id); getErr == nil {
				return fmt.Errorf("%w in the store of %s: %s is work of %s, and a link "+
					"cannot span two stores", err, beads.ScopeTitle(scope), id,
					beads.ScopeTitle(other))
			}
		}
	}
	return err
}

func linksOf(p beads.Patch) []string {
	var out []string
	if p.Needs != nil {
		out = append(out, *p.Needs...)
	}
	if p.ParentID != nil {
		out = append(out, *p.ParentID)
	}
	return out
}

// Beads implements city.Control.Beads.
func (s *Stores) Beads(ctx context.Context, q beads.Query) ([]beads.Bead, error) {
	return s.list(ctx, s.scopes(), q)
}

// BeadsIn implements city.StoreReader.BeadsIn.
func (s *Stores) BeadsIn(ctx context.Context, rig string, q beads.Query) ([]beads.Bead, error) {
	if err := s.checkScope(rig); err != nil {
		return nil, err
	}
	return s.list(ctx, []string{rig}, q)
}

func (s *Stores) checkScope(rig string) error {
	if scopes := s.scopes(); !slices.Contains(scopes, rig) {
		return city.Missing(suggest.NotFound(suggest.Rig, rig, scopes[1:]))
	}
	return nil
}

func (s *Stores) list(ctx context.Context, scopes []string, q beads.Query) ([]beads.Bead, error) {
	if err := q.Check(); err != nil {
		return nil, city.WorkError(err)
	}
	var before *beads.Bead
	if q.Before != "" {
		b, err := s.Bead(ctx, q.Before)
		if err != nil {
			return nil, err
		}
		before = &b
	}
	var all []beads.Bead
	passed := false
	for _, rig := range scopes {
		found, own, err := s.listed(ctx, rig, q, before, passed)
		if err != nil {
			return nil, err
		}
		all, passed = append(all, found...), passed || own
	}
	slices.SortStableFunc(all, func(a, b beads.Bead) int {
		return b.CreatedAt.Compare(a.CreatedAt)
	})
	if most := q.MaxResults(); most >= 0 && len(all) > most {
		all = all[:most]
	}
	return all, nil
}

// listed returns one store's part of the page that follows before, or of the first page if before is nil. If before is
// in another store, beads with the same creation time are included only if passed is set.
func (s *Stores) listed(ctx context.Context, rig string, q beads.Query, before *beads.Bead,
	passed bool) (found []beads.Bead, own bool, err error) {
	store, err := s.Store(rig)
	if err != nil {
		return nil, false, city.ReadError(err)
	}
	foreign := false
	if before != nil {
		_, err := store.Get(ctx, before.ID)
		if foreign = errors.Is(err, beads.ErrNotFound); foreign {
			q.Before, q.CreatedUntil = "", before.CreatedAt
			if !passed {
				q.CreatedUntil = before.CreatedAt.Add(-1)
			}
		}
	}
	if found, err = store.List(ctx, q); err != nil {
		return nil, false, city.ReadError(err)
	}
	return found, !foreign, nil
}

// Bead implements city.Control.Bead.
func (s *Stores) Bead(ctx context.Context, id string) (beads.Bead, error) {
	b, err := s.Locate(ctx, id)
	return b.Bead, err
}

// Locate implements city.StoreReader.Locate. If one store fails, it still searches the others.
func (s *Stores) Locate(ctx context.Context, id string) (b city.Located, err error) {
	var lost error
	for _, rig := range s.Route(id) {
		store, err := s.Store(rig)
		if err == nil {
			b.Rig = rig
			b.Bead, err = store.Get(ctx, id)
		}
		switch {
		case errors.Is(err, beads.ErrNotFound):
		case err == nil || guard.Rejected(err):
			return b, city.WorkError(err)
		case lost == nil:
			lost = err
		}
	}
	if lost != nil {
		return city.Located{}, city.ReadError(lost)
	}
	return city.Located{}, city.WorkError(s.noBead(id))
}

func (wr *workRunner) bead(ctx context.Context, f effect.ChangeBead) effect.Input {
	in := effect.BeadChanged{ID: f.ID}
	var err error
	switch c := f.Cmd.(type) {
	case city.CreateBead:
		err = wr.Stores.create(ctx, c, f.By, &in)
	case city.UpdateBead:
		err = wr.Stores.update(ctx, c, f.By, &in)
	case city.SlingWork:
		c.By = cmp.Or(c.By, f.By)
		err = wr.sling(ctx, c.SlingRequest, &in)
	}
	in.Err = asWorkError(err)
	return in
}

func eventOf(was *beads.Bead, b city.Located, by string) []events.Event {
	if e := city.BeadEvent(was, b, by, 0); e.Type != "" {
		return []events.Event{e}
	}
	return nil
}

func (s *Stores) create(ctx context.Context, c city.CreateBead, by string,
	in *effect.BeadChanged) error {
	rig := c.Rig
	if wisp := city.DigestedWisp(c.Bead); wisp != "" {
		at, err := s.Locate(ctx, wisp)
		if err != nil {
			return err
		}
		rig = at.Rig
	}
	if err := s.checkScope(rig); err != nil {
		return err
	}
	store, err := s.Store(rig)
	if err != nil {
		return err
	}
	if in.Bead, err = store.Create(ctx, c.Bead); err != nil {
		return s.elsewhere(ctx, rig, err, append(c.Bead.Needs, c.Bead.ParentID)...)
	}
	made := city.Located{Bead: in.Bead, Rig: rig}
	in.Events = append(eventOf(nil, made, by), convoyEvents(ctx, store, beads.Bead{}, made)...)
	return nil
}

func (s *Stores) update(ctx context.Context, c city.UpdateBead, by string,
	in *effect.BeadChanged) error {
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
		if err == nil && !c.Force && b.Status == beads.StatusClosed {
			err = reopenIncomplete(ctx, store, was, b.Rev)
		}
		switch {
		case errors.Is(err, beads.ErrNotFound):
		case err == nil || guard.Rejected(err):
			if err != nil {
				return err
			}
			in.Bead, in.Message = b, city.ChangeText(&was, b)
			now := city.Located{Bead: b, Rig: rig}
			in.Events = append(eventOf(&was, now, by), convoyEvents(ctx, store, was, now)...)
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

// reopenIncomplete reopens a molecule and returns an error if a step was reopened while the molecule was being closed.
// was is the molecule before it was closed. Any other error leaves the molecule closed.
func reopenIncomplete(ctx context.Context, store beads.Store, was beads.Bead, rev uint64) error {
	open := city.Closable(ctx, store, was)
	if e, ok := errors.AsType[*city.Error](open); !ok || e.Code != city.Conflict {
		return nil
	}
	if _, err := store.Update(ctx, was.ID,
		beads.Patch{Status: new(was.Status), IfRev: &rev}); err != nil {
		return nil
	}
	return open
}

// convoyEvents closes or reopens the convoys of a changed bead, or reopens its molecule, and returns the events. It
// ignores errors, because a user can close or reopen the parent.
func convoyEvents(ctx context.Context, store beads.Store, was beads.Bead, b city.Located) (
	out []events.Event) {
	changes, _ := city.SettleConvoys(ctx, store, was, b.Bead)
	for _, c := range changes {
		now := city.Located{Bead: c.Now, Rig: b.Rig}
		out = append(out, eventOf(&c.Was, now, effect.ActorController)...)
	}
	return out
}

// swaps is the maximum number of attempts to update a bead. In swap, the last attempt ignores conflicts.
const swaps = 8

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

func asWorkError(err error) *city.Error {
	if err == nil {
		return nil
	}
	return city.WorkError(err).(*city.Error)
}

func (s *Stores) scopes() []string {
	scopes := []string{""}
	for _, rig := range s.snapshot().Rigs {
		scopes = append(scopes, rig.Name)
	}
	return scopes
}
