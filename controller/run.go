package controller

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"runtime"
	"sync"
	"time"

	"gcity/agent"
	"gcity/city"
	"gcity/config"
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
	leaveLimit   = 3 * time.Second  // for what is in flight when the controller ends and leaves its agents
)

// runner carries effects out, each in a goroutine of its own with a deadline, and turns their results into inputs.
type runner struct {
	c      *Controller
	ctx    context.Context // of all effects; outlives the caller's
	cancel context.CancelFunc
	wg     sync.WaitGroup
	closed chan struct{} // closed when results are of no more interest
	paced  *paced
	shop   workshop
	checks chan struct{} // one place for each check that may run at once
	draws  chan struct{} // held while last words are drawn: one at a time, starts need the processors more

	mu     sync.Mutex
	starts map[string]*starting // by agent
}

// starting is a start in flight.
type starting struct {
	cancel context.CancelCauseFunc
	forked chan struct{} // closed when the provider has done its part
	once   sync.Once
}

func (s *starting) done() { s.once.Do(func() { close(s.forked) }) }

func newRunner(c *Controller) *runner {
	ctx, cancel := context.WithCancel(context.Background())
	r := &runner{
		c: c, ctx: ctx, cancel: cancel, closed: make(chan struct{}),
		shop:   newWorkshop(ctx),
		checks: make(chan struct{}, checksAtOnce),
		draws:  make(chan struct{}, 1),
		starts: map[string]*starting{},
	}
	r.paced = &paced{Provider: c.o.Provider, slots: make(chan struct{}, 2*runtime.GOMAXPROCS(0)), forked: r.forked}
	return r
}

// run begins an effect. Only the loop calls it.
func (r *runner) run(f effect) {
	switch f := f.(type) {
	case fxCancel:
		r.cut(f.agent)
	case fxStart:
		r.launch(f.want.Name, f.want.Spec.Ready, func(ctx context.Context) (session.Status, error) { return r.start(ctx, f.want) })
	case fxResume:
		r.launch(f.want.Name, f.want.Spec.Ready, func(ctx context.Context) (session.Status, error) {
			err := session.Settle(ctx, r.c.o.Provider, f.want.Spawn(f.status.ID))
			return f.status, err
		})
	case fxStop:
		r.within(f.grace+stopMargin, func(ctx context.Context) input {
			return inStopped{agent: f.agent, err: r.c.o.Provider.Stop(ctx, f.session, f.grace)}
		})
	case fxKill:
		r.within(stopMargin, func(ctx context.Context) input {
			if err := r.c.o.Provider.Stop(ctx, f.session, 0); err != nil {
				r.c.o.Logger.Warn("a session cannot be killed", "agent", f.agent, "err", err)
			}
			return nil
		})
	case fxCheck:
		r.check(f)
	case fxMark:
		r.within(typeLimit, func(ctx context.Context) input { return r.mark(ctx, f) })
	case fxScale:
		r.within(loadLimit, func(context.Context) input { return r.scale(f) })
	case fxList:
		r.within(listLimit, func(ctx context.Context) input {
			if err := r.held(); err != nil {
				return inLost{err}
			}
			sessions, err := r.c.o.Provider.List(ctx)
			return inObserved{turn: f.turn, sessions: sessions, err: err}
		})
	case fxCapture:
		r.within(captureLimit, func(ctx context.Context) input { return r.capture(ctx, f) })
	case fxAck:
		r.within(ackLimit, func(ctx context.Context) input { r.ack(ctx, f); return nil })
	case fxType:
		r.within(typeLimit, func(ctx context.Context) input { return inTyped{agent: f.agent, err: r.typeInto(ctx, f)} })
	case fxLoad:
		r.within(loadLimit, func(context.Context) input { return r.load(f) })
	case fxEdit:
		r.within(loadLimit, func(context.Context) input {
			return inEdited{edit: f, err: config.SetSuspended(r.c.o.Dir, config.Target{Agent: f.agent, Rig: f.rig}, f.on)}
		})
	case fxMeasure:
		r.within(measureLimit, r.measure)
	case fxRemember:
		r.within(keepLimit, func(context.Context) input { return inRemembered{writeMemory(r.c.o.Dir, f.memory)} })
	default:
		if r.runWork(f) {
			return
		}
		panic(fmt.Sprintf("controller: no way to carry out %T", f))
	}
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
	select {
	case r.c.inbox <- in:
	case <-r.closed:
	}
}

