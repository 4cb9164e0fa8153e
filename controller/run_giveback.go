package controller

import (
	"context"
	"errors"
	"slices"
	"strings"

	"gcity/beads"
	"gcity/city"
)

// giveBack gives back to pools what is assigned to those who have left them, in whatever store it is. A store that fails
// keeps no other waiting.
func (r *runner) giveBack(ctx context.Context, f fxReturn) input {
	var in inReturned
	of := map[string]leaver{}
	for _, l := range f.of {
		of[l.agent] = l
	}
	for _, scope := range r.c.scopes() {
		store, err := r.store(scope)
		if err == nil {
			err = giveBackIn(ctx, store, of, &in)
		}
		in.err = errors.Join(in.err, err)
	}
	return in
}

func giveBackIn(ctx context.Context, store beads.Store, of map[string]leaver, in *inReturned) error {
	all, err := store.List(ctx, beads.Query{
		Status: []beads.Status{beads.StatusOpen, beads.StatusInProgress}, Assigned: true, NotType: city.NotWork(), Limit: -1,
	})
	for _, b := range slices.Backward(all) {
		l, gone := of[b.Assignee]
		if !gone {
			continue
		}
		was, now, freeErr := free(ctx, store, b, l.pool)
		if freeErr != nil {
			err = errors.Join(err, freeErr)
			continue
		}
		for _, e := range eventOf(&was, now, controller, 0) {
			in.done = append(in.done, returned{l, b.ID, e})
		}
	}
	return err
}

// free makes a piece of work open for a pool and nobody's, unless somebody was faster and it is no longer whose it was.
// What is labelled for a pool stays with that.
func free(ctx context.Context, store beads.Store, b beads.Bead, pool string) (was, now beads.Bead, err error) {
	who := b.Assignee
	for range swaps {
		p := beads.Patch{Status: new(beads.StatusOpen), Assignee: new(""), IfRev: &b.Rev}
		if !slices.ContainsFunc(b.Labels, func(l string) bool { return strings.HasPrefix(l, city.PoolLabel) }) {
			p.AddLabels = []string{city.PoolLabel + pool}
		}
		if now, err = store.Update(ctx, b.ID, p); !errors.Is(err, beads.ErrConflict) {
			break
		}
		was := b
		if b, err = store.Get(ctx, b.ID); err != nil || b.Assignee != who || b.Status == beads.StatusClosed {
			b, now = was, was
			break
		}
	}
	if errors.Is(err, beads.ErrNotFound) {
		return b, b, nil
	}
	return b, now, err
}
