package controller

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
	"gcity/internal/lastwords"
	"gcity/internal/mishap"
	"gcity/session"
)

// How long an effect may take, where nothing else says so.
const (
	listLimit    = 10 * time.Second
	loadLimit    = 10 * time.Second
	typeLimit    = 10 * time.Second
	captureLimit = 2 * time.Second
	captureYield = 250 * time.Millisecond
	keepLimit    = 10 * time.Second
	ackLimit     = 2 * time.Second
	stopMargin   = 5 * time.Second  // beyond the agent's grace
	startLimit   = 10 * time.Minute // pre_start may install things; readiness has its own deadline
	leaveLimit   = Farewell / 3     // for what is in flight when the controller ends and leaves its agents
)

// runner carries effects out, each in a goroutine of its own with a deadline, and turns their results into inputs.
type runner struct {
	c       *Controller
	ctx     context.Context // of all effects; outlives the caller's
	cancel  context.CancelFunc
	wg      mishap.Group
	closed  chan struct{} // closed when results are of no more interest
	paced   *paced
	shop    workshop
	live    outputs // of runs
	guards  *guard.Guards
	checks  chan struct{} // one place for each check that may run at once
	folders turns         // of starts, in the folders that they fill
	draws   chan struct{} // held while last words are drawn: one at a time, starts need the processors more

	// between is nil but in tests, where it stands between the machine and the world: each effect before it begins, and each
	// result before it is handed in, goes on only if it says so. It is called from any goroutine.
	between func(step any) bool

	mu     sync.Mutex
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

func newRunner(c *Controller) *runner {
	ctx, cancel := context.WithCancel(lastwords.In(context.Background(), c.o.Last))
	r := &runner{
		c: c, ctx: ctx, cancel: cancel, closed: make(chan struct{}),
		shop:   newWorkshop(ctx),
		checks: make(chan struct{}, checksAtOnce),
		draws:  make(chan struct{}, 1),
		wg:     mishap.Group{Tell: c.broke},
		starts: map[string]*starting{},
	}
	r.guards = guard.New(func(now guard.Report) { r.deliver(inStores{now}) })
	r.guards.Took = c.gauges.called
	r.paced = &paced{Provider: c.o.Provider, slots: make(chan struct{}, 2*runtime.GOMAXPROCS(0)), forked: r.forked, answered: r.answered, asks: r.asks}
	return r
}

// run begins an effect. Only the loop calls it.
func (r *runner) run(f effect) {
	if r.between != nil && !r.between(f) {
		return
	}
	switch f := f.(type) {
	case fxCancel:
		r.cut(f.agent)
	case fxStart:
		r.launch(f.want.Name, f.want.Spec.Ready, func(ctx context.Context) inStarted { return r.start(ctx, f) })
	case fxResume:
		r.launch(f.want.Name, f.want.Spec.Ready, func(ctx context.Context) inStarted {
			s, in := f.want.Spawn(f.status.ID), inStarted{status: f.status}
			if err := r.tell(ctx, f.want, &s); err != nil { // it lives, and has been told what is no text to be typed
				in.troubles = append(in.troubles, err.Error())
			}
			in.err = session.Settle(ctx, r.paced, s)
			return in
		})
	case fxStop:
		r.within(f.grace+r.atLeast(stopMargin, f.session), func(ctx context.Context) input {
			return inStopped{agent: f.agent, err: r.c.o.Provider.Stop(ctx, f.session, f.grace)}
		})
	case fxKill:
		r.within(r.atLeast(stopMargin, f.session), func(ctx context.Context) input {
			if err := r.c.o.Provider.Stop(ctx, f.session, 0); err != nil {
				r.c.o.Logger.Warn("a session cannot be killed", "agent", f.agent, "err", err)
			}
			return nil
		})
	case fxVet:
		r.within(session.CheckLimit, func(ctx context.Context) input { return r.vet(ctx, f) })
	case fxCheck:
		r.check(f)
	case fxMark:
		r.within(r.atLeast(typeLimit, f.session), func(ctx context.Context) input { return r.mark(ctx, f) })
	case fxScale:
		r.within(loadLimit, func(context.Context) input { return r.scale(f) })
	case fxList:
		r.within(r.atLeast(listLimit, ""), func(ctx context.Context) input {
			defer func(began time.Time) { r.c.gauges.patrolled(time.Since(began)) }(time.Now())
			return r.list(ctx, f)
		})
	case fxCapture:
		r.within(captureLimit, func(ctx context.Context) input { return r.capture(ctx, f) })
	case fxAck:
		r.within(ackLimit, func(ctx context.Context) input { r.ack(ctx, f); return nil })
	case fxType:
		r.within(r.atLeast(typeLimit, f.session), func(ctx context.Context) input { return inTyped{agent: f.agent, err: r.typeInto(ctx, f)} })
	case fxSend:
		r.within(r.atLeast(typeLimit, f.session), func(ctx context.Context) input { return r.send(ctx, f) })
	case fxLoad:
		r.within(loadLimit, func(context.Context) input { return r.load(f) })
	case fxEdit:
		r.within(loadLimit, func(context.Context) input {
			err := r.home()
			if err == nil {
				err = edit.SetSuspended(r.c.o.source(), config.Target{Agent: f.agent, Rig: f.rig}, f.on)
			}
			return inEdited{edit: f, err: err}
		})
	case fxEmit:
		r.within(emitLimit, func(ctx context.Context) input { r.emit(ctx, f); return nil })
	case fxDoor:
		if r.c.o.Door != nil {
			r.c.o.Door(f.want)
		}
	case fxMeasure:
		r.within(measureLimit, r.measure)
	case fxRemember:
		r.within(keepLimit, func(context.Context) input { return inRemembered{writeMemory(&r.c.o, f.memory)} })
	default:
		if r.runWork(f) || r.runTier(f) {
			return
		}
		panic(fmt.Sprintf("controller: no way to carry out %T", f))
	}
}

// atLeast is a limit for what concerns a session ("" = all), or more where that is held by a slow program.
func (r *runner) atLeast(limit time.Duration, name string) time.Duration {
	if p, ok := r.c.o.Provider.(session.Patient); ok {
		return max(limit, p.Patience(name))
	}
	return limit
}

// list looks at reality. Who is late for that hands in an answer of its own; the others do not wait for it.
func (r *runner) list(ctx context.Context, f fxList) input {
	lost, away := r.held()
	if lost != nil {
		return inLost{lost}
	}
	r.mu.Lock()
	news := r.away != away
	r.away = away
	r.mu.Unlock()
	if news && away != "" {
		r.c.o.Logger.Warn("nothing is started until the city's folder is back", "reason", away)
	}
	if news {
		r.deliver(inAway{away})
	}
	sessions, err := r.c.o.Provider.List(ctx)
	r.deliver(inObserved{turn: f.turn, sessions: sessions, past: r.inherit(ctx, f), err: err})
	unknown, _ := partly(err)
	for name, err := range unknown {
		if late, ok := errors.AsType[*session.Late](err); ok {
			r.within(r.atLeast(listLimit, ""), func(ctx context.Context) input {
				in := inCaughtUp{turn: f.turn, provider: name}
				in.sessions, in.err = late.Rest(ctx)
				in.past = r.inherit(ctx, fxList{inherit: f.inherit})
				return in
			})
		}
	}
	return nil
}

// within runs work with a deadline and gives its result, unless nil, to the loop.
func (r *runner) within(limit time.Duration, work func(context.Context) input) {
	r.wg.Go(func() {
		ctx, cancel := context.WithTimeout(r.ctx, limit)
		defer cancel()
		if in := work(ctx); in != nil {
			r.deliver(in)
		}
	})
}

func (r *runner) deliver(in input) {
	if r.between != nil && !r.between(in) {
		return
	}
	select {
	case r.c.inbox <- in:
	case <-r.closed:
	}
}

// launch runs a start that cut can end early.
func (r *runner) launch(name string, ready session.Ready, work func(context.Context) inStarted) {
	ctx, cancel := context.WithCancelCause(r.ctx)
	ctx, stop := context.WithTimeout(ctx, startLimit+ready.Delay+ready.Deadline)
	st := &starting{cancel: cancel, forked: make(chan struct{})}
	r.mu.Lock()
	r.starts[name] = st
	r.mu.Unlock()
	r.wg.Go(func() {
		in := work(ctx)
		in.agent = name
		r.mu.Lock()
		delete(r.starts, name)
		r.mu.Unlock()
		st.done()
		stop()
		cancel(nil)
		r.deliver(in)
	})
}

// starting returns an agent's start in flight, nil if there is none.
func (r *runner) starting(name string) *starting {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.starts[name]
}

func (r *runner) cut(name string) {
	if st := r.starting(name); st != nil {
		st.cancel(nil)
	}
}

func (r *runner) forked(name string) {
	if st := r.starting(name); st != nil {
		st.done()
	}
}

// yield waits until an agent's next life is born, or a moment: a new life comes before the last words of the old.
func (r *runner) yield(ctx context.Context, name string) {
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

func (r *runner) start(ctx context.Context, f fxStart) (in inStarted) {
	w := f.want
	if in.err = r.home(); in.err != nil {
		return in
	}
	r.keepEnds(f.ends)
	if f.brief != nil {
		if err := f.brief.write(); err != nil {
			return inStarted{err: err}
		}
	}
	if w.MakeDir {
		if err := os.MkdirAll(w.Spec.Dir, 0o755); err != nil {
			return inStarted{err: fmt.Errorf("its working folder cannot be made: %w", err)}
		}
	}
	in.status, in.err = session.Launch(ctx, r.paced, w.Spawn(rand.Text()), func(s *session.Spec) (err error) {
		if in.equipped, in.troubles, err = r.equip(ctx, w); err != nil {
			return err
		}
		return r.tell(ctx, w, s)
	})
	return in
}

func (r *runner) ack(ctx context.Context, f fxAck) {
	r.forgetEnd(f.id)
	p, ok := r.c.o.Provider.(session.Acknowledger)
	if !ok {
		return
	}
	r.yield(ctx, f.agent)
	if err := p.Acknowledge(ctx, f.session, f.id); err != nil && !errors.Is(err, session.ErrNotFound) {
		r.c.o.Logger.Warn("a recorded end cannot be acknowledged", "agent", f.agent, "err", err)
	}
}

func (r *runner) typeInto(ctx context.Context, f fxType) error {
	p := r.c.o.Provider
	switch c := f.cmd.(type) {
	case city.Interrupt:
		return p.Interrupt(ctx, f.session)
	case city.SendKeys:
		if k, ok := p.(session.Keyer); ok {
			return k.SendKeys(ctx, f.session, c.Keys...)
		}
	case city.Clear:
		if k, ok := p.(session.Clearer); ok {
			return k.Clear(ctx, f.session)
		}
	}
	return session.ErrUnsupported
}

// source is where the configuration is read from.
func (o *Options) source() config.Source {
	return config.Source{Dir: o.Dir, Files: o.Files, Strict: o.Strict, Environ: o.Host.Environ}
}

func (r *runner) load(f fxLoad) input {
	if err := r.home(); err != nil { // what is at the path is another city's
		return inConfig{revision: f.known}
	}
	revision, err := r.c.o.source().Revision()
	found := err == nil && revision == f.known && r.found()
	if err == nil && !f.force && !found && (revision == f.known || revision == f.refused || !f.now && revision != f.sighted) {
		return inConfig{revision: revision}
	}
	cfg, err := r.c.o.source().Load()
	if cfg != nil && err == nil {
		revision = cfg.Revision
	}
	if r.c.o.Read != nil {
		good := cfg
		if err != nil {
			good = nil
		}
		r.c.o.Read(revision, good)
	}
	if err == nil {
		err = errors.Join(r.allowed(cfg), r.allow(cfg))
	}
	if err != nil {
		return inConfig{revision: revision, err: err}
	}
	return inConfig{revision: cfg.Revision, conf: r.c.translate(cfg), found: found && cfg.Revision == f.known}
}

// found reports whether a program has come that agents of the configuration in force could not be started without.
func (r *runner) found() bool {
	c := r.c.force.Load()
	if c == nil {
		return false
	}
	sought := map[string]bool{} // members of a pool lack the same
	for i := range c.wants {
		l := &c.wants[i].Lack
		if at := strings.Join(l.Programs, "\x00") + "\x00" + l.Path; !sought[at] {
			if sought[at] = true; l.Ended(r.c.o.Host) {
				return true
			}
		}
	}
	return false
}

// finish ends what is still in flight: after a moment, in which a start or an acknowledgement may come to its own end. What
// has to be taken back then has what is left of the last words.
// When agents are left, a launch whose session exists is left too, for the successor to carry on.
func (r *runner) finish(leave bool) {
	r.wind(leave)
	t := time.AfterFunc(leaveLimit, r.cancel)
	r.wg.Wait()
	t.Stop()
	r.cancel()
}
