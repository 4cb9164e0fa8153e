// Package perform executes the effects that a city's machine requests. Each effect runs in its own goroutine with a
// deadline. Its result is returned to the loop as an input.
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
	"sync/atomic"
	"time"

	"gcity/agent"
	"gcity/beads/guard"
	"gcity/city"
	"gcity/config"
	"gcity/config/edit"
	"gcity/controller/effect"
	"gcity/controller/memory"
	"gcity/controller/preflight"
	"gcity/internal/deadline"
	"gcity/internal/recovery"
	"gcity/internal/shutdown"
	"gcity/session"
)

const (
	listLimit    = 10 * time.Second
	loadLimit    = 10 * time.Second
	typeLimit    = 15 * time.Second // a provider may wait 10 s for a busy program
	captureYield = 250 * time.Millisecond
	keepLimit    = 10 * time.Second
	ackLimit     = 2 * time.Second
	stopMargin   = 5 * time.Second // added to the agent's grace period
	// pre_start may install software
	startLimit = 10 * time.Minute
	// for effects in flight when agents are left running
	leaveLimit = effect.ShutdownLimit / 3
)

// Runner executes effects, each in its own goroutine with a deadline.
type Runner struct {
	*base
	Cancel      context.CancelFunc
	Sessions    *sessions
	automations *automations
	work        *workRunner
	checks      chan struct{} // for checks of pools and conditions
}

type sessions struct {
	*base
	provider *limitedProvider
	folders  folderTurns
	copies   chan struct{} // slots for starts that prepare their folders
	// time in which an overlay must be copied
	copyLimit time.Duration
	// one at a time, which leaves CPU time for starts
	draws   chan struct{}
	checker *preflight.Checker

	Mu     sync.Mutex
	starts map[string]*starting
	// slots for reading screens, by provider, so that a provider that hangs does not delay the others
	screens map[string]chan struct{}
	// why the city's folder is not at its path
	folderMoved string
	removed     atomic.Bool // stopIfRemoved is checking the folder, or has stopped the city
}

type automations struct {
	*base
	state automationState
}

type workRunner struct {
	*base
	au    *automations
	tally tally
}

type base struct {
	w World
	// parent of the effects' contexts; it outlives the caller's context
	ctx    context.Context
	wg     recovery.Group
	closed chan struct{} // closed when results are no longer needed
	Stores *Stores
	Live   outputs
	looks  *deadline.Calls[any]

	// Intercept is nil except in tests. It can be called concurrently. If it returns false, the effect or result is
	// dropped.
	Intercept func(step any) bool
}

type starting struct {
	cancel context.CancelCauseFunc
	forked chan struct{}
	once   sync.Once
}

func (s *starting) done() { s.once.Do(func() { close(s.forked) }) }

// New returns a Runner that acts on w.
func New(w World) *Runner {
	ctx, cancel := context.WithCancel(shutdown.NewContext(context.Background(), w.ShutdownDeadline))
	b := &base{w: w, ctx: ctx, closed: make(chan struct{}),
		wg: recovery.Group{OnPanic: w.OnPanic}, looks: deadline.New[any](maxHung)}
	guards := guard.New(func(now guard.Report) { b.deliver(effect.StoresReported{Report: now}) })
	if w.Called != nil {
		guards.Took = w.Called
	}
	b.Stores = &Stores{open: w.Stores, checkFolder: b.w.checkFolder, snapshot: w.Snapshot,
		guards: guards}
	sr := &sessions{base: b, draws: make(chan struct{}, 1), copies: make(chan struct{}, maxCopies),
		screens:   map[string]chan struct{}{},
		copyLimit: copyLimit,
		starts:    map[string]*starting{},
		checker:   preflight.New(w.Provider)}
	sr.provider = &limitedProvider{Provider: w.Provider, sessions: sr,
		slots: make(chan struct{}, 2*runtime.GOMAXPROCS(0))}
	au := &automations{base: b, state: newAutomationState(ctx)}
	return &Runner{base: b, Cancel: cancel, Sessions: sr, automations: au,
		work: &workRunner{base: b, au: au}, checks: make(chan struct{}, checksAtOnce)}
}

