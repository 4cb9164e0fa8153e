package controller

import (
	"context"
	"errors"
	"fmt"
	"time"

	"gcity/beads"
)

var (
	_ beads.Store     = (*guard)(nil)
	_ beads.Batcher   = (*guard)(nil)
	_ beads.Counter   = (*guard)(nil)
	_ beads.Tallier   = (*guard)(nil)
	_ beads.Purger    = (*guard)(nil)
	_ beads.Versioner = (*guard)(nil)
)

func (g *guard) Get(ctx context.Context, id string) (beads.Bead, error) {
	return guarded(ctx, g, &g.reads, g.limit(), func(ctx context.Context) (beads.Bead, error) { return g.store.Get(ctx, id) })
}

func (g *guard) List(ctx context.Context, q beads.Query) ([]beads.Bead, error) {
	return guarded(ctx, g, &g.reads, g.limit(), func(ctx context.Context) ([]beads.Bead, error) { return g.store.List(ctx, q) })
}

func (g *guard) Create(ctx context.Context, b beads.Bead) (beads.Bead, error) {
	return guarded(ctx, g, &g.writes, g.limit(), func(ctx context.Context) (beads.Bead, error) { return g.store.Create(ctx, b) })
}

func (g *guard) Update(ctx context.Context, id string, p beads.Patch) (beads.Bead, error) {
	return guarded(ctx, g, &g.writes, g.limit(), func(ctx context.Context) (beads.Bead, error) { return g.store.Update(ctx, id, p) })
}

func (g *guard) CreateAll(ctx context.Context, all []beads.Bead) ([]beads.Bead, error) {
	s, ok := g.store.(beads.Batcher)
	if !ok {
		return nil, fmt.Errorf("this store cannot take several beads at once: %w", errors.ErrUnsupported)
	}
	limit := g.limit() + time.Duration(len(all))*beadLimit
	return guarded(ctx, g, &g.writes, limit, func(ctx context.Context) ([]beads.Bead, error) { return s.CreateAll(ctx, all) })
}

func (g *guard) Count(ctx context.Context, q beads.Query) (int, error) {
	s, ok := g.store.(beads.Counter)
	if !ok {
		return 0, fmt.Errorf("this store cannot count: %w", errors.ErrUnsupported)
	}
	return guarded(ctx, g, &g.reads, g.limit(), func(ctx context.Context) (int, error) { return s.Count(ctx, q) })
}

func (g *guard) Tally(ctx context.Context, q beads.Query) ([]beads.Share, error) {
	s, ok := g.store.(beads.Tallier)
	if !ok {
		return nil, fmt.Errorf("this store cannot count by who has what: %w", errors.ErrUnsupported)
	}
	return guarded(ctx, g, &g.reads, g.limit(), func(ctx context.Context) ([]beads.Share, error) { return s.Tally(ctx, q) })
}

func (g *guard) Version(ctx context.Context) (uint64, error) {
	s, ok := g.store.(beads.Versioner)
	if !ok {
		return 0, errors.ErrUnsupported
	}
	return guarded(ctx, g, &g.reads, g.limit(), s.Version)
}

func (g *guard) Purge(ctx context.Context, q beads.Query, before time.Time) (int, error) {
	s, ok := g.store.(beads.Purger)
	if !ok {
		return 0, errors.ErrUnsupported
	}
	return guarded(ctx, g, &g.writes, g.limit(), func(ctx context.Context) (int, error) { return s.Purge(ctx, q, before) })
}

// tryRead finds out whether the store can be read again.
func (g *guard) tryRead(ctx context.Context) {
	_, _ = guarded(ctx, g, &g.reads, g.probe(), func(ctx context.Context) (uint64, error) { // the breaker has heard it
		if s, ok := g.store.(beads.Versioner); ok {
			return s.Version(ctx)
		}
		_, err := g.store.List(ctx, beads.Query{Limit: 1})
		return 0, err
	})
}

// tryWrite finds out whether the store can be written again. For one that cannot be asked the next write does.
func (g *guard) tryWrite(ctx context.Context) {
	s, ok := g.store.(beads.Prober)
	if !ok {
		return
	}
	_, _ = guarded(ctx, g, &g.writes, g.probe(), func(ctx context.Context) (struct{}, error) { // the breaker has heard it
		return struct{}{}, s.Probe(ctx)
	})
}
