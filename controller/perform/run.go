// Package perform carries out the effects that the machine of a city orders. Each effect runs in a goroutine of its
// own with a deadline, and its result goes back to the loop as an input.
package perform

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync"
	"time"

	"gcity/beads/guard"
	"gcity/city"
	"gcity/config"
	"gcity/config/edit"
	"gcity/controller/effect"
	"gcity/controller/memory"
	"gcity/internal/recovery"
	"gcity/internal/shutdown"
	"gcity/session"
)

// How long an effect may take, where nothing else says so.
const (
	listLimit    = 10 * time.Second
	loadLimit    = 10 * time.Second
	typeLimit    = 10 * time.Second
	captureYield = 250 * time.Millisecond
	keepLimit    = 10 * time.Second
	ackLimit     = 2 * time.Second
	stopMargin   = 5 * time.Second // beyond the agent's grace
	// pre_start may install things; readiness has its own deadline
	startLimit = 10 * time.Minute
	// for what is in flight when the controller ends and leaves its agents
	leaveLimit = effect.Farewell / 3
)

// Runner carries effects out, each in a goroutine of its own with a deadline, and turns their results into inputs.
type Runner struct {
	w       World
	ctx     context.Context // of all effects; outlives the caller's
	Cancel  context.CancelFunc
	wg      recovery.Group
	closed  chan struct{} // closed when results are of no more interest
	paced   *paced
	shop    workshop
	Live    outputs // of runs
	Stores  *Stores
	checks  chan struct{} // one place for each check that may run at once
	folders turns         // of starts, in the folders that they fill
	// held while last words are drawn: one at a time, starts need the processors more
	draws chan struct{}

	// Between is nil but in tests, where it stands between the machine and the world: each effect before it
	// begins, and each result before it is handed in, goes on only if it says so. It is called from any goroutine.
	Between func(step any) bool

	Mu     sync.Mutex
	starts map[string]*starting // by agent
	away   string               // why the city's folder is not where it was, as last told
}

// starting is a start in flight.
type starting struct {
	cancel context.CancelCauseFunc
	forked chan struct{} // closed when the provider has done its part
	once   sync.Once
}

func (s *starting) done() { s.once.Do(func() { close(s.forked) }) }

// New returns a runner that works with w.
func New(w World) *Runner {
	ctx, cancel := context.WithCancel(shutdown.NewContext(context.Background(), w.Last))
	r := &Runner{
		w: w, ctx: ctx, Cancel: cancel, closed: make(chan struct{}),
		shop:   newWorkshop(ctx),
		checks: make(chan struct{}, checksAtOnce),
		draws:  make(chan struct{}, 1),
		wg:     recovery.Group{OnPanic: w.Broke},
		starts: map[string]*starting{},
	}
	guards := guard.New(func(now guard.Report) { r.deliver(effect.StoresReported{Report: now}) })
	if w.Called != nil {
		guards.Took = w.Called
	}
	r.Stores = &Stores{open: w.Stores, home: r.w.home, snapshot: w.Snapshot, guards: guards}
	r.paced = &paced{Provider: w.Provider, slots: make(chan struct{}, 2*runtime.GOMAXPROCS(0)),
		forked: r.forked, answered: r.answered, asks: r.asks}
	return r
}

// Run begins an effect. Only the loop calls it.
func (r *Runner) Run(f effect.Effect) {
	if r.Between != nil && !r.Between(f) {
		return
	}
	if r.runSession(f) || r.runCity(f) || r.runWork(f) || r.runTier(f) {
		return
	}
	panic(fmt.Sprintf("controller: no way to carry out %T", f))
}