// launch runs a start that cut can end early.
func (r *runner) launch(name string, ready session.Ready, work func(context.Context) (session.Status, error)) {
	ctx, cancel := context.WithCancelCause(r.ctx)
	ctx, stop := context.WithTimeout(ctx, startLimit+ready.Delay+ready.Deadline)
	st := &starting{cancel: cancel, forked: make(chan struct{})}
	r.mu.Lock()
	r.starts[name] = st
	r.mu.Unlock()
	r.wg.Go(func() {
		status, err := work(ctx)
		r.mu.Lock()
		delete(r.starts, name)
		r.mu.Unlock()
		st.done()
		stop()
		cancel(nil)
		r.deliver(inStarted{agent: name, status: status, err: err})
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

func (r *runner) start(ctx context.Context, w *agent.Want) (session.Status, error) {
	if w.MakeDir {
		if err := os.MkdirAll(w.Spec.Dir, 0o755); err != nil {
			return session.Status{}, fmt.Errorf("its working folder cannot be made: %w", err)
		}
	}
	return session.Launch(ctx, r.paced, w.Spawn(rand.Text()))
}

// held asks whether the city is still ours. Only another controller's word ends ours: a disk that fails does not.
func (r *runner) held() error {
	if r.c.o.Held == nil {
		return nil
	}
	err := r.c.o.Held()
	var other *RunningError
	if errors.As(err, &other) {
		return err
	}
	if err != nil {
		r.c.o.Logger.Warn("cannot tell whether the city's lock is still ours", "err", err)
	}
	return nil
}

func (r *runner) ack(ctx context.Context, f fxAck) {
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
	case city.Nudge:
		return p.Send(ctx, f.session, c.Text)
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

func (r *runner) load(f fxLoad) input {
	revision, err := config.Revision(r.c.o.Dir)
	if err == nil && !f.force && (revision == f.known || revision == f.refused || !f.now && revision != f.sighted) {
		return inConfig{revision: revision}
	}
	cfg, err := config.Load(r.c.o.Dir, r.c.o.Host.Environ...)
	if err != nil {
		return inConfig{revision: revision, err: err}
	}
	return inConfig{revision: cfg.Revision, conf: r.c.translate(cfg)}
}

// finish ends what is still in flight: after a moment, in which a start or an acknowledgement may come to its own end.
// When agents are left, a launch whose session exists is left too, for the successor to carry on.
func (r *runner) finish(leave bool) {
	close(r.closed)
	r.shop.endRuns(errStopped)
	if r.shop.follow != nil {
		r.shop.follow()
	}
	if leave {
		r.leave()
	}
	t := time.AfterFunc(leaveLimit, r.cancel)
	r.wg.Wait()
	t.Stop()
	r.cancel()
}

func (r *runner) leave() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, st := range r.starts {
		select {
		case <-st.forked:
			st.cancel(session.ErrLeave)
		default:
		}
	}
}

// paced lets only so many starts at the provider at a time: a wave of a thousand is a queue, not a storm. What follows
// a start, readiness above all, waits for nobody.
type paced struct {
	session.Provider
	slots  chan struct{}
	forked func(agent string)
}

func (p *paced) Start(ctx context.Context, s session.Spec) (session.Status, error) {
	select {
	case p.slots <- struct{}{}:
		defer func() { <-p.slots; p.forked(s.Agent) }()
		return p.Provider.Start(ctx, s)
	case <-ctx.Done():
		return session.Status{}, context.Cause(ctx)
	}
}

// SetMeta passes the mark of readiness on, where the provider keeps such things.
func (p *paced) SetMeta(ctx context.Context, name, key, value string) error {
	if m, ok := p.Provider.(session.Marker); ok {
		return m.SetMeta(ctx, name, key, value)
	}
	return nil
}

// Meta is the other half of session.Marker.
func (p *paced) Meta(ctx context.Context, name, key string) (string, error) {
	if m, ok := p.Provider.(session.Marker); ok {
		return m.Meta(ctx, name, key)
	}
	return "", nil
}
