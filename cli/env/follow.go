package env

import (
	"context"
	"errors"
	"sync"
	"time"

	"gcity/cli/exit"
	"gcity/cli/folder"
)

const (
	reopenFor   = 10 * time.Second
	reopenEvery = 200 * time.Millisecond
)

var errControllerFound = errors.New("a controller is running")

// Follow calls follow, which reads a stream of the city l. If the stream ends because the controller has exited, Follow
// opens the city again, with or without a controller, and calls follow again. It gives up if this fails for reopenFor.
func (e *Env) Follow(ctx context.Context, l *Link,
	follow func(context.Context, *Link) error) error {
	var giveUp time.Time
	began, err := time.Now(), e.followOnce(ctx, l, follow)
	for ctx.Err() == nil && err != nil && controllerEnded(err) {
		switch now := time.Now(); {
		case giveUp.IsZero() || now.Sub(began) > reopenFor:
			giveUp = now.Add(reopenFor)
		case now.After(giveUp):
			return err
		}
		folder.Pause(ctx, reopenEvery)
		began = time.Now()
		if l, err = e.Open(ctx); err == nil {
			err = e.followOnce(ctx, l, follow)
			l.Close()
		}
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
		for folder.Pause(ctx, time.Second) {
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