// runSession begins an effect about a session; not ok for any other.
func (r *Runner) runSession(f effect.Effect) (ok bool) {
	switch f := f.(type) {
	case effect.Cancel:
		r.cut(f.Agent)
	case effect.Start:
		r.launch(f.Want.Name, f.Want.Spec.Ready, func(ctx context.Context) effect.Started {
			return r.start(ctx, f)
		})
	case effect.Resume:
		r.launch(f.Want.Name, f.Want.Spec.Ready, func(ctx context.Context) effect.Started {
			s, in := f.Want.Spawn(f.Status.ID), effect.Started{Status: f.Status}
			// it lives, and has been told what is no text to be typed
			if err := r.tell(ctx, f.Want, &s); err != nil {
				in.Troubles = append(in.Troubles, err.Error())
			}
			in.Err = session.Settle(ctx, r.paced, s)
			return in
		})
	case effect.Stop:
		r.within(f.Grace+r.atLeast(stopMargin, f.Session), func(ctx context.Context) effect.Input {
			return effect.Stopped{Agent: f.Agent, Err: r.w.Provider.Stop(ctx, f.Session, f.Grace)}
		})
	case effect.Kill:
		r.within(r.atLeast(stopMargin, f.Session), func(ctx context.Context) effect.Input {
			if err := r.w.Provider.Stop(ctx, f.Session, 0); err != nil {
				r.w.Logger.Warn("a session cannot be killed", "agent", f.Agent, "err", err)
			}
			return nil
		})
	case effect.Vet:
		r.within(session.CheckLimit, func(ctx context.Context) effect.Input {
			return r.vet(ctx, f)
		})
	case effect.MarkDrain:
		r.within(r.atLeast(typeLimit, f.Session), func(ctx context.Context) effect.Input {
			return r.mark(ctx, f)
		})
	case effect.Capture:
		r.within(effect.CaptureLimit, func(ctx context.Context) effect.Input {
			return r.capture(ctx, f)
		})
	case effect.Acknowledge:
		r.within(ackLimit, func(ctx context.Context) effect.Input { r.ack(ctx, f); return nil })
	case effect.Type:
		r.within(r.atLeast(typeLimit, f.Session), func(ctx context.Context) effect.Input {
			return effect.Typed{Agent: f.Agent, Err: r.typeInto(ctx, f)}
		})
	case effect.Send:
		r.within(r.atLeast(typeLimit, f.Session), func(ctx context.Context) effect.Input {
			return r.send(ctx, f)
		})
	default:
		return false
	}
	return true
}

// runCity begins an effect about the city as a whole; not ok for any other.
func (r *Runner) runCity(f effect.Effect) (ok bool) {
	switch f := f.(type) {
	case effect.CheckPool:
		r.check(f)
	case effect.Scale:
		r.within(loadLimit, func(context.Context) effect.Input { return r.scale(f) })
	case effect.List:
		r.within(r.atLeast(listLimit, ""), func(ctx context.Context) effect.Input {
			defer func(began time.Time) { r.w.Patrolled(time.Since(began)) }(time.Now())
			return r.list(ctx, f)
		})
	case effect.Load:
		r.within(loadLimit, func(context.Context) effect.Input { return r.load(f) })
	case effect.Edit:
		r.within(loadLimit, func(context.Context) effect.Input {
			err := r.w.home()
			if err == nil {
				err = edit.SetSuspended(r.w.Source, config.Target{Agent: f.Agent, Rig: f.Rig}, f.On)
			}
			return effect.Edited{Edit: f, Err: err}
		})
	case effect.Emit:
		r.within(emitLimit, func(ctx context.Context) effect.Input { r.emit(ctx, f); return nil })
	case effect.Listen:
		if r.w.Door != nil {
			r.w.Door(f.Want)
		}
	case effect.Measure:
		r.within(measureLimit, r.measure)
	case effect.SaveHistories:
		r.within(keepLimit, func(context.Context) effect.Input {
			return effect.HistoriesSaved{Err: memory.WriteHistories(r.w.At, r.w.Dir, f.Memory)}
		})
	default:
		return false
	}
	return true
}

// atLeast is a limit for what concerns a session ("" = all), or more where that is held by a slow program.
func (r *Runner) atLeast(limit time.Duration, name string) time.Duration {
	if p, ok := r.w.Provider.(session.Patient); ok {
		return max(limit, p.Patience(name))
	}
	return limit
}

