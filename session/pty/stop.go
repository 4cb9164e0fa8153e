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
	stopTimeout = time.Minute // in addition to the grace

	// answerLimit is how long after the grace a holder may take to end the process tree: half a second from TERM to
	// KILL, plus what a busy machine needs. A holder that has not answered by then is killed.
	answerLimit = 5 * time.Second

	resumeEvery = time.Second      // between two checks of a holder that is stopping a session
	killTimeout = 10 * time.Second // for the kernel to end a killed holder
)

// Stop implements session.Provider. The holder carries it out, even if the caller gives up. A holder that is
// stopped by a signal is continued first. A holder that does not answer is killed together with its agent.
func (p *Provider) Stop(ctx context.Context, name string, grace time.Duration) error {
	grace = max(grace, 0)
	ctx, cancel := context.WithTimeout(ctx, grace+stopTimeout)
	defer cancel()
	e := p.find(name)
	if e == nil {
		return nil
	}
	asked, cancelAsked := context.WithTimeout(ctx, grace+p.answerLimit)
	defer cancelAsked()
	p.resume(e)
	again := time.AfterFunc(resumeEvery, func() { p.async(func() { p.keepResumed(asked, e) }) })
	defer again.Stop() // most stops take less time than that
	_, err := p.call(asked, "stop", name, wire.Request{Op: wire.OpStop, Grace: grace})
	switch {
	case errors.Is(err, session.ErrNotFound):
		return nil
	case err == nil:
		e.awaitEnd(ctx) // so that the next look or start sees the end
		return nil
	case asked.Err() != nil && ctx.Err() == nil, errors.Is(err, errGone):
		return p.stopWithoutHolder(ctx, e)
	}
	return err
}

// keepResumed continues a holder whenever it is stopped, until ctx ends.
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

// resume continues a holder that is stopped by a signal, so that it can stop its agent.
func (p *Provider) resume(e *entry) {
	e.mu.Lock()
	rec, known := e.rec, e.known
	e.mu.Unlock()
	if known && p.files.stopped(rec) {
		p.log.Warn("the holder of a session was stopped by a signal; it is continued so that it "+
			"can stop its agent",
			"session", rec.Name, "pid", rec.Holder)
		p.files.signalHolder(rec, syscall.SIGCONT)
	}
}

// stopWithoutHolder ends a session after its holder died or stopped answering. It kills a living holder, which
// kills the agent, and then every process that has the session's ID.
func (p *Provider) stopWithoutHolder(ctx context.Context, e *entry) error {
	release, err := e.take(ctx)
	if err != nil {
		return err
	}
	defer release()
	e.mu.Lock()
	rec, known := e.rec, e.known
	e.mu.Unlock()
	if !known {
		return nil
	}
	if rec.Boot == p.files.boot && proc.Lives(rec.Holder, rec.HolderStart) {
		p.log.Error("a session's holder does not answer; killing it together with its agent",
			"session", rec.Name, "pid", rec.Holder)
		p.files.signalHolder(rec, syscall.SIGKILL)
		if !proc.WaitPid(rec.Holder, killTimeout) {
			return fail("stop", rec.Name, errOther, "its holder, pid %d, was killed but does not "+
				"exit: see dmesg", rec.Holder)
		}
	}
	if left := p.files.sweepSession(rec); len(left) > 0 {
		return fail("stop", rec.Name, errOther, "these processes cannot be killed: pids %v", left)
	}
	p.recordEnd(e, rec) // so that the next look or start sees the end
	return nil
}
