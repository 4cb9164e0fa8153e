package perform

import (
	"context"
	"sync"
)

// going has the runs in progress with their cancel functions. It is safe for concurrent use.
type going struct {
	mu   sync.Mutex
	ends map[string]context.CancelCauseFunc // by bead
}

// add returns the context of a run. The caller calls done when the run has ended.
func (g *going) add(ctx context.Context, bead string) (_ context.Context, done func()) {
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

// end cancels a run, unless it has ended.
func (g *going) end(bead string, why error) {
	g.mu.Lock()
	end := g.ends[bead]
	g.mu.Unlock()
	if end != nil {
		end(why)
	}
}