// list looks at reality. Who is late for that hands in an answer of its own; the others do not wait for it.
func (r *Runner) list(ctx context.Context, f effect.List) effect.Input {
	lost, away := r.held()
	if lost != nil {
		return effect.Lost{Err: lost}
	}
	r.Mu.Lock()
	news := r.away != away
	r.away = away
	r.Mu.Unlock()
	if news && away != "" {
		r.w.Logger.Warn("nothing is started until the city's folder is back", "reason", away)
	}
	if news {
		r.deliver(effect.FolderMoved{Why: away})
	}
	sessions, err := r.w.Provider.List(ctx)
	r.deliver(effect.Listed{Turn: f.Turn, Sessions: sessions, Past: r.inherit(ctx, f), Err: err})
	unknown, _ := effect.Partly(err)
	for name, err := range unknown {
		if late, ok := errors.AsType[*session.Late](err); ok {
			r.within(r.atLeast(listLimit, ""), func(ctx context.Context) effect.Input {
				in := effect.ListedLate{Turn: f.Turn, Provider: name}
				in.Sessions, in.Err = late.Rest(ctx)
				in.Past = r.inherit(ctx, effect.List{Inherit: f.Inherit})
				return in
			})
		}
	}
	return nil
}

// within runs work with a deadline and gives its result, unless nil, to the loop.
func (r *Runner) within(limit time.Duration, work func(context.Context) effect.Input) {
	r.wg.Go(func() {
		ctx, cancel := context.WithTimeout(r.ctx, limit)
		defer cancel()
		if in := work(ctx); in != nil {
			r.deliver(in)
		}
	})
}

func (r *Runner) deliver(in effect.Input) {
	if r.Between != nil && !r.Between(in) {
		return
	}
	select {
	case r.w.Inbox <- in:
	case <-r.closed:
	}
}

// launch runs a start that cut can end early.
func (r *Runner) launch(name string, ready session.Ready,
	work func(context.Context) effect.Started) {
	ctx, cancel := context.WithCancelCause(r.ctx)
	ctx, stop := context.WithTimeout(ctx, startLimit+ready.Delay+ready.Deadline)
	st := &starting{cancel: cancel, forked: make(chan struct{})}
	r.Mu.Lock()
	r.starts[name] = st
	r.Mu.Unlock()
	r.wg.Go(func() {
		in := work(ctx)
		in.Agent = name
		r.Mu.Lock()
		delete(r.starts, name)
		r.Mu.Unlock()
		st.done()
		stop()
		cancel(nil)
		r.deliver(in)
	})
}

// starting returns an agent's start in flight, nil if there is none.
func (r *Runner) starting(name string) *starting {
	r.Mu.Lock()
	defer r.Mu.Unlock()
	return r.starts[name]
}

func (r *Runner) cut(name string) {
	if st := r.starting(name); st != nil {
		st.cancel(nil)
	}
}

func (r *Runner) forked(name string) {
	if st := r.starting(name); st != nil {
		st.done()
	}
}

// yield waits until an agent's next life is born, or a moment: a new life comes before the last words of the old.
func (r *Runner) yield(ctx context.Context, name string) {
	st := r.starting(name)
	if st == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, captureYield)
	defer cancel()
	select {
	case <-st.forked:
	case <-ctx.Done():
	}
}

