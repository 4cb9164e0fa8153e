package folder

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"gcity/events"
	"gcity/internal/deadline"
	"gcity/internal/disk"
	"gcity/internal/proc"
)

// RemoveSocket removes the socket of a controller that was killed. The caller must hold the city's lock.
func RemoveSocket(dir string) error {
	at := disk.FindSocket(SocketPath(dir))
	if info, err := os.Lstat(at); err == nil && info.Mode().Type() == fs.ModeSocket {
		if err := IgnoreNotExist(disk.Remove(at)); err != nil {
			return err
		}
	}
	return IgnoreNotExist(disk.Remove(SocketPath(dir) + ".path"))
}

// IsHeld reports whether a controller holds the city. It takes the city's locks for a moment. If the recorded process
// is dead, it retries for about 100 ms, because another command might be testing a lock. If that process was killed but
// has not exited yet, it retries for a few seconds.
func IsHeld(dir string) (bool, error) {
	tries := 0
	return isHeld(dir, func() bool {
		tries++
		_, dying := recorded(dir)
		return (tries < 50 || tries < 1000 && dying) &&
			deadline.Pause(context.Background(), 2*time.Millisecond)
	})
}

// isHeld is like IsHeld, but calls again before each retry. If again returns false, the city counts as held.
func isHeld(dir string, again func() bool) (bool, error) {
	for {
		held, err := isStateHeld(dir)
		if err != nil {
			return false, err
		}
		// if .gc was replaced, the controller still holds the city's folder
		if !held && !disk.IsHeld(dir) {
			return false, nil
		}
		if dead, _ := recorded(dir); !dead || !again() {
			return true, nil
		}
	}
}

// isStateHeld reports whether a process holds the lock in .gc. Without a PID file, it does not check the lock.
func isStateHeld(dir string) (bool, error) {
	if _, err := os.Stat(filepath.Join(StateDir(dir), "daemon.pid")); errors.Is(err,
		os.ErrNotExist) {
		return false, nil
	}
	lock, err := disk.TryLock(filepath.Join(StateDir(dir), "controller.lock"))
	if errors.Is(err, disk.ErrLocked) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	return false, lock.Release()
}

// recorded reports whether the process in the city's PID file is dead, and whether it is dying: it was killed but has
// not exited yet. A dying process counts as dead.
func recorded(dir string) (dead, dying bool) {
	pid, err := strconv.Atoi(PIDText(dir))
	if err != nil {
		return false, false
	}
	st, err := proc.ReadStat(pid)
	if err != nil || st.Exited() {
		return true, false
	}
	dying = proc.Killed(pid)
	return dying, dying
}

// ReleaseLimit is how long a controller may take to release the city after its agents have stopped.
const ReleaseLimit = time.Minute

// WaitReleased waits until the controller with this process ID no longer holds the city.
func WaitReleased(ctx context.Context, dir, pid string) error {
	ctx, cancel := context.WithTimeout(ctx, ReleaseLimit)
	defer cancel()
	for {
		held, err := IsHeld(dir)
		if err != nil || !held {
			return err
		}
		if now := PIDText(dir); now != "" && now != pid {
			return nil
		}
		if !deadline.Pause(ctx, 20*time.Millisecond) {
			return fmt.Errorf("the controller for %s has not exited: %w", dir, ctx.Err())
		}
	}
}

// signalLimit is how long a signal to a controller may take to have an effect. A response on the controller's socket
// would not shorten it: other goroutines handle the signals, so the controller can respond before it handles an earlier
// signal.
const signalLimit = time.Second

// AwaitExit waits until a controller that is ending has released the city. It returns false if a controller keeps
// running. A controller that records its end within signalLimit counts as ending, because its signal may just have been
// sent.
func AwaitExit(ctx context.Context, dir string) (exited bool, err error) {
	if held, err := IsHeld(dir); err != nil || !held {
		return !held, err
	}
	began, seen := time.Now(), NewestSeq(ctx, dir)
	var stopped time.Time // when the latest controller stopped
	// without Since, this would read the log back to the start of the controller
	q := events.Query{Types: []string{events.ControllerStarted, events.ControllerStopped}, Limit: 1,
		Since: began.Add(-ReleaseLimit)}
	for {
		waited := time.Since(began)        // a stop that is recorded before this counts
		news, _ := ReadEvents(ctx, dir, q) // with an unreadable log, only signalLimit applies
		for _, e := range news {
			if seen, stopped = max(seen, e.Seq), (time.Time{}); e.Type == events.ControllerStopped {
				stopped = e.TS
			}
		}
		q.After, q.Limit, q.Since = seen, 0, time.Time{}
		held, err := IsHeld(dir)
		switch {
		case err != nil || !held:
			return !held, err
		case !stopped.After(heldSince(dir)): // the process that holds the city has not stopped
			if waited > signalLimit {
				return false, nil
			}
		case waited > ReleaseLimit:
			return false, fmt.Errorf("the controller for %s did not exit within %s after it had "+
				"stopped; kill its process (pid %s), then start the city again", dir,
				ReleaseLimit, cmp.Or(PIDText(dir), "unknown"))
		}
		if !deadline.Pause(ctx, 20*time.Millisecond) {
			return false, ctx.Err()
		}
	}
}

// heldSince returns when the process that holds the city took its lock, or zero if that is unknown.
func heldSince(dir string) time.Time {
	info, err := disk.Lstat(filepath.Join(StateDir(dir), "daemon.pid"))
	if err != nil {
		return time.Time{}
	}
	return info.ModTime()
}

// PIDText returns the process ID in the city's PID file, or "" if it is unknown.
func PIDText(dir string) string {
	data, _ := disk.ReadFile(filepath.Join(StateDir(dir), "daemon.pid"))
	return strings.TrimSpace(string(data))
}
