package pty

import (
	"context"
	"fmt"

	"gcity/internal/proc"
	"gcity/session"
)

// Usage implements session.Meter, by one walk over /proc. The holders themselves are left out: they are ours.
func (p *Provider) Usage(ctx context.Context) (map[string]session.Usage, error) {
	if p.ctx.Err() != nil {
		return nil, errClosed
	}
	p.mu.Lock()
	entries := p.entries()
	p.mu.Unlock()
	roots := make(map[int]uint64, len(entries))
	names := make(map[int]string, len(entries))
	for _, e := range entries {
		e.mu.Lock()
		if e.known && e.exit == nil && e.rec.Boot == p.boot {
			roots[e.rec.Holder], names[e.rec.Holder] = e.rec.HolderStart, e.name
		}
		e.mu.Unlock()
	}
	if len(roots) == 0 {
		return map[string]session.Usage{}, nil
	}
	trees, err := proc.Trees(ctx, roots)
	if err != nil {
		return nil, fmt.Errorf("cannot measure what the sessions take: %w", err)
	}
	all := make(map[string]session.Usage, len(trees))
	for pid, t := range trees {
		if t.Procs > 0 { // else it has just ended
			all[names[pid]] = session.Usage{CPU: t.CPU, RSS: t.RSS, Procs: t.Procs}
		}
	}
	return all, nil
}
