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
	// startMark begins the entry of a script that starts a session, and of its processes.
	startMark = "GC_EXEC_START="
)

// sweep ends all processes on this machine that carry a mark.
func sweep(mark string) error {
	_, left, err := proc.Sweep(func(pid int) bool {
		return proc.HasEnv(proc.Environ(pid), mark, false)
	}, time.Now().Add(sweepLimit))
	switch {
	case err != nil:
		return fmt.Errorf("cannot look for its remaining processes: %w", err)
	case len(left) > 0:
		return fmt.Errorf("these processes cannot be killed: %v", left)
	}
	return nil
}

// lives reports whether a session is alive, given what the script says. On this machine its processes decide. If
// the script has lost the session, the agent's own process decides or, if that is unknown, any of them.
func (p *Provider) lives(e *entry, rec *record, runs bool) bool {
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

// breakOff undoes an unfinished start. Its controller died, or could not undo it at once. The script may still run
// and start the session later, so the session counts as alive until that is impossible. The caller has the turn.
func (p *Provider) breakOff(ctx context.Context, e *entry, rec *record) {
	if p.o.Observe {
		return // a controller may be starting it
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
