package controller

import (
	"context"
	"iter"

	"gcity/beads"
	"gcity/city"
)

// RunOutput implements city.Control.
func (c *Controller) RunOutput(ctx context.Context, run string) iter.Seq2[city.Piece, error] {
	return func(yield func(city.Piece, error) bool) {
		out := c.runner.Live.Find(run)
		if out == nil {
			r, err := city.GetRun(ctx, c, run)
			if err != nil {
				yield(city.Piece{}, err)
				return
			}
			if out = c.runner.Live.Find(run); out == nil || r.Ended != nil {
				yield(city.Piece{Text: r.Output}, nil)
				return
			}
		}
		out.Follow(ctx, c.done, yield)
	}
}

// Beads implements city.Control.
func (c *Controller) Beads(ctx context.Context, q beads.Query) ([]beads.Bead, error) {
	return c.runner.Stores.Beads(ctx, q)
}

// Bead implements city.Control.
func (c *Controller) Bead(ctx context.Context, id string) (beads.Bead, error) {
	return c.runner.Stores.Bead(ctx, id)
}

// Locate implements city.StoreReader.
func (c *Controller) Locate(ctx context.Context, id string) (city.Located, error) {
	return c.runner.Stores.Locate(ctx, id)
}

// BeadsIn implements city.StoreReader.
func (c *Controller) BeadsIn(ctx context.Context, rig string, q beads.Query) ([]beads.Bead,
	error) {
	return c.runner.Stores.BeadsIn(ctx, rig, q)
}