// Run starts an effect. Only the loop may call it.
func (r *Runner) Run(f effect.Effect) {
	if r.Intercept != nil && !r.Intercept(f) {
		return
	}
	if r.Sessions.run(f) || r.runCity(f) || r.automations.run(f) || r.work.run(f) ||
		r.runTier(f) {
		return
	}
	panic(fmt.Sprintf("controller: unknown effect %T", f))
}

func (sr *sessions) run(f effect.Effect) (ok bool) {
	switch f := f.(type) {
	case effect.Cancel:
		sr.cancelStart(f.Agent)
	case effect.Start:
		sr.launch(f.Want, func(ctx context.Context) effect.Started {
			return sr.start(ctx, f)
		})
	case effect.Resume:
		sr.launch(f.Want, func(ctx context.Context) effect.Started {
			s, in := f.Want.Spawn(f.Status.ID), effect.Started{Status: f.Status}
			// only a typed prompt has an effect, because the program is already running
			if err := sr.addPrompt(ctx, f.Want, &s); err != nil {
				in.CopyProblems = append(in.CopyProblems, err.Error())
			}
			problem, err := session.Settle(sr.withProgress(ctx, s.Agent), sr.provider, s)
			if in.Err = err; problem != "" {
				in.CopyProblems = append(in.CopyProblems, problem)
			}
			return in
		})
	case effect.Stop:
		sr.within(f.Grace+sr.atLeast(stopMargin, f.Session),
			func(ctx context.Context) effect.Input {
				err := sr.stop(session.WithForce(ctx, f.Force), f.Agent, f.Session, f.Grace)
				return effect.Stopped{Agent: f.Agent, Err: err}
			})
	case effect.Kill:
		sr.within(sr.atLeast(stopMargin, f.Session), func(ctx context.Context) effect.Input {
			ctx = session.WithForce(ctx, f.Force)
			if err := sr.stop(ctx, f.Agent, f.Session, 0); err != nil {
				sr.w.Logger.Warn("cannot kill a session", "agent", f.Agent, "err", err)
			}
			return nil
		})
	case effect.CheckProvider:
		start(sr.base, session.CheckLimit, f, sr.checkProvider)
	case effect.CheckStart:
		sr.within(session.CheckLimit, func(ctx context.Context) effect.Input {
			return effect.StartChecked{Agent: f.Want.Name, Err: sr.checkStart(ctx, f.Want)}
		})
	case effect.MarkDrain:
		start(sr.base, sr.atLeast(typeLimit, f.Session), f, sr.mark)
	case effect.Capture:
		start(sr.base, effect.CaptureLimit, f, sr.capture)
	case effect.Acknowledge:
		sr.within(ackLimit, func(ctx context.Context) effect.Input { sr.ack(ctx, f); return nil })
	case effect.Type:
		sr.within(sr.atLeast(typeLimit, f.Session), func(ctx context.Context) effect.Input {
			return effect.Typed{Agent: f.Agent,
				Err: session.ForAgent(sr.typeInto(ctx, f), f.Session, f.Agent)}
		})
	case effect.Send:
		start(sr.base, sr.atLeast(typeLimit, f.Session), f, sr.send)
	default:
		return false
	}
	return true
}

