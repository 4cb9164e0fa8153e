package folder

import (
	"context"
	"fmt"
	"path/filepath"
	"strconv"
	"time"

	"gcity/api/client"
	"gcity/city"
	"gcity/cli/exit"
	"gcity/describe"
	"gcity/internal/deadline"
	"gcity/internal/disk"
	"gcity/internal/proc"
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

// HeldError means that a process holds the city but does not accept connections, for example because it is starting. It
// wraps client.ErrNotRunning.
type HeldError struct {
	error
	PID int // 0 = unknown
	// Replaced means that .gc is not the runtime folder that the process uses.
	Replaced bool
}

func (h *HeldError) Unwrap() error { return h.error }

func (h *HeldError) Error() string {
	if h.Replaced {
		return h.Cause() + "; " + ReplacedRemedy
	}
	return h.Cause()
}

// Cause returns why the city does not accept connections.
func (h *HeldError) Cause() string {
	pid := ""
	if h.PID != 0 {
		pid = fmt.Sprintf(" (pid %d)", h.PID)
	}
	if h.Replaced {
		return "a controller" + pid + " is running, but the city's .gc was moved, replaced or " +
			"removed"
	}
	return "the controller" + pid + " is starting or stopping, or its socket was removed"
}

// ReplacedRemedy says what to do if a controller does not use the city's .gc.
const ReplacedRemedy = "the controller creates a removed .gc again at its next patrol; " +
	"otherwise, move the original .gc back, or run `gcity stop`, which stops that controller or " +
	"prints the command for it"

// HeldBy returns an error about the process that holds the city. cause is the error of the connection.
func HeldBy(dir string, cause error) *HeldError {
	pid, _ := strconv.Atoi(PIDText(dir)) // 0 if the file cannot be read
	replaced := lacksState(dir)
	if replaced || pid == 0 && disk.IsHeld(dir) {
		pid = proc.LockHolder(dir, pid)
	}
	return &HeldError{cause, pid, replaced}
}

// lacksState reports whether a process holds the city's folder, but not the lock in .gc. It waits for a moment, because
// that is also so while a controller starts or ends.
func lacksState(dir string) bool {
	for range 20 {
		if !disk.IsHeld(dir) || disk.IsHeld(filepath.Join(StateDir(dir), "controller.lock")) {
			return false
		}
		time.Sleep(10 * time.Millisecond)
	}
	return true
}

// NoController returns the error for a request that only a controller can carry out. held may be nil.
func NoController(dir, what string, held *HeldError) error {
	switch {
	case held == nil:
		return exit.NotRunning("%s: no controller is running for %s; %s", what, dir,
			describe.HowToStart)
	case held.Replaced:
		return exit.Errorf(exit.CodeConflict, "%s for %s: %w", what, dir, held)
	}
	return exit.Errorf(exit.CodeConflict, "%s for %s: %w; try again in a few seconds", what, dir,
		held)
}

// DialWithRetry is like Dial, but waits up to two seconds for the socket of a starting controller, and then fails with
// a *HeldError.
func DialWithRetry(ctx context.Context, dir string) (city.Control, func(), error) {
	near, closeNear, err := Dial(dir)
	if err == nil || !exit.IsNotRunning(err) {
		// return here, because creating the timers below takes longer than connecting
		return near, closeNear, err
	}
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	for {
		if held, lockErr := IsHeld(dir); lockErr != nil || !held {
			return nil, nil, err
		}
		if !deadline.Pause(ctx, 20*time.Millisecond) {
			return nil, nil, HeldBy(dir, err)
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
