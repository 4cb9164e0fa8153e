package offline

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"

	"gcity/cli/env"
	"gcity/cli/folder"
	"gcity/cli/sessions"
	"gcity/controller"
	"gcity/internal/recovery"
	"gcity/session"
	"gcity/session/pty"
)

// CountOrphans returns the number of live sessions that can be listed. It returns 0 if a controller is running.
func CountOrphans(ctx context.Context, dir string) (n int, err error) {
	if _, err := os.Stat(folder.StateDir(dir)); errors.Is(err, os.ErrNotExist) {
		return 0, nil
	}
	if _, closeNear, err := folder.Dial(dir); err == nil {
		closeNear()
		return 0, nil
	}
	return countAlive(ctx, dir)
}

func countAlive(ctx context.Context, dir string) (n int, err error) {
	p, closeIt, err := sessions.OpenSessions(sessions.SessionOptions{Dir: dir,
		Grant: folder.Trusted(dir, nil), Observe: true, Logger: folder.QuietLogger(),
		Broken: func(error) {}})
	if err != nil {
		return 0, err
	}
	defer closeIt()
	all, err := p.List(ctx)
	if _, partly := errors.AsType[*session.PartialError](err); err != nil && !partly {
		return 0, err
	}
	for _, st := range all {
		if st.Alive {
			n++
		}
	}
	return n, nil
}

// Stopped says what StopOrphans has stopped.
type Stopped struct {
	Sessions int
	Runs     int // processes of automation runs and pool checks
}

// StopOrphans stops the live sessions of a city without a controller, and what the runs of its previous controller have
// left behind. It returns an error if a controller is running.
func StopOrphans(ctx context.Context, dir string, now func() time.Time, slow env.Slowly,
	onPanic func(error)) (did Stopped, err error) {
	if _, err := os.Stat(folder.StateDir(dir)); errors.Is(err, os.ErrNotExist) {
		// processes can outlive the folder; those that cannot be listed also cannot be stopped
		runs, _ := pty.FindRuns(dir)
		n, _ := countAlive(ctx, dir)
		if held, err := folder.IsHeld(dir); n == 0 && len(runs) == 0 && err == nil && !held {
			return did, nil
		}
	}
	// while this process holds the city, no controller can start agents
	hold, err := controller.Acquire(dir)
	if running, ok := errors.AsType[*controller.RunningError](err); ok && running.PID != 0 {
		return did, fmt.Errorf("%w, and it does not respond on the city's socket; `kill %d` stops "+
			"it and its agents, or all cities if it is the supervisor", err, running.PID)
	}
	if err != nil {
		return did, err
	}
	defer func() { _ = hold.Release() }() // if this fails, this process's exit releases it
	c, err := newCity(dir, false, now, onPanic)
	if err != nil {
		return did, err
	}
	defer c.close()
	c.slow = slow
	ended, endErr := c.End(ctx, everyone)
	runs, sweepErr := pty.SweepRuns(dir)
	return Stopped{ended, runs}, errors.Join(endErr, sweepErr, folder.RemoveSocket(dir))
}

// LogPanics returns a function that logs panics in a city's goroutines.
func LogPanics(logger *slog.Logger) func(error) {
	return func(err error) {
		stack := ""
		if p, ok := errors.AsType[*recovery.Panic](err); ok {
			stack = string(p.Stack())
		}
		logger.Error("panic while handling the sessions of a city without a controller", "error",
			err, "stack", stack)
	}
}