func (r *Runner) runCity(f effect.Effect) (ok bool) {
	switch f := f.(type) {
	case effect.CheckPool:
		r.check(f)
	case effect.Scale:
		r.within(loadLimit, func(context.Context) effect.Input { return r.scale(f) })
	case effect.List:
		r.within(r.atLeast(listLimit, ""), func(ctx context.Context) effect.Input {
			defer func(began time.Time) { r.w.Patrolled(time.Since(began)) }(time.Now())
			return r.Sessions.list(ctx, f)
		})
	case effect.Load:
		r.within(loadLimit, func(context.Context) effect.Input { return r.load(f) })
	case effect.Edit:
		r.within(loadLimit, func(context.Context) effect.Input {
			err := r.w.checkFolder()
			if err == nil {
				target := config.Target{Agent: f.Agent, Rig: f.Rig}
				err = edit.SetSuspended(r.w.Source(), target, f.On)
			}
			return effect.Edited{Edit: f, Err: editError(f, err)}
		})
	case effect.Emit:
		r.within(emitLimit, func(ctx context.Context) effect.Input { r.emit(ctx, f); return nil })
	case effect.Listen:
		if r.w.SetListener != nil {
			r.w.SetListener(f.Want)
		}
	case effect.ReadScreen:
		r.wg.Go(func() { r.Sessions.readScreen(f) })
	case effect.Measure:
		r.within(measureLimit, r.Sessions.measure)
	case effect.SaveHistories:
		r.within(keepLimit, func(context.Context) effect.Input {
			err := memory.WriteHistories(r.w.At, r.w.Dir, f.Memory, false)
			return effect.HistoriesSaved{Err: err}
		})
	default:
		return false
	}
	return true
}

// atLeast returns a longer timeout for a slow provider. The name "" means all sessions.
func (b *base) atLeast(limit time.Duration, name string) time.Duration {
	if p, ok := b.w.Provider.(session.Patient); ok {
		return max(limit, p.Patience(name))
	}
	return limit
}

// list delivers the sessions. Those of a slow provider follow in a ListedLate.
func (sr *sessions) list(ctx context.Context, f effect.List) effect.Input {
	lost, away := sr.checkOwner()
	if lost != nil {
		return effect.OwnershipLost{Err: lost}
	}
	sr.Mu.Lock()
	news := sr.folderMoved != away
	sr.folderMoved = away
	sr.Mu.Unlock()
	if news && away != "" {
		sr.w.Logger.Warn("agents do not start because the city's folder is not at its path",
			"reason", away)
	}
	if news {
		sr.deliver(effect.FolderMoved{Why: away})
	}
	sessions, err := sr.w.Provider.List(ctx)
	sr.deliver(effect.Listed{Step: f.Step, Sessions: sessions, Past: sr.inherit(ctx, f), Err: err})
	unknown, _ := effect.FailedProviders(err)
	for name, err := range unknown {
		if late, ok := errors.AsType[*session.LateError](err); ok {
			sr.within(sr.atLeast(listLimit, ""), func(ctx context.Context) effect.Input {
				in := effect.ListedLate{Step: f.Step, Provider: name}
				in.Sessions, in.Err = late.Result(ctx)
				in.Past = sr.inherit(ctx, effect.List{Inherit: f.Inherit})
				return in
			})
		}
	}
	return nil
}

func (b *base) within(limit time.Duration, f func(context.Context) effect.Input) {
	b.wg.Go(func() {
		ctx, cancel := context.WithTimeout(b.ctx, limit)
		defer cancel()
		if in := f(ctx); in != nil {
			b.deliver(in)
		}
	})
}

// start carries out an effect in the background and delivers the result.
func start[E effect.Effect](b *base, limit time.Duration, f E,
	do func(context.Context, E) effect.Input) {
	b.within(limit, func(ctx context.Context) effect.Input { return do(ctx, f) })
}

func (b *base) deliver(in effect.Input) {
	if b.Intercept != nil && !b.Intercept(in) {
		return
	}
	select {
	case b.w.Inbox <- in:
		return
	case <-b.closed:
	}
	switch in.(type) {
	case effect.BeadChanged, effect.WorkReturned, effect.Escalated:
		// the change was made, so it is recorded after Finish
		select {
		case b.w.Inbox <- in:
		default:
		}
	}
}

func (sr *sessions) launch(w *agent.Want, work func(context.Context) effect.Started) {
	name := w.Name
	ctx, cancel := context.WithCancelCause(sr.ctx)
	ctx, stop := context.WithTimeout(ctx, startLimit+w.Spec.Ready.Delay+w.Spec.LastDeadline())
	st := &starting{cancel: cancel, forked: make(chan struct{})}
	sr.Mu.Lock()
	sr.starts[name] = st
	sr.Mu.Unlock()
	sr.wg.Go(func() {
		in := work(ctx)
		in.Agent, in.Err = name, session.ForAgent(in.Err, w.Spec.Name, name)
		sr.Mu.Lock()
		delete(sr.starts, name)
		sr.Mu.Unlock()
		st.done()
		stop()
		cancel(nil)
		sr.deliver(in)
	})
}

