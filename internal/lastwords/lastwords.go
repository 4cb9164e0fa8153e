// Package lastwords gives all that a program does after its last decision one deadline: what is under way, what has
// to be taken back, who is told that it ends. What does not come to its end by then is given up, and told of.
package lastwords

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"
)

// ErrOver is why something is given up at the end.
var ErrOver = errors.New("the time for last words is over")

// Time is that of a program's last words. All methods may be called from several goroutines.
type Time struct {
	limit time.Duration
	begun chan struct{}

	amends, all   context.Context
	enough, leave context.CancelCauseFunc

	mu       sync.Mutex
	timers   []*time.Timer // none: it has not begun
	enoughAt time.Time     // when no more is taken back
	left     []string
}

// New makes the time of the last words: so long after Begin. What is taken back has two thirds of it, lest there is
// none for those who are to be told.
func New(limit time.Duration) *Time {
	t := &Time{limit: limit, begun: make(chan struct{})}
	t.all, t.leave = context.WithCancelCause(context.Background())
	t.amends, t.enough = context.WithCancelCause(t.all)
	return t
}

// Begin lets the time begin, unless it has.
func (t *Time) Begin() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.timers != nil {
		return
	}
	t.enoughAt = time.Now().Add(t.limit * 2 / 3)
	t.timers = []*time.Timer{
		time.AfterFunc(t.limit*2/3, func() { t.enough(ErrOver) }),
		time.AfterFunc(t.limit, func() { t.leave(ErrOver) }),
	}
	close(t.begun)
}

// Limit is how long the time is.
func (t *Time) Limit() time.Duration { return t.limit }

// Begun is closed when the time begins.
func (t *Time) Begun() <-chan struct{} { return t.begun }

// Left is how much of so long there is for what is under way, and for what has to be taken back.
func (t *Time) Left(most time.Duration) time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.timers == nil {
		return most
	}
	return max(0, min(most, time.Until(t.enoughAt)))
}

// Context ends when the time is over, with ErrOver as its cause.
func (t *Time) Context() context.Context { return t.all }

// GiveUp notes what was not done.
func (t *Time) GiveUp(format string, args ...any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.left = append(t.left, fmt.Sprintf(format, args...))
}

// End lets go of the time, and says what was given up; "" = nothing was.
func (t *Time) End() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, timer := range t.timers {
		timer.Stop()
	}
	t.leave(nil)
	return strings.Join(t.left, "; ")
}

type key struct{}

// In gives what is done with a context the last words of a program.
func In(ctx context.Context, t *Time) context.Context { return context.WithValue(ctx, key{}, t) }

// Amend gives a context for what has to be done although ctx has ended: it has so long, and ends with the last words.
func Amend(ctx context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	own, cancel := context.WithTimeout(context.WithoutCancel(ctx), limit)
	t, ok := ctx.Value(key{}).(*Time)
	if !ok {
		return own, cancel
	}
	own, end := context.WithCancelCause(own)
	stop := context.AfterFunc(t.amends, func() { end(context.Cause(t.amends)) })
	return own, func() { stop(); end(nil); cancel() }
}

// GiveUp notes what was not done by an amendment that ended with the last words; of any other it notes nothing.
func GiveUp(amendment context.Context, format string, args ...any) {
	if t, ok := amendment.Value(key{}).(*Time); ok && errors.Is(context.Cause(amendment), ErrOver) {
		t.GiveUp(format, args...)
	}
}
