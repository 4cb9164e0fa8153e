package script

import (
	"context"
	"fmt"
	"time"

	"gcity/internal/proc"
)

const (
	// sessionMark begins the entry of the environment by which a session's processes are known.
	sessionMark = "GC_SESSION_ID="
	// startMark is that of a script that starts a session, and of what it starts for that.
	startMark = "GC_EXEC_START="
)

// sweep ends all processes on this machine that carry a mark.
func sweep(mark string) error {
	_, left, err := proc.Sweep(func(pid int) bool {
		return proc.HasEnv(proc.Environ(pid), mark, false)
	}, time.Now().Add(sweepLimit))
	switch {
	case err != nil:
		return fmt.Errorf("what is left of it cannot be looked for: %w", err)
	case len(left) > 0:
		return fmt.Errorf("these processes cannot be ended: %v", left)
	}
	return nil
}

// lives reports whether a session lives, of which the script says that it runs or not. On this machine its processes
// decide. Where the script has lost it, that is the agent's own one, or while that is not known, any.
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

// breakOff undoes an unfinished start, of a controller that died during it or of one that could not undo it at
// once. The script may still run and start the session later, so the session counts as alive until that is
// impossible. The caller has the turn.
func (p *Provider) breakOff(ctx context.Context, e *entry, rec *record) {
	if p.o.Observe {
		return // a controller may be at it
	}
	if err := p.end(ctx, rec); err != nil {
		p.o.Logger.Warn("a start that was broken off cannot be taken back yet", "session", rec.Name,
			"err", err)
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ended(e)
}
