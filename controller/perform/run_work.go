package perform

import (
	"cmp"
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
	"gcity/beads/guard"
	"gcity/city"
	"gcity/controller/effect"
	"gcity/controller/memory"
	"gcity/events"
	"gcity/formula"
	"gcity/internal/recovery"
	"gcity/internal/screen"
)

const (
	scanLimit  = 30 * time.Second
	hungLimit  = 5 * time.Second // for a call that can block on a folder
	maxHung    = 64
	storeLimit = time.Minute
	allLimit   = time.Minute
	slingLimit = 2 * time.Minute // a slow store needs seconds for each bead of a molecule
	runsShown  = 500
)

type automationState struct {
	scanner    automation.Scanner // used by the scan effect only
	follow     context.CancelFunc // used by the loop only
	runs       context.Context
	endRuns    context.CancelCauseFunc
	activeRuns *activeRuns
	conditions chan struct{}
	watched    []string // used by the loop only
	// latest catalog with programs that are allowed to run; used by the scan effect only
	trusted *automation.Catalog
}

var errStopped = errors.New("the city was stopped before the run ended")

func newAutomationState(ctx context.Context) automationState {
	w := automationState{conditions: make(chan struct{}, checksAtOnce),
		activeRuns: &activeRuns{ends: map[string]context.CancelCauseFunc{}}}
	w.runs, w.endRuns = context.WithCancelCause(ctx)
	return w
}

func (au *automations) run(f effect.Effect) (ok bool) {
	switch f := f.(type) {
	case effect.Scan:
		au.watchFolders(f.Layers)
		start(au.base, scanLimit, f, au.scan)
	case effect.SweepRuns:
		start(au.base, allLimit, f, au.sweepRuns)
	case effect.CloseUnclosedRuns:
		start(au.base, allLimit, f, au.closeUnclosedRuns)
	case effect.Subscribe:
		au.followEvents(f)
	case effect.CheckCondition:
		au.wg.Go(func() { au.condition(f) })
	case effect.OpenRun:
		start(au.base, storeLimit, f, au.openRun)
	case effect.Run:
		ctx, done := au.state.activeRuns.add(au.state.runs, f.Bead)
		au.wg.Go(func() {
			defer done()
			au.deliver(au.carryOut(ctx, f))
		})
	case effect.CancelRun:
		au.state.activeRuns.end(f.Bead, &effect.CanceledError{By: f.By})
	case effect.CancelRuns:
		au.state.endRuns(errStopped)
	case effect.CloseRun:
		au.within(storeLimit, func(ctx context.Context) effect.Input {
			at, err := au.closeRecord(ctx, f)
			return effect.RunClosed{Bead: f.Run.ID, At: at, Err: err}
		})
	case effect.SaveAutomations:
		au.within(loadLimit, func(context.Context) effect.Input {
			return effect.AutomationsSaved{Rev: f.Rev,
				Err: memory.WriteAutomations(au.w.At, f.Memory)}
		})
	default:
		return false
	}
	return true
}

func (wr *workRunner) run(f effect.Effect) (ok bool) {
	switch f := f.(type) {
	case effect.ChangeBead:
		limit := allLimit
		if _, ok := f.Cmd.(city.SlingWork); ok {
			limit = slingLimit
		}
		start(wr.base, limit, f, wr.bead)
	case effect.CountWork:
		start(wr.base, allLimit, f, wr.count)
	case effect.ReturnWork:
		start(wr.base, allLimit, f, wr.returnWork)
	case effect.ProbeStores:
		wr.within(allLimit, wr.Stores.probe)
	case effect.Purge:
		start(wr.base, purgeLimit, f, wr.purge)
	case effect.BackUp:
		wr.within(backupLimit, func(ctx context.Context) effect.Input {
			return effect.BackedUp{Err: wr.w.BackUp(ctx)}
		})
	default:
		return false
	}
	return true
}

func (au *automations) watchFolders(layers []formula.Layer) {
	var dirs []string
	for _, l := range layers {
		dirs = append(dirs, l.Dir)
	}
	if au.w.OnFoldersChanged == nil || slices.Equal(dirs, au.state.watched) {
		return
	}
	au.state.watched = dirs
	au.w.OnFoldersChanged(dirs)
}

func (au *automations) scan(ctx context.Context, f effect.Scan) effect.Input {
	if au.w.checkFolder() != nil {
		return effect.Scanned{Away: true}
	}
	var trouble []string
	layers := f.Layers
	if system, err := formula.System(filepath.Join(au.w.Dir, ".gc")); err != nil {
		trouble = append(trouble, err.Error())
	} else {
		layers = append([]formula.Layer{system}, layers...)
	}
	found := au.state.scanner.Scan(layers, f.Options, time.Now())
	if au.state.trusted == nil || au.state.trusted.Revision != found.Revision {
		// the configuration on disk may be invalid or name other layers
		err := au.w.checkTrust(f.Source, f.Source)
		if err == nil {
			au.state.trusted = &found
		} else {
			trouble = append(trouble, "changed automations are not in force: "+err.Error())
			found = *cmp.Or(au.state.trusted, unread(layers))
		}
	}
	in := effect.Scanned{Catalog: found, Newest: au.w.Log.Last()}
	trouble = append(trouble, au.linkFormulas(ctx, layers, f.Rigs)...)
	for _, p := range in.Catalog.Problems {
		trouble = append(trouble, p.String())
	}
	in.Trouble = strings.Join(trouble, "; ")
	return in
}

