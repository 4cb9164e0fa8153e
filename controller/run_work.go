package controller

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"gcity/automation"
	"gcity/beads"
	"gcity/city"
	"gcity/events"
	"gcity/formula"
)

const (
	scanLimit  = 30 * time.Second
	storeLimit = 10 * time.Second
	runsShown  = 500     // newest records of runs that are read at the start
	handed     = 1 << 10 // events that are handed in at once, at most
)

// workshop is what the runner needs for automations and work.
type workshop struct {
	scanner    automation.Scanner // the scan effect's alone
	follow     context.CancelFunc // of the events that are handed in; the loop's alone
	runs       context.Context
	endRuns    context.CancelCauseFunc
	conditions chan struct{}
	counted    map[string]uint64 // versions of the stores that were counted; the count effect's alone
	pools      []string
	work       city.Work
}

var errStopped = errors.New("the city was stopped before it had ended")

func newWorkshop(ctx context.Context) workshop {
	w := workshop{conditions: make(chan struct{}, checksAtOnce)}
	w.runs, w.endRuns = context.WithCancelCause(ctx)
	return w
}

// runWork begins an effect about automations or work; not ok for any other.
func (r *runner) runWork(f effect) (ok bool) {
	switch f := f.(type) {
	case fxScan:
		r.within(scanLimit, func(ctx context.Context) input { return r.scan(ctx, f) })
	case fxSweep:
		r.within(storeLimit, r.sweepRuns)
	case fxFollow:
		r.followEvents(f)
	case fxCondition:
		r.wg.Go(func() { r.condition(f) })
	case fxOpen:
		r.within(storeLimit, func(ctx context.Context) input { return r.openRun(ctx, f) })
	case fxRun:
		r.wg.Go(func() { r.deliver(r.carryOut(f)) })
	case fxEndRuns:
		r.shop.endRuns(errStopped)
	case fxShut:
		r.within(storeLimit, func(ctx context.Context) input { return inShut{bead: f.run.ID, err: r.shutRun(ctx, f)} })
	case fxMemorise:
		r.within(loadLimit, func(context.Context) input { return inMemorised{f.rev, writeDeeds(r.c.o.Dir, f.memory)} })
	case fxBead:
		r.within(storeLimit, func(ctx context.Context) input { return r.bead(ctx, f) })
	case fxCount:
		r.within(storeLimit, func(ctx context.Context) input { return r.count(ctx, f) })
	case fxPurge:
		r.within(storeLimit, func(ctx context.Context) input { return r.purge(ctx, f) })
	default:
		return false
	}
	return true
}

// scan finds the automations that there are, and links the formulas that count.
func (r *runner) scan(_ context.Context, f fxScan) input {
	var trouble []string
	layers := f.layers
	if system, err := formula.System(filepath.Join(r.c.o.Dir, ".gc")); err != nil {
		trouble = append(trouble, err.Error())
	} else {
		layers = append([]formula.Layer{system}, layers...)
	}
	in := inScanned{catalog: r.shop.scanner.Scan(layers, f.options, time.Now()), newest: r.c.o.Log.Last()}
	var own []formula.Layer
	for _, l := range layers {
		if l.Rig == "" {
			own = append(own, l)
		}
	}
	winners, err := formula.Resolve(own)
	if err == nil {
		_, err = formula.Link(filepath.Join(r.c.o.Dir, ".beads", "formulas"), winners)
	}
	if err != nil {
		trouble = append(trouble, err.Error())
	}
	for _, p := range in.catalog.Problems {
		trouble = append(trouble, p.String())
	}
	in.trouble = strings.Join(trouble, "; ")
	return in
}

// sweepRuns closes the records of runs that are open: whoever let them go is gone.
func (r *runner) sweepRuns(ctx context.Context) input {
	store, err := r.store("")
	if err != nil {
		return inSwept{err: err}
	}
	var in inSwept
	open, err := store.List(ctx, beads.Query{Type: city.RunType, Status: []beads.Status{beads.StatusOpen, beads.StatusInProgress}, Limit: -1})
	if err != nil {
		return inSwept{err: err}
	}
	for _, b := range open {
		run := city.RunOf(b)
		run.Outcome, run.Error = string(automation.Interrupted), "its controller ended before it did"
		b, err := store.Update(ctx, b.ID, closing(run, false))
		if err != nil {
			return inSwept{err: err}
		}
		in.interrupted = append(in.interrupted, city.RunOf(b))
	}
	slices.Reverse(in.interrupted)
	newest, err := store.List(ctx, beads.Query{Type: city.RunType, Limit: runsShown})
	for _, b := range newest {
		in.runs = append(in.runs, city.RunOf(b))
	}
	in.err = err
	return in
}

// followEvents hands in what somebody waits for, in place of what was handed in before.
func (r *runner) followEvents(f fxFollow) {
	if r.shop.follow != nil {
		r.shop.follow()
	}
	ctx, cancel := context.WithCancel(r.ctx)
	r.shop.follow = cancel
	want := events.Query{Types: f.types}
	r.wg.Go(func() {
		defer cancel()
		for e, err := range r.c.o.Log.Follow(ctx, f.after) {
			if err != nil {
				if ctx.Err() == nil {
					r.c.o.Logger.Warn("events for automations cannot be read", "err", err)
				}
				return
			}
			if !want.Match(&e) {
				continue
			}
			select {
			case r.c.inbox <- inHappened{[]events.Event{e}}:
			case <-ctx.Done():
				return
			case <-r.closed:
				return
			}
		}
	})
}

// store opens the store of a scope: "" = the city's, else a rig's.
func (r *runner) store(rig string) (beads.Store, error) {
	if r.c.o.Stores == nil {
		return nil, errors.New("this city has no store")
	}
	return r.c.o.Stores(rig)
}

// openRun makes the record of a run, before anything of it happens.
func (r *runner) openRun(ctx context.Context, f fxOpen) input {
	d := f.run.Definition
	in := inOpened{run: f.run}
	store, err := r.store("")
	if err != nil {
		in.err = err
		return in
	}
	b := beads.Bead{
		Title: "run of " + d.Scoped(), Type: city.RunType, Status: beads.StatusInProgress, Labels: []string{city.RunLabel + d.Scoped()},
		Metadata: map[string]string{city.RunReason: f.run.Reason},
	}
	for key, value := range map[string]string{city.RunBy: f.run.By, city.RunRetry: digits(f.run.Retry), city.RunEvents: digits(f.run.Count)} {
		if value != "" {
			b.Metadata[key] = value
		}
	}
	if f.run.Count > 0 {
		b.Labels = append(b.Labels, "seq:"+strconv.FormatUint(f.run.Until, 10))
	}
	in.bead, in.err = store.Create(ctx, b)
	return in
}

func digits(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}

// closing is the patch that closes a run's record.
func closing(run city.Run, made bool) beads.Patch {
	p := beads.Closing()
	p.SetMetadata = map[string]string{city.RunOutcome: run.Outcome, city.RunError: run.Error, city.RunOutput: run.Output, city.RunMade: run.Made}
	if run.Code != nil {
		p.SetMetadata[city.RunCode] = strconv.Itoa(*run.Code)
	}
	switch {
	case made:
	case run.Outcome == string(automation.OK):
		p.AddLabels = []string{"exec"}
	default:
		p.AddLabels = []string{"exec-failed"}
	}
	return p
}

func (r *runner) shutRun(ctx context.Context, f fxShut) error {
	store, err := r.store("")
	if err != nil {
		return err
	}
	_, err = store.Update(ctx, f.run.ID, closing(f.run, f.formula))
	return err
}
