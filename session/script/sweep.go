package script

import (
	"context"
	"fmt"
	"time"

	"gcity/internal/proc"
)

const (
	// sessionMark is the beginning of the environment entry that identifies the processes of a session.
	sessionMark = "GC_SESSION_ID="
	// startMark is the beginning of the environment entry that identifies a script that starts a session, and the
	// processes that the script starts.
	startMark = "GC_EXEC_START="
)

// sweep kills all processes on this machine that have a mark in their environment.
func sweep(mark string) error {
	_, left, err := proc.Sweep(func(pid int) bool {
		return proc.HasEnv(proc.Environ(pid), mark, false)
	}, time.Now().Add(sweepLimit))
	switch {
	case err != nil:
		return fmt.Errorf("cannot search for remaining processes of the session: %w", err)
	case len(left) > 0:
		return fmt.Errorf("these processes cannot be killed: %v", left)
	}
	return nil
}

// checkRecord reports whether a session is alive. runs reports whether the script lists the session as
// running. For a session on this machine, its processes decide. If the script does not list the session, the
// agent's own process decides or, if that process is unknown, any process of the session.
func (p *Provider) checkRecord(e *entry, rec *record, runs bool) bool {
	if runs {
		return p.processes(e, rec)
	}
	p.mu.Lock()
	pid, start := e.pid, e.start
	p.mu.Unlock()
	if pid == 0 && rec.Boot == p.boot {
		pid, start = find(rec.ID)
		p.mu.Lock()
		e.pid, e.start = pid, start
		p.mu.Unlock()
	}
	return pid > 0 && proc.Lives(pid, start)
}

// abortStart undoes an unfinished start. Either its controller died, or its controller could not undo it. The script
// may still run and start the session later. So the session counts as alive until a late start is impossible. The
// caller must hold the lock.
func (p *Provider) abortStart(ctx context.Context, e *entry, rec *record) {
	if p.o.Observe {
		return // another controller may be starting the session
	}
	if err := p.end(ctx, rec); err != nil {
		p.o.Logger.Warn("cannot undo an unfinished start yet", "session", rec.Name,
			"err", err)
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ended(e)
}
