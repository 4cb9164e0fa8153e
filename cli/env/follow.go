package env

import (
	"context"
	"errors"
	"sync"
	"time"

	"gcity/cli/exit"
	"gcity/internal/deadline"
)

const (
	reopenFor   = 30 * time.Second
	reopenEvery = 200 * time.Millisecond
	streamMin   = time.Second // a stream that lasts this long counts as reopened
)

var errControllerFound = errors.New("a controller is running")

// Follow calls follow, which reads a stream of the city l. If the stream ends because the controller has exited, Follow
// opens the city again, with or without a controller, and calls follow again. It gives up if no stream lasts for
// streamMin within reopenFor.
func (e *Env) Follow(ctx context.Context, l *Link,
	follow func(context.Context, *Link) error) error {
	err := e.followOnce(ctx, l, follow)
	ended := time.Now() // when a stream that lasted for streamMin ended
	again := controllerEnded(err)
	for again && ctx.Err() == nil && time.Since(ended) <= reopenFor {
		deadline.Pause(ctx, reopenEvery)
		if l, err = e.Open(ctx); err == nil {
			began := time.Now()
			err = e.followOnce(ctx, l, follow)
			l.Close()
			if time.Since(began) >= streamMin && !exit.IsSilent(err) {
				ended = time.Now()
			}
		}
		// on a busy machine, the next controller might not respond yet
		again = controllerEnded(err) || exit.IsSilent(err)
	}
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// followOnce ends a stream without a controller when a controller starts.
func (e *Env) followOnce(ctx context.Context, l *Link,
	follow func(context.Context, *Link) error) error {
	if l.Live {
		return follow(ctx, l)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	var polls sync.WaitGroup
	polls.Go(func() {
		for deadline.Pause(ctx, time.Second) {
			if _, closeDial, err := e.Dial(l.Dir); err == nil {
				closeDial()
				cancel(errControllerFound)
			}
		}
	})
	err := follow(ctx, l)
	cancel(nil)
	polls.Wait()
	if errors.Is(context.Cause(ctx), errControllerFound) {
		return errControllerFound
	}
	return err
}

func controllerEnded(err error) bool {
	return errors.Is(err, errControllerFound) || exit.IsNotRunning(err) || exit.IsInterrupted(err)
}
