// Package beside looks at what may never answer, a folder on a server that is gone for instance, and comes back all the
// same. Whoever hangs there costs a thread until it is answered, so no name is looked at twice at a time.
package beside

import (
	"context"
	"gcity/internal/mishap"
	"sync"
	"time"
)

// Looks are the looks that are under way. They may be used by several goroutines.
type Looks[T any] struct {
	most int

	mu    sync.Mutex
	under map[string]*look[T] // way, by name
	fault error               // a look's panic, which is the next one's who waits
}

// look is one at a name.
type look[T any] struct {
	began time.Time
	done  chan struct{} // closed when saw is there; nil = too many are under way
	saw   T
}

// New lets so many looks be under way at once; beyond that nothing answers.
func New[T any](most int) *Looks[T] { return &Looks[T]{most: most, under: map[string]*look[T]{}} }

// Begin begins a look, unless one of that name is under way. see runs in a goroutine of its own for as long as it
// takes, so nothing that it shares may be written to by others.
func (l *Looks[T]) Begin(name string, see func() T) { l.begin(name, see) }

func (l *Looks[T]) begin(name string, see func() T) *look[T] {
	l.mu.Lock()
	defer l.mu.Unlock()
	if k := l.under[name]; k != nil {
		return k
	}
	if len(l.under) >= l.most {
		return &look[T]{}
	}
	k := &look[T]{began: time.Now(), done: make(chan struct{})}
	l.under[name] = k
	go func() { // as long as it takes, and nobody can wait for that
		fault := mishap.Catch(func() { k.saw = see() })
		l.mu.Lock()
		delete(l.under, name)
		if fault != nil {
			l.fault = fault
		}
		l.mu.Unlock()
		close(k.done)
	}()
	return k
}

// At gives what a look saw that began at a time or later, which it begins if need be. It is not ok if a look has
// not ended within limit of its beginning (0 = no limit) or before ctx.
func (l *Looks[T]) At(ctx context.Context, name string, since time.Time, limit time.Duration,
	see func() T) (_ T, ok bool) {
	for {
		k := l.begin(name, see)
		ok := k.answered(ctx, limit)
		l.mu.Lock()
		fault := l.fault
		l.fault = nil
		l.mu.Unlock()
		if fault != nil {
			panic(fault)
		}
		if !ok {
			var none T
			return none, false
		}
		if !k.began.Before(since) {
			return k.saw, true
		}
	}
}

// Under is how many looks are under way.
func (l *Looks[T]) Under() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.under)
}

// answered waits until a look is done or has had its time.
func (k *look[T]) answered(ctx context.Context, limit time.Duration) bool {
	if k.done == nil {
		return false
	}
	if limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, k.began.Add(limit))
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
