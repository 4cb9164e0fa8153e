// Package registry implements what the providers of local sessions have in common: their sessions by name, their
// goroutines, and the exit channel.
package registry

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"slices"
	"sync"

	"gcity/internal/recovery"
	"gcity/session"
)

// ErrClosed is the error of calls after Close.
var ErrClosed = fmt.Errorf("the session provider is closed: %w", io.ErrClosedPipe)

const exitsKept = 1024

// Registry contains a provider's sessions by name. E is a provider's state for one name. A Registry is safe for
// concurrent use.
type Registry[E any] struct {
	newState func(name string) *E
	log      *slog.Logger
	exits    chan session.Exit
	wg       recovery.Group

	mu     sync.Mutex
	byName map[string]*E
	closed bool
	ended  bool // exits is closed
}

// New returns an empty registry. newState creates the state for a new name. onPanic is called with a panic from a
// goroutine; if it is nil, the panic ends the program.
func New[E any](newState func(name string) *E, log *slog.Logger, onPanic func(error)) *Registry[E] {
	return &Registry[E]{newState: newState, log: log, exits: make(chan session.Exit, exitsKept),
		wg: recovery.Group{OnPanic: recovery.Fatal(onPanic)}, byName: map[string]*E{}}
}

// All returns the states for all names.
func (r *Registry[E]) All() []*E {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Collect(maps.Values(r.byName))
}

// Find returns the state for a name, or nil for an unknown name.
func (r *Registry[E]) Find(name string) *E {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.byName[name]
}

// Entry returns the state for a name. It creates the state if necessary.
func (r *Registry[E]) Entry(name string) *E {
	r.mu.Lock()
	defer r.mu.Unlock()
	e := r.byName[name]
	if e == nil {
		e = r.newState(name)
		r.byName[name] = e
	}
	return e
}

// Forget removes the state for a name if that state is still e and the function unused returns true.
func (r *Registry[E]) Forget(name string, e *E, unused func() bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.byName[name] == e && unused() {
		delete(r.byName, name)
	}
}

// Async runs f in a goroutine that Wait waits for. After Close it returns false and does not run f.
func (r *Registry[E]) Async(f func()) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.closed {
		r.wg.Go(f)
	}
	return !r.closed
}

// Exits returns a channel that receives each exit immediately, unless the channel is full. Wait closes it.
func (r *Registry[E]) Exits() <-chan session.Exit { return r.exits }

// Report sends an exit to the channel of Exits. If the channel is full, it drops the exit, which List still reports.
// After Wait, it does nothing.
func (r *Registry[E]) Report(x session.Exit) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ended {
		return
	}
	select {
	case r.exits <- x:
	default:
		r.log.Warn("the exit channel is full; the next patrol will report this exit", "session",
			x.Name)
	}
}

// Close makes Async reject new goroutines. It returns false if the registry was already closed.
func (r *Registry[E]) Close() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	first := !r.closed
	r.closed = true
	return first
}

// Wait waits for all goroutines and then closes the exit channel. It must be called after Close.
func (r *Registry[E]) Wait() {
	r.wg.Wait()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ended = true
	close(r.exits)
}

// NameLock lets only one call at a time change the process of a session name. A free lock contains a token.
type NameLock chan struct{}

// NewNameLock returns a NameLock that is free.
func NewNameLock() NameLock {
	t := make(NameLock, 1)
	t <- struct{}{}
	return t
}

// Lock waits for the lock. The caller must call release.
func (t NameLock) Lock(ctx context.Context) (release func(), err error) {
	select {
	case <-t:
		return t.release, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// TryLock takes the lock if it is free. The caller must then call release.
func (t NameLock) TryLock() (release func(), ok bool) {
	select {
	case <-t:
		return t.release, true
	default:
		return nil, false
	}
}

func (t NameLock) release() { t <- struct{}{} }
