package perform

import (
	"context"
	"errors"
	"slices"
	"time"

	"gcity/beads"
	"gcity/city"
	"gcity/controller/effect"
)

const (
	// runsKept is how many of each automation's newest run records a purge keeps.
	runsKept = 100
	// backupLimit is the timeout for backing up all stores.
	backupLimit = 10 * time.Minute
	// purgeLimit is the timeout for a purge. The next purge continues the work.
	purgeLimit = time.Minute
)

// purgeRuns removes old run records.
func (au *automations) purgeRuns(ctx context.Context, f effect.Purge) (n int, err error) {
	store, err := au.Stores.Store("")
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

// closeUnclosedRuns closes the records of runs that never started.
func (au *automations) closeUnclosedRuns(ctx context.Context,
	f effect.CloseUnclosedRuns) effect.Input {
	store, err := au.Stores.Store("")
	if err != nil {
		return effect.UnclosedRunsClosed{Err: err}
	}
	open, err := store.List(ctx, beads.Query{Type: city.RunType,
		Status: []beads.Status{beads.StatusOpen, beads.StatusInProgress}, Limit: -1})
	if err != nil {
		return effect.UnclosedRunsClosed{Err: err}
	}
	for _, b := range open {
		if slices.Contains(f.Known, b.ID) || !b.CreatedAt.Before(f.Before) {
			continue
		}
		run := city.RunOf(b)
		run.Outcome, run.Error = city.RunVoid, "the run never started: its record was created "+
			"too late, after the controller had given up on the run"
		if _, err := store.Update(ctx, b.ID, closing(run, false)); err != nil &&
			!effect.Unclosable(err) {
			return effect.UnclosedRunsClosed{Err: err}
		}
		au.w.Logger.Info("closed the record of a run that never started", "automation",
			run.Automation, "record", run.ID)
	}
	return effect.UnclosedRunsClosed{}
}

// purge removes old closed wisps and old run records.
func (wr *workRunner) purge(ctx context.Context, f effect.Purge) effect.Input {
	var in effect.Purged
	in.N, in.Err = wr.au.purgeRuns(ctx, f)
	for _, rig := range wr.Stores.scopes() {
		store, err := wr.Stores.Store(rig)
		if err != nil {
			in.Err = errors.Join(in.Err, err)
			continue
		}
		if f.Wisps == 0 {
			continue
		}
		n, err := store.Purge(ctx, beads.Query{Type: beads.TypeMolecule,
			Labels: []string{wispLabel}}, time.Now().Add(-f.Wisps))
		in.N += n
		if !errors.Is(err, errors.ErrUnsupported) {
			in.Err = errors.Join(in.Err, err)
		}
	}
	if in.N > 0 {
		wr.w.Logger.Info("removed old wisps", "beads", in.N)
	}
	return in
}

// wispLabel marks the root bead of the work that an automation has created.
const wispLabel = city.WispLabel
