package perform

import (
	"context"
	"errors"
	"slices"

	"gcity/beads"
	"gcity/beads/guard"
	"gcity/city"
)

// Beads implements city.Control.Beads.
func (s *Stores) Beads(ctx context.Context, q beads.Query) ([]beads.Bead, error) {
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
	for _, rig := range s.scopes() {
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

// listed returns the part of a page that comes from one store. The store that contains the last bead of the previous
// page continues after that bead. Other stores continue at the creation time of that bead. Stores queried before that
// store exclude beads created at exactly that time. Stores queried after it (passed) include them.
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
			q.Before, q.Limit = "", -1
		}
	}
	found, err = store.List(ctx, q)
	if err != nil {
		return nil, false, city.ReadError(err)
	}
	if foreign {
		found = slices.DeleteFunc(found, func(b beads.Bead) bool {
			return b.CreatedAt.After(before.CreatedAt) || !passed &&
				b.CreatedAt.Equal(before.CreatedAt)
		})
	}
	return found, !foreign, nil
}

// Bead implements city.Getter.Bead. If one store fails, it still searches the others.
func (s *Stores) Bead(ctx context.Context, id string) (b beads.Bead, err error) {
	var lost error
	for _, rig := range s.Route(id) {
		store, err := s.Store(rig)
		if err == nil {
			b, err = store.Get(ctx, id)
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
		return b, city.ReadError(lost)
	}
	return b, city.WorkError(s.noBead(id))
}
