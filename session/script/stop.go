package script

import (
	"context"
	"errors"
	"fmt"
	"time"

	"gcity/internal/proc"
	"gcity/internal/recovery"
)

const askEvery = 500 * time.Millisecond

var errEnding = errors.New("the session is being stopped")

// stopping is a stop in progress. Other stops of the session can only shorten its grace period.
type stopping struct {
	// end of the grace period; zero while the interrupt is being sent; protected by Provider.mu
	by     time.Time
	sooner chan struct{} // receives a value when the grace period becomes shorter

	done chan struct{} // closed when the stop is over; the other fields are immutable from then on
	err  error
	late bool // the stop failed because its first caller's deadline passed
}

// Stop implements session.Provider. It kills local processes that the script did not stop.
func (p *Provider) Stop(ctx context.Context, name string, grace time.Duration) error {
	for {
		s, isNew := p.join(name, max(grace, 0))
		if isNew {
			s.err = p.stop(ctx, name, s, grace)
			s.late = s.err != nil && ctx.Err() != nil
			p.mu.Lock()
			delete(p.stops, name)
			p.mu.Unlock()
			close(s.done)
			return s.err
		}
		select {
		case <-s.done:
			if !s.late || ctx.Err() != nil {
				return s.err
			}
		case <-ctx.Done():
			return fmt.Errorf("cannot stop %q: %w", name, context.Cause(ctx))
		}
	}
}

// join returns the stop in progress, or a new one that the caller must perform.
func (p *Provider) join(name string, grace time.Duration) (s *stopping, isNew bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if s = p.stops[name]; s != nil {
		s.hasten(time.Now().Add(grace))
		return s, false
	}
	s = &stopping{sooner: make(chan struct{}, 1), done: make(chan struct{})}
	p.stops[name] = s
	if e := p.sessions[name]; e != nil && e.interrupt != nil {
		e.interrupt(errEnding)
	}
	return s, true
}

// hasten shortens the grace period. The caller must hold Provider.mu.
func (s *stopping) hasten(by time.Time) {
	if !s.by.IsZero() && !by.Before(s.by) {
		return
	}
	s.by = by
	select {
	case s.sooner <- struct{}{}:
	default:
	}
}

func (p *Provider) yielding(ctx context.Context, name string, e *entry) (_ context.Context,
	done func()) {
	ctx, cut := context.WithCancelCause(ctx)
	p.mu.Lock()
	defer p.mu.Unlock()
	e.interrupt = cut
	if p.stops[name] != nil {
		cut(errEnding)
	}
	return ctx, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		e.interrupt = nil
		cut(nil)
	}
}

func (p *Provider) stop(ctx context.Context, name string, s *stopping, grace time.Duration) error {
	e, release, err := p.lock(ctx, name)
	if err != nil {
		return err
	}
	defer release()
	p.mu.Lock()
	rec := e.rec
	if rec.Name == "" || rec.Exit != nil {
		p.mu.Unlock()
		return nil
	}
	e.rec.Asked = true
	err = p.write(e.rec)
	hurried := !s.by.IsZero() && !time.Now().Before(s.by)
	p.mu.Unlock()
	if err != nil { // a full disk must not keep an agent running
		p.o.Logger.Warn("cannot record the request to stop a session: after a restart of the "+
			"controller, its exit would count as a crash", "session", name, "err", err)
	}
	if grace > 0 && !rec.Starting && !hurried {
		p.ask(ctx, &rec, s, grace)
	}
	if err := p.end(ctx, &rec); err != nil {
		if !rec.Starting && p.processes(e, &rec) {
			p.unask(e)
		}
		return fmt.Errorf("cannot stop %q: %w", name, err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ended(e)
	return nil
}

// unask records that a stop has failed, so that a later exit does not count as requested. The caller must hold the
// session's lock.
func (p *Provider) unask(e *entry) {
	p.mu.Lock()
	defer p.mu.Unlock()
	e.rec.Asked = false
	if err := p.write(e.rec); err != nil {
		p.o.Logger.Warn("cannot record that stopping a session failed: its exit will count "+
			"as requested", "session", e.rec.Name, "err", err)
	}
}

func (p *Provider) ask(ctx context.Context, rec *record, s *stopping, grace time.Duration) {
	var asking recovery.Group
	defer asking.Wait()
	ctx, over := context.WithCancel(ctx)
	defer over()
	asking.Go(func() {
		defer over()
		if _, _, err := p.call(ctx, "interrupt", rec.Name, nil, nil); err != nil {
			return
		}
		p.mu.Lock()
		s.hasten(time.Now().Add(grace))
		p.mu.Unlock()
		p.awaitEnd(ctx, rec)
	})
	for {
		p.mu.Lock()
		by := s.by
		p.mu.Unlock()
		var late <-chan time.Time
		if !by.IsZero() {
			late = time.After(time.Until(by))
		}
		select {
		case <-ctx.Done():
			return
		case <-late:
			return
		case <-s.sooner:
		}
	}
}

func (p *Provider) awaitEnd(ctx context.Context, rec *record) {
	pause := askEvery
	if rec.Local {
		pause = 20 * time.Millisecond
	}
	tick := time.NewTicker(pause)
	defer tick.Stop()
	pid, start := 0, uint64(0)
	for {
		if rec.Local {
			if pid == 0 || !proc.Lives(pid, start) {
				if pid, start = find(rec.ID); pid == 0 {
					return
				}
			}
		} else if runs, err := p.runs(ctx, rec.Name); err == nil && !runs {
			return
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

func (p *Provider) end(ctx context.Context, rec *record) error {
	if rec.Starting {
		if err := sweep(startMark + rec.ID); err != nil {
			return err
		}
	}
	if _, _, err := p.call(ctx, "stop", rec.Name, nil, nil); err != nil {
		return err
	}
	if err := sweep(sessionMark + rec.ID); err != nil {
		return err
	}
	if runs, err := p.runs(ctx, rec.Name); err != nil || runs {
		if err == nil {
			err = fmt.Errorf("%s reports that it stopped the session, but the session is still "+
				"running",
				p.o.Script)
		}
		return err
	}
	return nil
}
