package supervisor

import (
	"context"

	"gcity/internal/recovery"
)

// configWatch watches a city's configuration from the first failed attempt to start the city until the city runs. It
// continues during further attempts, so that no change is missed. The first retry reads a change that was made during
// the first attempt. A city that runs watches its own configuration.
type configWatch struct {
	edits  chan struct{}      // receives a value after a change
	cancel context.CancelFunc // nil = no watch; only the worker's goroutine uses it

	// the supervisor's mu protects these fields
	ctx    context.Context // of the current watch
	active bool            // the goroutine of keepWatching has not ended
}

// startWatch starts the watch, or restarts it if it has ended.
func (w *worker) startWatch() {
	if w.s.o.Watch == nil {
		return
	}
	c := &w.watch
	fresh := c.cancel == nil
	if fresh {
		c.drain()
	}
	w.s.mu.Lock()
	defer w.s.mu.Unlock()
	if fresh {
		c.ctx, c.cancel = context.WithCancel(w.s.life)
	}
	if !c.active {
		c.active = true
		go w.keepWatching() // ends with the watch, or later if the file system hangs
	}
}

// keepWatching watches the configuration. If it is in a call that has not returned when its watch ends and the next one
// starts, it then continues with the next one.
func (w *worker) keepWatching() {
	var ctx context.Context
	for {
		if ctx = w.nextWatch(ctx); ctx == nil {
			return
		}
		// after a panic here, the city is still retried at the end of its wait
		_ = recovery.Catch(func() {
			for range w.s.o.Watch(ctx, w.path) {
				if ctx.Err() != nil {
					continue
				}
				select {
				case w.watch.edits <- struct{}{}:
				default:
				}
			}
		})
	}
}

// nextWatch returns the context of the current watch, or nil if it has ended or is the previous one.
func (w *worker) nextWatch(previous context.Context) context.Context {
	w.s.mu.Lock()
	defer w.s.mu.Unlock()
	ctx := w.watch.ctx
	if ctx == previous || ctx.Err() != nil {
		w.watch.active = false
		return nil
	}
	return ctx
}

func (c *configWatch) stop() {
	if c.cancel != nil {
		c.cancel()
		c.cancel = nil
	}
}

// drain drops the signal of an earlier edit.
func (c *configWatch) drain() {
	select {
	case <-c.edits:
	default:
	}
}