// unread returns a catalog without automations, in which no automation counts as removed.
func unread(layers []formula.Layer) *automation.Catalog {
	var c automation.Catalog
	for _, l := range layers {
		c.Unread = append(c.Unread, l.Rig)
	}
	return &c
}

// inBackground returns the result of f, which may block forever on a folder. ok is false if ctx ends or the limit
// passes first (0 = no limit). Only one call per name runs at a time, and concurrent callers share its result.
// Therefore, calls with different results need different names, and callers must not modify the result.
func inBackground[T any](ctx context.Context, b *base, name string, limit time.Duration,
	f func() T) (_ T, ok bool) {
	result, ok := b.looks.Do(ctx, name, time.Now(), limit, func() any { return new(f()) })
	if !ok {
		var none T
		return none, false
	}
	return *result.(*T), true
}

func (au *automations) sweepRuns(ctx context.Context, f effect.SweepRuns) effect.Input {
	au.forgetEvents()
	store, err := au.Stores.Store("")
	if err != nil {
		return effect.RunsSwept{Err: err}
	}
	var in effect.RunsSwept
	// if the log cannot be read, write events only for the runs that are closed below
	if in.Logged, err = au.loggedRuns(ctx); err != nil {
		au.w.Logger.Warn("events of earlier runs might be missing from the log", "err", err)
	}
	open, err := store.List(ctx, beads.Query{Type: city.RunType,
		Status: beads.Unclosed(), Limit: -1})
	if err != nil {
		return effect.RunsSwept{Err: err}
	}
	// while the records are open, the next attempt or the next controller finds these molecules too
	au.closePartlyCreated(ctx, open)
	var odd []string
	for _, b := range slices.Backward(open) {
		run := city.RunOf(b)
		run.Outcome, run.Error = string(automation.Interrupted), effect.Abandoned
		b, err := store.Update(ctx, b.ID, closing(run, false))
		if effect.Unclosable(err) { // without details
			b, err = store.Update(ctx, run.ID, beads.Closing())
		}
		switch {
		case errors.Is(err, beads.ErrNotFound): // removed in the meantime
		case effect.Unclosable(err):
			odd = append(odd, fmt.Sprintf("%s (%v)", run.ID, err))
		case err != nil:
			in.Err = err
			return in
		default:
			run.Ended = b.ClosedAt
			in.Interrupted = append(in.Interrupted, run)
		}
	}
	in.Unclosable = strings.Join(odd, "; ")
	in.Runs, in.Err = newestRuns(ctx, store, f.Of)
	return in
}

func newestRuns(ctx context.Context, store *guard.Store, of []string) (runs []city.Run, err error) {
	newest, err := store.List(ctx, beads.Query{Type: city.RunType, Limit: runsShown})
	if err != nil {
		return nil, err
	}
	has := map[string]bool{}
	for _, b := range newest {
		runs = append(runs, city.RunOf(b))
		has[runs[len(runs)-1].Automation] = true
	}
	if len(newest) < runsShown {
		return runs, nil
	}
	for _, name := range of {
		if has[name] {
			continue
		}
		one, err := store.List(ctx, beads.Query{Labels: []string{city.RunLabel + name},
			Type: city.RunType, Limit: 1})
		if err != nil {
			return nil, err
		}
		for _, b := range one {
			runs = append(runs, city.RunOf(b))
		}
	}
	slices.SortStableFunc(runs, func(a, b city.Run) int { return b.Opened.Compare(a.Opened) })
	return runs, nil
}

// eventBatch is the maximum number of earlier events in one input.
const eventBatch = 1000

// followEvents delivers the events that are already in the log together, so that one run handles all of them.
func (au *automations) followEvents(f effect.Subscribe) {
	if au.state.follow != nil {
		au.state.follow()
	}
	ctx, cancel := context.WithCancel(au.ctx)
	au.state.follow = cancel
	want, newest := events.Query{Types: f.Types}, au.w.Log.Last()
	au.wg.Go(func() {
		defer cancel()
		var batch []events.Event
		for e, err := range au.w.Log.Follow(ctx, f.After) {
			if err != nil {
				if ctx.Err() == nil {
					au.deliver(effect.SubscriptionEnded{Subscription: f.ID, Err: err})
				}
				return
			}
			if want.Match(&e) {
				batch = append(batch, e)
			}
			if len(batch) == 0 || e.Seq < newest && len(batch) < eventBatch {
				continue
			}
			select {
			case au.w.Inbox <- effect.EventsReceived{Subscription: f.ID, Events: batch}:
				batch = nil
			case <-ctx.Done():
				return
			case <-au.closed:
				return
			}
		}
	})
}

