// Package deadline runs calls that might never return, and stops waiting for them after a time limit.
//
// An abandoned call occupies a thread until it returns, so there is at most one call at a time for each name.
package deadline

import (
	"context"
	"errors"
	"gcity/internal/recovery"
	"sync"
	"time"
)

// Pause waits for d and returns true, or returns false if ctx ends first.
func Pause(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// Calls is a set of calls in progress. It is safe for concurrent use.
type Calls[T any] struct {
	limit int

	mu      sync.Mutex
	pending map[string]*call[T] // by name
	fault   error               // panic of a call; the next caller that waits panics with it
}

type call[T any] struct {
	started time.Time
	// closed when the call has returned; nil = not started, because too many calls are pending
	done   chan struct{}
	result T
}

// New returns a set that allows at most limit pending calls. Further calls fail immediately.
func New[T any](limit int) *Calls[T] {
	return &Calls[T]{limit: limit, pending: map[string]*call[T]{}}
}

// ErrTooMany means that a call was not started because too many calls are pending.
var ErrTooMany = errors.New("too many calls have not returned yet")

// Start starts a call, unless a call with that name is pending. It returns ErrTooMany at the limit. f can outlive its
// caller, so nothing that f reads may be modified.
func (c *Calls[T]) Start(name string, f func() T) error {
	if c.start(name, f).done == nil {
		return ErrTooMany
	}
	return nil
}

func (c *Calls[T]) start(name string, f func() T) *call[T] {
	c.mu.Lock()
	defer c.mu.Unlock()
	if k := c.pending[name]; k != nil {
		return k
	}
	if len(c.pending) >= c.limit {
		return &call[T]{}
	}
	k := &call[T]{started: time.Now(), done: make(chan struct{})}
	c.pending[name] = k
	go func() { // in no WaitGroup, because f might never return
		fault := recovery.Catch(func() { k.result = f() })
		c.mu.Lock()
		delete(c.pending, name)
		if fault != nil {
			c.fault = fault
		}
		c.mu.Unlock()
		close(k.done)
	}()
	return k
}

// Do returns the result of a call that started at or after notBefore, and starts it if necessary. ok is false if the
// result does not arrive in time, or if too many calls are pending. limit 0 means no limit.
func (c *Calls[T]) Do(
	ctx context.Context, name string, notBefore time.Time, limit time.Duration, f func() T,
) (_ T, ok bool) {
	for {
		k := c.start(name, f)
		ok := k.wait(ctx, limit)
		c.mu.Lock()
		fault := c.fault
		c.fault = nil
		c.mu.Unlock()
		if fault != nil {
			panic(fault)
		}
		if !ok {
			var none T
			return none, false
		}
		if !k.started.Before(notBefore) {
			return k.result, true
		}
	}
}

// Within returns the result of f. ok is false if f does not return within the limit or before ctx ends. f then
// continues in the background, so nothing that f reads may be modified. limit 0 means that only ctx ends the wait.
func Within[T any](ctx context.Context, limit time.Duration, f func() T) (_ T, ok bool) {
	return New[T](1).Do(ctx, "", time.Time{}, limit, f)
}

// Pending returns the number of calls in progress.
func (c *Calls[T]) Pending() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.pending)
}

func (k *call[T]) wait(ctx context.Context, limit time.Duration) bool {
	if k.done == nil {
		return false
	}
	if limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, k.started.Add(limit))
		defer cancel()
	}
	select {
	case <-k.done:
		return true
	case <-ctx.Done():
	}
	select {
	case <-k.done:
		return true
	default:
		return false
	}
}
