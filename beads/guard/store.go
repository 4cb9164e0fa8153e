package guard

import (
	"context"
	"errors"
	"fmt"
	"time"

	"gcity/beads"
)

var _ interface {
	beads.Store
	beads.Batcher
	beads.Counter
	beads.ShareCounter
	beads.Purger
	beads.Versioner
	beads.Auditor
} = (*Store)(nil)

func (g *Store) Get(ctx context.Context, id string) (beads.Bead, error) {
	return guarded(ctx, g, &g.reads, func(ctx context.Context) (beads.Bead, error) {
		return g.store.Get(ctx, id)
	})
}

func (g *Store) List(ctx context.Context, q beads.Query) ([]beads.Bead, error) {
	return guarded(ctx, g, &g.reads, func(ctx context.Context) ([]beads.Bead, error) {
		return g.store.List(ctx, q)
	})
}

func (g *Store) Create(ctx context.Context, b beads.Bead) (beads.Bead, error) {
	return run(ctx, g.creation(1, g.limit()), func(ctx context.Context) (beads.Bead, error) {
		return g.store.Create(ctx, b)
	})
}

func (g *Store) Update(ctx context.Context, id string, p beads.Patch) (beads.Bead, error) {
	return guarded(ctx, g, &g.writes, func(ctx context.Context) (beads.Bead, error) {
		return g.store.Update(ctx, id, p)
	})
}

func (g *Store) CreateAll(ctx context.Context, all []beads.Bead) ([]beads.Bead, error) {
	s, ok := g.store.(beads.Batcher)
	if !ok {
		return nil, fmt.Errorf("this store cannot create several beads at once: %w",
			errors.ErrUnsupported)
	}
	k := g.creation(len(all), g.batchLimit(len(all)))
	return run(ctx, k, func(ctx context.Context) ([]beads.Bead, error) {
		return s.CreateAll(ctx, all)
	})
}

func (g *Store) Count(ctx context.Context, q beads.Query) (int, error) {
	s, ok := g.store.(beads.Counter)
	if !ok {
		return 0, fmt.Errorf("this store cannot count beads: %w", errors.ErrUnsupported)
	}
	return guarded(ctx, g, &g.reads, func(ctx context.Context) (int, error) {
		return s.Count(ctx, q)
	})
}

func (g *Store) Tally(ctx context.Context, q beads.Query) ([]beads.Share, error) {
	s, ok := g.store.(beads.ShareCounter)
	if !ok {
		return nil, fmt.Errorf("this store cannot count work by assignee: %w",
			errors.ErrUnsupported)
	}
	return guarded(ctx, g, &g.reads, func(ctx context.Context) ([]beads.Share, error) {
		return s.Tally(ctx, q)
	})
}

func (g *Store) Version(ctx context.Context) (uint64, error) {
	s, ok := g.store.(beads.Versioner)
	if !ok {
		return 0, errors.ErrUnsupported
	}
	return guarded(ctx, g, &g.reads, s.Version)
}

func (g *Store) Purge(ctx context.Context, q beads.Query, before time.Time) (int, error) {
	s, ok := g.store.(beads.Purger)
	if !ok {
		return 0, errors.ErrUnsupported
	}
	return guarded(ctx, g, &g.writes, func(ctx context.Context) (int, error) {
		return s.Purge(ctx, q, before)
	})
}

func (g *Store) Unreadable(ctx context.Context) ([]beads.Unreadable, error) {
	s, ok := g.store.(beads.Auditor)
	if !ok {
		return nil, errors.ErrUnsupported
	}
	return guarded(ctx, g, &g.reads, s.Unreadable)
}

// TryRead probes whether the store is readable again.
func (g *Store) TryRead(ctx context.Context) {
	// run records the result
	_, _ = run(ctx, g.probe(&g.reads), func(ctx context.Context) (struct{}, error) {
		return struct{}{}, g.readProbe(ctx)
	})
}

// TryWrite probes whether the store is writable again. If the store is not a Prober, the probe is a read. If the read
// succeeds, writes are allowed again, but the first write that fails opens the breaker.
func (g *Store) TryWrite(ctx context.Context) {
	// run records the result
	_, _ = run(ctx, g.probe(&g.writes), func(ctx context.Context) (struct{}, error) {
		if s, ok := g.store.(beads.Prober); ok {
			return struct{}{}, s.Probe(ctx)
		}
		if err := g.readProbe(ctx); judged(err) != StoreWorks {
			return struct{}{}, err
		}
		return struct{}{}, errUntested
	})
}

var errUntested = errors.New("this store has no call that tests whether it is writable")

func (g *Store) readProbe(ctx context.Context) error {
	if s, ok := g.store.(beads.Versioner); ok {
		_, err := s.Version(ctx)
		return err
	}
	_, err := g.store.List(ctx, beads.Query{Limit: 1})
	return err
}
