package controller

import (
	"context"
	"slices"
	"time"

	"gcity/beads"
	"gcity/city"
	"gcity/controller/effect"
)

// A store that did not answer in time may have made the record all the same, and after its run was given up.
// Nobody would close it before the next controller: so the records are looked through once more, some time after.
const (
	strayWait = 2 * time.Minute
	strayAge  = time.Minute // a younger record may be that of a run which is just being opened
)

// seekStrays orders that look, once it is time for it.
func (m *machine) seekStrays(now time.Time) {
	w := &m.work
	if w.strays.IsZero() || now.Before(w.strays) || !w.swept || m.ending != alive || m.settling ||
		m.storeProblem("") != "" {
		return
	}
	known := make([]string, 0, len(w.goes)+len(w.unshut))
	for _, run := range w.goes {
		if run.ID == "" {
			return // whose record that will be is not known yet
		}
		known = append(known, run.ID)
	}
	for id := range w.unshut {
		known = append(known, id)
	}
	slices.Sort(known)
	w.strays = time.Time{}
	m.do(effect.CloseUnclosedRuns{Known: known, Before: now.Add(-strayAge)})
}

// strayed takes the result.
func (m *machine) strayed(now time.Time, in effect.UnclosedRunsClosed) {
	if in.Err == nil {
		m.note(&m.work.lost, "")
	} else if m.work.strays.IsZero() {
		m.work.strays = now.Add(strayWait)
	}
}

// closeStrays closes the records of runs that never were.
func (r *runner) closeStrays(ctx context.Context, f effect.CloseUnclosedRuns) effect.Input {
	store, err := r.store("")
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
		run.Outcome, run.Error = city.RunVoid, "it never began: its record was written after it "+
			"had been given up"
		if _, err := store.Update(ctx, b.ID, closing(run, false)); err != nil && !unclosable(err) {
			return effect.UnclosedRunsClosed{Err: err}
		}
		r.c.o.Logger.Info("the record of a run that never began is closed", "automation",
			run.Automation, "record", run.ID)
	}
	return effect.UnclosedRunsClosed{}
}
