package script

import (
	"context"
	"fmt"
	"time"

	"gcity/internal/proc"
)

const (
	// sessionMark begins the environment entry that identifies a session's processes.
	sessionMark = "GC_SESSION_ID="
	// startMark begins the environment entry that identifies the script that starts a session, and its children.
	startMark = "GC_EXEC_START="
)

func sweep(mark string) error {
	_, left, err := proc.Sweep(func(pid int) bool {
		return proc.HasEnv(proc.Environ(pid), mark, false)
	}, time.Now().Add(sweepLimit))
	switch {
	case err != nil:
		return fmt.Errorf("cannot search for the session's remaining processes: %w", err)
	case len(left) > 0:
		return fmt.Errorf("cannot kill these processes: %v", left)
	}
	return nil
}

// checkRecord reports whether a session is alive. listed says whether the script lists it.
func (p *Provider) checkRecord(e *entry, rec *record, listed bool) bool {
	if listed {
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
	return pid > 0 && !proc.Ended(pid, start)
}

// abortStart ends a session after an unfinished start. The caller must hold the lock.
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