// Store opens a rig's store, or the city's store if rig is "".
func (s *Stores) Store(rig string) (*guard.Store, error) {
	if s.open == nil {
		return nil, errors.New("this city has no store")
	}
	if err := s.checkFolder(); err != nil {
		return nil, err
	}
	kept, err := s.open(rig)
	if err != nil {
		return nil, err
	}
	return s.guards.StoreFor(rig, kept), nil
}

func (s *Stores) probe(ctx context.Context) effect.Input {
	s.guards.Keep(s.scopes())
	reads, writes := s.guards.Due(time.Now())
	var all recovery.Group // a slow store must not delay other stores
	for _, g := range reads {
		all.Go(func() { g.TryRead(ctx) })
	}
	for _, g := range writes {
		all.Go(func() { g.TryWrite(ctx) })
	}
	all.Wait()
	return effect.StoresProbed{}
}

func (au *automations) openRun(ctx context.Context, f effect.OpenRun) effect.Input {
	d := f.Run.Definition
	in := effect.RunOpened{Run: f.Run}
	store, err := au.Stores.Store("")
	if err != nil {
		in.Err = err
		return in
	}
	b := beads.Bead{
		Title: "run of " + d.Scoped(), Type: city.RunType, Status: beads.StatusInProgress,
		Labels:   []string{city.RunLabel + d.Scoped()},
		Metadata: map[string]string{city.RunReason: fit(f.Run.Reason)},
	}
	for key, value := range map[string]string{city.RunBy: f.Run.By,
		city.RunRetry: digits(f.Run.Retry), city.RunEvents: digits(f.Run.Count),
		city.RunDepth: digits(f.Run.Depth)} {
		if value != "" {
			b.Metadata[key] = value
		}
	}
	if f.Run.Count > 0 {
		b.Labels = append(b.Labels, "seq:"+strconv.FormatUint(f.Run.Until, 10))
	}
	if in.Bead, in.Err = store.Create(ctx, b); in.Err == nil {
		au.Live.open(in.Bead.ID)
	}
	return in
}

func fit(text string) string {
	lines := strings.Split(text, "\n")
	for i := range lines {
		lines[i] = screen.Plain(lines[i])
	}
	return strings.Join(lines, "\n")
}

func digits(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}

func closing(run city.Run, made bool) beads.Patch {
	p := beads.Closing()
	p.SetMetadata = map[string]string{city.RunOutcome: run.Outcome, city.RunError: fit(run.Error),
		city.RunOutput: fit(run.Output), city.RunMade: run.Made,
		city.RunTitle: fit(run.MadeTitle)}
	if run.TimedOut {
		p.SetMetadata[city.RunTimedOut] = "true"
	}
	if run.Canceled {
		p.SetMetadata[city.RunCanceled] = "true"
	}
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

// closeRecord closes a run's record. It returns ErrNotFound if the record does not exist, or if the store was replaced
// and a different bead has the ID.
func (au *automations) closeRecord(ctx context.Context, f effect.CloseRun) (*time.Time, error) {
	au.Live.Finish(f.Run.ID) // necessary even if the run never started
	store, err := au.Stores.Store("")
	if err != nil {
		return nil, err
	}
	b, err := store.Get(ctx, f.Run.ID)
	if err != nil {
		if errors.Is(err, beads.ErrNotFound) {
			au.Live.close(f.Run.ID)
		}
		return nil, err
	}
	if b.Type != city.RunType || city.RunOf(b).Automation != f.Run.Automation {
		au.Live.close(f.Run.ID)
		return nil, fmt.Errorf("bead %s is not the record of this run: %w", b.ID,
			beads.ErrNotFound)
	}
	closed, err := store.Update(ctx, b.ID, closing(f.Run, f.Formula))
	if effect.Unclosable(err) {
		closed, err = store.Update(ctx, b.ID, minimalClosing(f.Run))
	}
	if err == nil || effect.Unclosable(err) {
		au.Live.close(f.Run.ID)
	}
	return closed.ClosedAt, err
}

func minimalClosing(run city.Run) beads.Patch {
	p := beads.Closing()
	p.SetMetadata = map[string]string{city.RunOutcome: run.Outcome}
	return p
}

const (
	// for each automation
	runsKept    = 100
	backupLimit = 10 * time.Minute
	// The next purge continues the work.
	purgeLimit = time.Minute
)

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

func (au *automations) closeUnclosedRuns(ctx context.Context,
	f effect.CloseUnclosedRuns) effect.Input {
	store, err := au.Stores.Store("")
	if err != nil {
		return effect.UnclosedRunsClosed{Err: err}
	}
	open, err := store.List(ctx, beads.Query{Type: city.RunType,
		Status: beads.Unclosed(), Limit: -1})
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
		wr.w.Logger.Info("removed old wisps and run records", "beads", in.N)
	}
	removed, err := removeAgentFiles(wr.w.At, f.Agents, time.Now())
	if err != nil { // not a problem of the work stores
		wr.w.Logger.Warn("cannot remove old files of removed agents", "err", err)
	}
	if len(removed) > 0 {
		wr.w.Logger.Info("removed old files of removed agents", "files", removed)
	}
	return in
}

const wispLabel = city.WispLabel
