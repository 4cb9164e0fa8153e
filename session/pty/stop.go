package pty

import (
	"context"
	"errors"
	"syscall"
	"time"

	"gcity/internal/proc"
	"gcity/session"
	"gcity/session/pty/internal/wire"
)

const (
	stopTimeout = time.Minute // maximum time for a stop in addition to its grace period

	// responseLimit is how long, after the grace period, a holder may take to end the process tree.
	responseLimit = 5 * time.Second

	// how often a start or stop checks whether the holder was suspended by SIGSTOP
	resumeEvery = time.Second
	killTimeout = 10 * time.Second
)

// Stop implements session.Provider. The holder completes the stop even if the caller stops waiting. If the holder does
// not respond, Stop kills it, and the agent dies with it.
func (p *Provider) Stop(ctx context.Context, name string, grace time.Duration) error {
	grace = max(grace, 0)
	ctx, cancel := context.WithTimeout(ctx, grace+stopTimeout)
	defer cancel()
	e := p.reg.Find(name)
	if e == nil {
		return nil
	}
	asked, cancelAsked := context.WithTimeout(ctx, grace+p.responseLimit)
	defer cancelAsked()
	p.resume(e)
	again := time.AfterFunc(resumeEvery, func() { p.reg.Async(func() { p.keepResumed(asked, e) }) })
	defer again.Stop() // most stops end before the first check
	_, err := p.call(asked, "stop", name, wire.Request{Op: wire.OpStop, Grace: grace})
	switch {
	case errors.Is(err, session.ErrNotFound):
		return nil
	case err == nil:
		p.learnEnd(ctx, e)
		return nil
	case asked.Err() != nil && ctx.Err() == nil, errors.Is(err, errGone):
		return p.stopWithoutHolder(ctx, e)
	}
	return err
}

// learnEnd waits until the entry contains the session's exit. Without a permanent connection, it gets the exit from the
// holder or from the session's folder.
func (p *Provider) learnEnd(ctx context.Context, e *entry) {
	if e.awaitEnd(ctx); !e.alive() || p.ctx.Err() != nil {
		return
	}
	release, err := e.take(ctx)
	if err != nil {
		return
	}
	e.mu.Lock()
	rec := e.record
	e.mu.Unlock()
	if e.alive() && e.reusable() == nil && p.reconnect(ctx, e) != nil {
		p.recordEnd(e, rec)
	}
	release()
	e.awaitEnd(ctx)
}

// keepResumed resumes the holder whenever a signal has suspended it, until ctx ends. A suspended holder can neither
// start nor stop its agent.
func (p *Provider) keepResumed(ctx context.Context, e *entry) {
	tick := time.NewTicker(resumeEvery)
	defer tick.Stop()
	for {
		p.resume(e)
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

func (p *Provider) resume(e *entry) {
	e.mu.Lock()
	rec, known := e.record, e.known
	e.mu.Unlock()
	if known && p.files.stopped(rec) {
		p.log.Warn("a session's holder was stopped by a signal; resuming it so that it "+
			"can start or stop its agent",
			"session", rec.Name, "pid", rec.Holder)
		p.files.signalHolder(rec, syscall.SIGCONT)
	}
}

// stopWithoutHolder kills a holder that does not respond, and then every process with the session's ID.
func (p *Provider) stopWithoutHolder(ctx context.Context, e *entry) error {
	release, err := e.take(ctx)
	if err != nil {
		return err
	}
	defer release()
	e.mu.Lock()
	rec, known := e.record, e.known
	e.mu.Unlock()
	if !known {
		return nil
	}
	if rec.Boot == p.files.boot && !proc.Ended(rec.Holder, rec.HolderStart) {
		p.log.Error("a session's holder does not respond; killing it together with its agent",
			"session", rec.Name, "pid", rec.Holder)
		p.files.signalHolder(rec, syscall.SIGKILL)
		if !proc.WaitPid(rec.Holder, killTimeout) {
			return fail("stop", rec.Name, errOther, "its holder, pid %d, is still alive after "+
				"SIGKILL: see dmesg", rec.Holder)
		}
	}
	if left, err := p.files.sweepSession(rec); err != nil || len(left) > 0 {
		return fail("stop", rec.Name, errOther, "cannot kill its processes: %s",
			unswept(left, err))
	}
	p.recordEnd(e, rec) // so that the next List or Start sees that the session has ended
	return nil
}
