package perform

import (
	"context"
	"sync"
)

// going are the runs that go, each with what ends it alone. It is safe for concurrent use.
type going struct {
	mu   sync.Mutex
	ends map[string]context.CancelCauseFunc // by bead
}

// add gives a run its context. done is called when it has ended.
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

// end ends a run, unless it has ended.
func (g *going) end(bead string, why error) {
	g.mu.Lock()
	end := g.ends[bead]
	g.mu.Unlock()
	if end != nil {
		end(why)
	}
}
