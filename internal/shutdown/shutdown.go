// Package shutdown limits how long a program takes to shut down. After the deadline, unfinished work is abandoned and
// reported.
package shutdown

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"
)

// ErrTimeout is the cause of a context that ended because the shutdown took too long.
var ErrTimeout = errors.New("the shutdown deadline has passed")

// Deadline limits the duration of a shutdown. It is safe for concurrent use.
type Deadline struct {
	limit time.Duration
	begun chan struct{}

	cleanup, all       context.Context
	endCleanup, endAll context.CancelCauseFunc

	mu        sync.Mutex
	timers    []*time.Timer // nil until the shutdown begins
	cleanupBy time.Time
	abandoned []string
}

// New returns a Deadline that expires when limit has passed since Begin. The last third is for notifications.
func New(limit time.Duration) *Deadline {
	d := &Deadline{limit: limit, begun: make(chan struct{})}
	d.all, d.endAll = context.WithCancelCause(context.Background())
	d.cleanup, d.endCleanup = context.WithCancelCause(d.all)
	return d
}

// Begin starts the timers if they are not running.
func (d *Deadline) Begin() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.timers != nil {
		return
	}
	d.cleanupBy = time.Now().Add(d.limit * 2 / 3)
	d.timers = []*time.Timer{
		time.AfterFunc(d.limit*2/3, func() { d.endCleanup(ErrTimeout) }),
		time.AfterFunc(d.limit, func() { d.endAll(ErrTimeout) }),
	}
	close(d.begun)
}

// Limit returns the maximum duration of the shutdown.
func (d *Deadline) Limit() time.Duration { return d.limit }

// Begun returns a channel that is closed when the shutdown begins.
func (d *Deadline) Begun() <-chan struct{} { return d.begun }

// Left returns the remaining time for work in progress and cleanup, at most limit.
func (d *Deadline) Left(limit time.Duration) time.Duration {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.timers == nil {
		return limit
	}
	return max(0, min(limit, time.Until(d.cleanupBy)))
}

// Context returns a context that ends at the deadline with ErrTimeout as its cause.
func (d *Deadline) Context() context.Context { return d.all }

// GiveUp records that a piece of work was abandoned.
func (d *Deadline) GiveUp(format string, args ...any) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.abandoned = append(d.abandoned, fmt.Sprintf(format, args...))
}

// End stops the timers and cancels the contexts. It returns what was abandoned, or "".
func (d *Deadline) End() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, timer := range d.timers {
		timer.Stop()
	}
	d.endAll(nil)
	return strings.Join(d.abandoned, "; ")
}

type key struct{}

// NewContext returns a copy of ctx with d as a value.
func NewContext(ctx context.Context, d *Deadline) context.Context {
	return context.WithValue(ctx, key{}, d)
}

// CleanupContext returns a context for cleanup, which does not end with ctx. It ends after limit, or when the Deadline
// in ctx ends all cleanup.
func CleanupContext(
	ctx context.Context, limit time.Duration,
) (context.Context, context.CancelFunc) {
	own, cancel := context.WithTimeout(context.WithoutCancel(ctx), limit)
	d, ok := ctx.Value(key{}).(*Deadline)
	if !ok {
		return own, cancel
	}
	own, end := context.WithCancelCause(own)
	stop := context.AfterFunc(d.cleanup, func() { end(context.Cause(d.cleanup)) })
	return own, func() { stop(); end(nil); cancel() }
}

// GiveUp records abandoned work if the shutdown deadline has ended cleanup. Otherwise, it does nothing.
func GiveUp(cleanup context.Context, format string, args ...any) {
	d, ok := cleanup.Value(key{}).(*Deadline)
	if ok && errors.Is(context.Cause(cleanup), ErrTimeout) {
		d.GiveUp(format, args...)
	}
}
