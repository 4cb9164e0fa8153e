package depot

import (
	"context"
	"errors"
	"fmt"

	"gcity/beads"
	"gcity/city"
	"gcity/cli/env"
	"gcity/cli/workstore"
)

// OpenStore opens a place's store. If the city's files are on another machine, it opens a remoteStore.
func OpenStore(e *env.Env, p workstore.Place) (workstore.Store, error) {
	if !e.Remote(p.City) {
		return workstore.OpenStore(p)
	}
	near, closeNear, err := e.Dial(p.City)
	if err != nil {
		return nil, env.Unreachable(err)
	}
	return &remoteStore{near, closeNear, p.Rig}, nil
}

// remoteStore sends all calls to the city's controller, which also writes the events about changes.
type remoteStore struct {
	near      city.Control
	closeNear func()
	rig       string
}

// Get implements beads.Store.
func (r *remoteStore) Get(ctx context.Context, id string) (beads.Bead, error) {
	at, err := city.Locate(ctx, r.near, id)
	if err == nil && at.Rig != r.rig {
		err = beads.NotFound(id)
	}
	return at.Bead, asStoreError(err)
}

// List implements beads.Store.
func (r *remoteStore) List(ctx context.Context, q beads.Query) ([]beads.Bead, error) {
	found, err := city.BeadsIn(ctx, r.near, r.rig, q)
	return found, asStoreError(err)
}

// Create implements beads.Store.
func (r *remoteStore) Create(ctx context.Context, b beads.Bead) (beads.Bead, error) {
	return r.change(ctx, city.CreateBead{Rig: r.rig, Bead: b})
}

// Update implements beads.Store. Like the update of a local store, it does not check a molecule's steps.
func (r *remoteStore) Update(ctx context.Context, id string, p beads.Patch) (beads.Bead, error) {
	return r.change(ctx, city.UpdateBead{ID: id, Patch: p, Force: true})
}

func (r *remoteStore) change(ctx context.Context, c city.Command) (beads.Bead, error) {
	got, err := r.near.Do(ctx, c)
	if err != nil {
		return beads.Bead{}, asStoreError(err)
	}
	if got.Bead == nil {
		return beads.Bead{}, fmt.Errorf("the controller's response to %s lacks the bead", c.Verb())
	}
	return *got.Bead, nil
}

// CreateAll implements beads.Batcher. It fails, because the controller has no such request.
func (r *remoteStore) CreateAll(context.Context, []beads.Bead) ([]beads.Bead, error) {
	return nil, errLocalOnly
}

// Restore implements beads.Restorer. It fails like CreateAll.
func (r *remoteStore) Restore(context.Context, []beads.Bead) (beads.Restored, error) {
	return beads.Restored{}, errLocalOnly
}

// Close implements workstore.Store.
func (r *remoteStore) Close() error {
	r.closeNear()
	return nil
}

var errLocalOnly = errors.New("this command works only on the machine with the city's folder")

// storeError is the controller's error with the kind that callers of a store check.
type storeError struct {
	error
	kind error
}

func (s *storeError) Unwrap() []error { return []error{s.error, s.kind} }

func asStoreError(err error) error {
	switch {
	case city.HasCode(err, city.NotFound):
		return &storeError{err, beads.ErrNotFound}
	case city.HasCode(err, city.Conflict):
		return &storeError{err, beads.ErrConflict}
	}
	return err
}