func (r *Runner) start(ctx context.Context, f effect.Start) (in effect.Started) {
	w := f.Want
	if in.Err = r.w.home(); in.Err != nil {
		return in
	}
	r.keepEnds(f.Ends)
	if f.Brief != nil {
		if err := writeBrief(f.Brief); err != nil {
			return effect.Started{Err: err}
		}
	}
	if w.MakeDir {
		if err := os.MkdirAll(w.Spec.Dir, 0o755); err != nil {
			return effect.Started{Err: fmt.Errorf("its working folder cannot be made: %w", err)}
		}
	}
	ctx = session.WithProgress(ctx, func(why string) {
		r.deliver(effect.Asking{Agent: w.Spec.Agent, Waits: why})
	})
	in.Status, in.Err = session.Launch(ctx, r.paced, w.Spawn(rand.Text()),
		func(s *session.Spec) (err error) {
			if in.Equipped, in.Troubles, err = r.equip(ctx, w); err != nil {
				return err
			}
			return r.tell(ctx, w, s)
		})
	return in
}

func (r *Runner) ack(ctx context.Context, f effect.Acknowledge) {
	r.forgetEnd(f.ID)
	p, ok := r.w.Provider.(session.Acknowledger)
	if !ok {
		return
	}
	r.yield(ctx, f.Agent)
	if err := p.Acknowledge(ctx, f.Session, f.ID); err != nil &&
		!errors.Is(err, session.ErrNotFound) {
		r.w.Logger.Warn("a recorded end cannot be acknowledged", "agent", f.Agent, "err", err)
	}
}

func (r *Runner) typeInto(ctx context.Context, f effect.Type) error {
	p := r.w.Provider
	switch c := f.Cmd.(type) {
	case city.Interrupt:
		return p.Interrupt(ctx, f.Session)
	case city.SendKeys:
		if k, ok := p.(session.Keyer); ok {
			return k.SendKeys(ctx, f.Session, c.Keys...)
		}
	case city.Clear:
		if k, ok := p.(session.Clearer); ok {
			return k.Clear(ctx, f.Session)
		}
	}
	return session.ErrUnsupported
}

func (r *Runner) load(f effect.Load) effect.Input {
	if err := r.w.home(); err != nil { // what is at the path is another city's
		return effect.Loaded{Revision: f.Known}
	}
	revision, err := r.w.Source.Revision()
	found := err == nil && revision == f.Known && r.found()
	if err == nil && !f.Force && !found && !isNew(f, revision) {
		return effect.Loaded{Revision: revision}
	}
	cfg, err := r.w.Source.Load()
	if cfg != nil && err == nil {
		revision = cfg.Revision
	}
	if r.w.Read != nil {
		good := cfg
		if err != nil {
			good = nil
		}
		r.w.Read(revision, good)
	}
	if err == nil {
		err = errors.Join(r.w.allowed(cfg), r.w.allow(cfg))
	}
	if err != nil {
		return effect.Loaded{Revision: revision, Err: err}
	}
	return effect.Loaded{Revision: cfg.Revision, Conf: r.w.Translate(cfg),
		Found: found && cfg.Revision == f.Known}
}

// isNew reports whether the revision on disk has to be loaded. The watch only tells that files changed, so the revision
// may be the one in force, or one that was refused. Without f.Now two looks in a row have to see the same revision.
func isNew(f effect.Load, revision string) bool {
	if revision == f.Known || revision == f.Refused {
		return false
	}
	return f.Now || revision == f.Sighted
}

// found reports whether a program has come that agents of the configuration in force could not be started without.
func (r *Runner) found() bool {
	c := r.w.InForce()
	if c == nil {
		return false
	}
	sought := map[string]bool{} // members of a pool lack the same
	for i := range c.Wants {
		l := &c.Wants[i].Lack
		if at := strings.Join(l.Programs, "\x00") + "\x00" + l.Path; !sought[at] {
			if sought[at] = true; l.Ended(r.w.Host) {
				return true
			}
		}
	}
	return false
}

// Finish ends what is still in flight: after a moment, in which a start or an acknowledgement may come to its own
// end. What has to be taken back then has what is left of the last words. When agents are left, a launch whose
// session exists is left too, for the successor to carry on.
func (r *Runner) Finish(leave bool) {
	r.wind(leave)
	t := time.AfterFunc(leaveLimit, r.Cancel)
	r.wg.Wait()
	t.Stop()
	r.Cancel()
}