func (sr *sessions) withProgress(ctx context.Context, name string) context.Context {
	return session.WithProgress(ctx, func(why string) {
		sr.deliver(effect.StartProgress{Agent: name, Waits: why})
	})
}

func (sr *sessions) starting(name string) *starting {
	sr.Mu.Lock()
	defer sr.Mu.Unlock()
	return sr.starts[name]
}

func (sr *sessions) cancelStart(name string) {
	if st := sr.starting(name); st != nil {
		st.cancel(nil)
	}
}

func (sr *sessions) startForked(name string) {
	if st := sr.starting(name); st != nil {
		st.done()
	}
}

// A start is more urgent than saving the last output.
func (sr *sessions) awaitStart(ctx context.Context, agent, name string) {
	st := sr.starting(agent)
	if st == nil || sr.atLeast(0, name) > 0 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, captureYield)
	defer cancel()
	select {
	case <-st.forked:
	case <-ctx.Done():
	}
}

func (sr *sessions) start(ctx context.Context, f effect.Start) (in effect.Started) {
	w := f.Want
	if in.Err = sr.checkStart(ctx, w); in.Err != nil {
		return in
	}
	sr.keepEnds(f.Ends)
	if f.Brief != nil {
		if err := writeBrief(f.Brief); err != nil {
			return effect.Started{Err: err}
		}
	}
	if w.MakeDir {
		if err := os.MkdirAll(w.Spec.Dir, 0o755); err != nil {
			return effect.Started{Err: fmt.Errorf("cannot create the working folder: %w", err)}
		}
	}
	ctx = sr.withProgress(ctx, w.Spec.Agent)
	in.Status, in.Err = session.Launch(ctx, sr.provider, w.Spawn(rand.Text()),
		func(s *session.Spec) (err error) {
			if in.Copied, in.CopyProblems, err = sr.prepareFolder(ctx, w); err != nil {
				return err
			}
			return sr.addPrompt(ctx, w, s)
		})
	return in
}

func (sr *sessions) checkStart(ctx context.Context, w *agent.Want) error {
	if err := sr.w.checkFolder(); err != nil {
		return err
	}
	if err := sr.mayRun(ctx, "agent "+w.Declared); err != nil {
		return session.Missing(err)
	}
	return sr.checker.Check(ctx, w)
}

func (sr *sessions) stop(ctx context.Context, agent, name string, grace time.Duration) error {
	return session.ForAgent(sr.w.Provider.Stop(ctx, name, grace), name, agent)
}

func (sr *sessions) ack(ctx context.Context, f effect.Acknowledge) {
	sr.forgetEnd(f.ID)
	p, ok := sr.w.Provider.(session.Acknowledger)
	if !ok {
		return
	}
	sr.awaitStart(ctx, f.Agent, f.Session)
	if err := p.Acknowledge(ctx, f.Session, f.ID); err != nil &&
		!errors.Is(err, session.ErrNotFound) {
		sr.w.Logger.Warn("cannot acknowledge a recorded exit", "agent", f.Agent, "err", err)
	}
}

