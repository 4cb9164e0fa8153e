package controller

import (
	"context"
	"errors"
	"fmt"
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
	typeRun    = "run"
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
	open, err := store.List(ctx, beads.Query{Type: typeRun, Status: []beads.Status{beads.StatusOpen, beads.StatusInProgress}, Limit: -1})
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
	newest, err := store.List(ctx, beads.Query{Type: typeRun, Limit: runsShown})
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
		Title: "run of " + d.Scoped(), Type: typeRun, Status: beads.StatusInProgress, Labels: []string{city.RunLabel + d.Scoped()},
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
	in.err = beadError(err)
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

func beadError(err error) *city.Error {
	var invalid *beads.Invalid
	switch {
	case err == nil:
		return nil
	case errors.Is(err, beads.ErrNotFound):
		return &city.Error{Code: city.NotFound, Message: err.Error()}
	case errors.Is(err, beads.ErrConflict):
		return &city.Error{Code: city.Conflict, Message: err.Error()}
	case errors.As(err, &invalid):
		return &city.Error{Code: city.Invalid, Message: err.Error()}
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
	none := []string{typeRun}
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
		for _, q := range []beads.Query{{Type: beads.TypeMolecule, Labels: []string{wispLabel}}, {Type: typeRun}} {
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
		return nil, beadError(err)
	}
	var all []beads.Bead
	for _, rig := range c.scopes() {
		store, err := c.runner.store(rig)
		if err != nil {
			return nil, &city.Error{Code: city.Unavailable, Message: "work cannot be read: " + err.Error()}
		}
		found, err := store.List(ctx, q)
		if err != nil {
			return nil, beadError(fmt.Errorf("work cannot be read: %w", err))
		}
		all = append(all, found...)
	}
	slices.SortStableFunc(all, func(a, b beads.Bead) int { return b.CreatedAt.Compare(a.CreatedAt) })
	if most := q.Most(); most >= 0 && len(all) > most {
		all = all[:most]
	}
	return all, nil
}
