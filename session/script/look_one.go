package script

import (
	"context"
	"fmt"

	"gcity/internal/proc"
	"gcity/session"
)

// Look implements session.Looker. It calls the script only if no local process shows that the session is running.
func (p *Provider) Look(ctx context.Context, name string) (session.Status, error) {
	p.mu.Lock()
	e := p.sessions[name]
	if e == nil || e.rec.Name == "" {
		p.mu.Unlock()
		return session.Status{}, missing("look at", name)
	}
	rec, pid, start := e.rec, e.pid, e.start
	p.mu.Unlock()
	if rec.Exit == nil {
		runs := pid > 0 && proc.Lives(pid, start)
		if !runs {
			var err error
			if runs, err = p.runs(ctx, name); err != nil {
				return session.Status{}, fmt.Errorf("cannot get the status of %q: %w", name, err)
			}
		}
		p.look(ctx, name, rec.ID, runs)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if e.rec.Name == "" {
		return session.Status{}, missing("look at", name)
	}
	return p.status(e), nil
}
