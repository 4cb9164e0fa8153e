package perform

import (
	"context"
	"sync"
)

// activeRuns contains the cancel functions of active runs. It is safe for concurrent use.
type activeRuns struct {
	mu   sync.Mutex
	ends map[string]context.CancelCauseFunc // by ID of the run's record
}

// add returns a context for a run. The caller must call done when the run has ended.
func (g *activeRuns) add(ctx context.Context, bead string) (_ context.Context, done func()) {
	ctx, end := context.WithCancelCause(ctx)
	g.mu.Lock()
	defer g.mu.Unlock()
	g.ends[bead] = end
	return ctx, func() {
		end(nil)
		g.mu.Lock()
		defer g.mu.Unlock()
		delete(g.ends, bead)
	}
}

// end cancels a run if it is active.
func (g *activeRuns) end(bead string, why error) {
	g.mu.Lock()
	end := g.ends[bead]
	g.mu.Unlock()
	if end != nil {
		end(why)
	}
}