func (sr *sessions) typeInto(ctx context.Context, f effect.Type) error {
	p := sr.w.Provider
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
	// a different city may be at the path
	if err := r.w.checkFolder(); err != nil {
		r.Sessions.stopIfRemoved(err)
		return effect.Loaded{Away: err}
	}
	revision, err := r.w.Source().Revision()
	found := err == nil && revision == f.Known && r.Sessions.programFound()
	if err == nil && !f.Force && !found && !isNew(f, revision) {
		if now := r.w.InForce(); r.w.ExtendTrust != nil && now != nil && revision == f.Known {
			err = r.w.ExtendTrust(now.Source)
		}
		return effect.Loaded{Revision: revision, Err: err}
	}
	cfg, err := r.w.Source().Load()
	if cfg != nil && err == nil {
		revision = cfg.Revision
	}
	if r.w.OnConfigRead != nil {
		good := cfg
		if err != nil {
			good = nil
		}
		r.w.OnConfigRead(revision, good)
	}
	if err == nil {
		var inForce *config.City
		if now := r.w.InForce(); now != nil {
			inForce = now.Source
		}
		err = errors.Join(r.w.checkTrust(cfg, inForce), r.w.allow(cfg))
	}
	if err != nil {
		return effect.Loaded{Revision: revision, Err: err}
	}
	return effect.Loaded{Revision: cfg.Revision, Conf: r.w.Translate(cfg),
		ProgramFound: found && cfg.Revision == f.Known}
}

// Unless f.Now is set, two consecutive checks must see the same new revision.
func isNew(f effect.Load, revision string) bool {
	if revision == f.Known || revision == f.HeldRevision {
		return false
	}
	return f.Now || revision == f.SeenAtPatrol
}

func (sr *sessions) programFound() bool {
	c := sr.w.InForce()
	if c == nil {
		return false
	}
	sought := map[string]bool{}
	for i := range c.Wants {
		l := &c.Wants[i].MissingPrograms
		if at := strings.Join(l.Programs, "\x00") + "\x00" + l.Path; !sought[at] {
			if sought[at] = true; l.Installed(sr.w.Host) {
				return true
			}
		}
	}
	return false
}

// Finish ends the effects in flight. Starts and acknowledgements get a moment to complete. Canceled starts may clean up
// until the shutdown deadline. Effects that do not end, for example in a hung folder, are then abandoned. With leave,
// started sessions are left to the next controller. Afterwards, the inbox contains the results of changes to work.
func (r *Runner) Finish(leave bool) {
	r.stopAccepting(leave)
	t := time.AfterFunc(leaveLimit, r.Cancel)
	if last := r.w.ShutdownDeadline; !r.wg.WaitFor(last.Limit()) {
		last.GiveUp("operations that are blocked by a program or a folder that does not respond")
	}
	t.Stop()
	r.Cancel()
}

// Abandon is used instead of Finish after the controller has crashed. It waits at most BreakLimit.
func (r *Runner) Abandon() {
	r.stopAccepting(true)
	defer time.AfterFunc(leaveLimit, r.Cancel).Stop()
	defer r.Cancel()
	if !r.wg.WaitFor(BreakLimit) {
		r.w.Logger.Error("some operations of the crashed controller have not ended")
	}
}

func (r *Runner) stopAccepting(leave bool) {
	r.w.ShutdownDeadline.Begin()
	close(r.closed)
	r.automations.state.endRuns(errStopped)
	if r.automations.state.follow != nil {
		r.automations.state.follow()
	}
	if leave {
		r.Sessions.leave()
	}
}

func (sr *sessions) leave() {
	sr.Mu.Lock()
	defer sr.Mu.Unlock()
	for _, st := range sr.starts {
		select {
		case <-st.forked:
			st.cancel(session.ErrLeave)
		default:
		}
	}
}

// BreakLimit is how long Abandon waits for effects in flight.
const BreakLimit = 10 * time.Second

// Another process may hold the log's lock.
const emitLimit = 5 * time.Second

// emit rejects an event that cannot be written instead of queuing it, because the queue would not survive the
// controller.
func (r *Runner) emit(ctx context.Context, f effect.Emit) {
	f.Event.TS = time.Now()
	a := effect.Reply{ID: f.ID}
	seq, err := r.w.Log.AppendNow(ctx, f.Event, city.RoomOf(&f.Event))
	if err != nil {
		a.Err = city.Errorf(city.Unavailable, "%v", err)
	} else {
		a.Receipt = city.Receipt{Seq: seq, Message: "emitted " + f.Event.Type}
	}
	r.w.Reply(a)
}
