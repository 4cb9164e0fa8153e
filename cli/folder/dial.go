package folder

import (
	"context"
	"time"

	"gcity/api/client"
	"gcity/city"
	"gcity/cli/exit"
)

// ReadTimeout is the time limit for reading one part of a city's state, such as its runs or a formula folder.
const ReadTimeout = 3 * time.Second

// AskController returns the running controller's state. It returns an *UnresponsiveError if the controller does not
// respond.
func AskController(ctx context.Context, dir string) (*city.Snapshot, error) {
	near, closeNear, err := Dial(dir)
	if err != nil {
		return nil, err
	}
	defer closeNear()
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	s, err := near.Snapshot(ctx)
	if err != nil {
		return nil, &UnresponsiveError{err}
	}
	return s, nil
}

// UnresponsiveError is the error for a running controller that does not respond.
type UnresponsiveError struct{ error }

func (m *UnresponsiveError) Unwrap() error { return m.error }

// HangsAfter is the time without an iteration after which a loop counts as hung.
const HangsAfter = 10 * time.Second

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

// DialWithRetry is like Dial, but waits up to two seconds for the socket of a starting controller.
func DialWithRetry(ctx context.Context, dir string) (city.Control, func(), error) {
	near, closeNear, err := Dial(dir)
	if err == nil || !exit.IsNotRunning(err) {
		// return here, because creating the timers below takes longer than connecting
		return near, closeNear, err
	}
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	for {
		if held, lockErr := IsHeld(dir); lockErr != nil || !held {
			return nil, nil, err
		}
		select {
		case <-ctx.Done():
			return nil, nil, err
		case <-tick.C:
		}
		near, closeNear, err = Dial(dir)
		if err == nil || !exit.IsNotRunning(err) {
			return near, closeNear, err
		}
	}
}

// Dial connects to a city's controller.
func Dial(dir string) (city.Control, func(), error) {
	c, err := client.Dial(SocketPath(dir))
	if err != nil {
		return nil, nil, err
	}
	return c, func() { _ = c.Close() }, nil
}

// BriefSnapshot requests a snapshot with only the parts that `gcity status` prints, if c supports that.
func BriefSnapshot(ctx context.Context, c city.Control) (*city.Snapshot, error) {
	if b, ok := c.(interface {
		BriefSnapshot(context.Context) (*city.Snapshot, error)
	}); ok {
		return b.BriefSnapshot(ctx)
	}
	return c.Snapshot(ctx)
}
