package controller

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"gcity/beads"
	"gcity/city"
	"gcity/controller/effect"
)

const (
	// runsTTL is how long the record of a run that is over is kept, where no wisp_ttl says so.
	runsTTL = 14 * 24 * time.Hour
	// runsKept is how many of each automation stay however old they are.
	runsKept = 100
	// purgeEvery is the time between two looks for what is old, where no wisp_gc_interval says so.
	purgeEvery = time.Hour
	// backupLook is the time between two looks for a backup that is due.
	backupLook = 10 * time.Minute
	// backupLimit is how long the backups of all stores may take.
	backupLimit = 10 * time.Minute
	// purgeLimit is how long a look may take; what it had no time for is left to the next.
	purgeLimit = time.Minute
)

// purge orders what has been closed for long enough to be removed.
func (m *machine) purge(now time.Time) {
	w := &m.work
	if m.conf.NoWork || !w.swept || w.purging || now.Sub(w.purged) <
		cmp.Or(m.conf.WispEvery, purgeEvery) {
		return
	}
	w.purging, w.purged = true, now
	m.do(effect.Purge{Wisps: m.conf.WispTTL, Runs: cmp.Or(m.conf.WispTTL, runsTTL),
		Of: slices.Sorted(maps.Keys(w.runs.Memory()))})
}

// backUp orders the backups of work that are due.
func (m *machine) backUp(now time.Time) {
	w := &m.work
	if !m.conf.Backups || m.settling || w.backingUp || now.Sub(w.backedUp) < backupLook {
		return
	}
	w.backingUp, w.backedUp = true, now
	m.do(effect.BackUp{})
}

// purgeRuns removes records of runs, which are the city's.
func (r *runner) purgeRuns(ctx context.Context, f effect.Purge) (n int, err error) {
	store, err := r.store("")
	if err != nil {
		return 0, err
	}
	old := time.Now().Add(-f.Runs)
	for _, name := range f.Of {
		q := beads.Query{Type: city.RunType, Status: []beads.Status{beads.StatusClosed},
			Labels: []string{city.RunLabel + name}, Limit: runsKept}
		newest, err := store.List(ctx, q)
		if err != nil {
			return n, err
		}
		if len(newest) < runsKept {
			continue
		}
		until := old
		for _, b := range newest {
			if b.ClosedAt.Before(until) {
				until = *b.ClosedAt
			}
		}
		gone, err := store.Purge(ctx, q, until)
		n += gone
		if errors.Is(err, errors.ErrUnsupported) {
			return n, nil
		}
		if err != nil {
			return n, err
		}
	}
	return n, nil
}
