package controller

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"gcity/beads"
	"gcity/city"
	"gcity/events"
)

// bead makes or changes a piece of work, wherever it is kept.
func (r *runner) bead(ctx context.Context, f fxBead) input {
	in := inBead{id: f.id}
	var err error
	switch c := f.cmd.(type) {
	case city.CreateBead:
		in.kind = events.BeadCreated
		var store beads.Store
		if store, err = r.store(""); err == nil {
			in.bead, err = store.Create(ctx, c.Bead)
		}
	case city.UpdateBead:
		in.kind = events.BeadUpdated
		if c.Patch.Status != nil && *c.Patch.Status == beads.StatusClosed {
			in.kind = events.BeadClosed
		}
		in.bead, err = r.update(ctx, c)
	}
	in.err = asWorkError(err)
	return in
}

func (r *runner) update(ctx context.Context, c city.UpdateBead) (b beads.Bead, err error) {
	for _, rig := range r.c.scopes() {
		var store beads.Store
		if store, err = r.store(rig); err == nil {
			b, err = store.Update(ctx, c.ID, c.Patch)
		}
		if err == nil || !errors.Is(err, beads.ErrNotFound) {
			return b, err
		}
	}
	return b, err
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

// count counts open work, unless no store has changed since it was counted last.
func (r *runner) count(ctx context.Context, f fxCount) input {
	shop, versions := &r.shop, map[string]uint64{}
	same := slices.Equal(shop.pools, f.pools) && shop.counted != nil
	stores := map[string]beads.Store{}
	for _, rig := range r.c.scopes() {
		store, err := r.store(rig)
		if err != nil {
			return inCounted{err: err}
		}
		stores[rig] = store
		v, ok := store.(beads.Versioner)
		if !ok {
			same = false
			continue
		}
		if versions[rig], err = v.Version(ctx); err != nil {
			return inCounted{err: err}
		}
		same = same && shop.counted[rig] == versions[rig]
	}
	if same && len(shop.counted) == len(versions) {
		return inCounted{unchanged: true}
	}
	work := city.Work{Pools: map[string]int{}}
	for _, store := range stores {
		if err := countIn(ctx, store, f.pools, &work); err != nil {
			return inCounted{err: err}
		}
	}
	shop.counted, shop.pools = versions, f.pools
	return inCounted{work: work}
}

func countIn(ctx context.Context, store beads.Store, pools []string, work *city.Work) error {
	c, ok := store.(beads.Counter)
	if !ok {
		return errors.New("this store cannot count")
	}
	none := []string{city.RunType}
	open, err := c.Count(ctx, beads.Query{Status: []beads.Status{beads.StatusOpen}, NotType: none})
	if err != nil {
		return err
	}
	under, err := c.Count(ctx, beads.Query{Status: []beads.Status{beads.StatusInProgress}, NotType: none})
	if err != nil {
		return err
	}
	work.Open += open
	work.InProgress += under
	for _, pool := range pools {
		n, err := c.Count(ctx, beads.Query{Status: []beads.Status{beads.StatusOpen, beads.StatusInProgress}, Labels: []string{city.PoolLabel + pool}})
		if err != nil {
			return err
		}
		work.Pools[pool] += n
	}
	return nil
}

// purge removes what automations have made, and the records of their runs, once they have been closed for long enough.
func (r *runner) purge(ctx context.Context, f fxPurge) input {
	var in inPurged
	for _, rig := range r.c.scopes() {
		store, err := r.store(rig)
		if err != nil {
			in.err = errors.Join(in.err, err)
			continue
		}
		p, ok := store.(beads.Purger)
		if !ok {
			continue
		}
		for _, q := range []beads.Query{{Type: beads.TypeMolecule, Labels: []string{wispLabel}}, {Type: city.RunType}} {
			n, err := p.Purge(ctx, q, time.Now().Add(-f.older))
			in.n += n
			in.err = errors.Join(in.err, err)
		}
	}
	if in.n > 0 {
		r.c.o.Logger.Info("old wisps and runs are removed", "beads", in.n)
	}
	return in
}

// wispLabel marks the root of what an automation made.
const wispLabel = "wisp"

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
	for _, rig := range c.scopes() {
		found, err := c.listed(ctx, rig, q, before)
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	slices.SortStableFunc(all, func(a, b beads.Bead) int { return b.CreatedAt.Compare(a.CreatedAt) })
	if most := q.Most(); most >= 0 && len(all) > most {
		all = all[:most]
	}
	return all, nil
}

// listed is the page of one store. The bead that the page before ended with is in one of them only: in the others the page
// begins at its time.
func (c *Controller) listed(ctx context.Context, rig string, q beads.Query, before *beads.Bead) ([]beads.Bead, error) {
	store, err := c.runner.store(rig)
	if err != nil {
		return nil, &city.Error{Code: city.Unavailable, Message: "work cannot be read: " + err.Error()}
	}
	foreign := false
	if before != nil {
		_, err := store.Get(ctx, before.ID)
		if foreign = errors.Is(err, beads.ErrNotFound); foreign {
			q.Before, q.Limit = "", -1
		}
	}
	found, err := store.List(ctx, q)
	if err != nil {
		return nil, city.WorkError(fmt.Errorf("work cannot be read: %w", err))
	}
	if foreign {
		found = slices.DeleteFunc(found, func(b beads.Bead) bool { return !b.CreatedAt.Before(before.CreatedAt) })
	}
	return found, nil
}

// Bead implements city.Getter.
func (c *Controller) Bead(ctx context.Context, id string) (b beads.Bead, err error) {
	for _, rig := range c.scopes() {
		store, err := c.runner.store(rig)
		if err != nil {
			return b, &city.Error{Code: city.Unavailable, Message: "work cannot be read: " + err.Error()}
		}
		if b, err = store.Get(ctx, id); !errors.Is(err, beads.ErrNotFound) {
			return b, city.WorkError(err)
		}
	}
	return b, &city.Error{Code: city.NotFound, Message: fmt.Sprintf("there is no bead %q", id)}
}
