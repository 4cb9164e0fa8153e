package folder

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"gcity/controller"
	"gcity/internal/disk"
)

// HoldCity keeps controllers away from a city; the result lets them in again.
func HoldCity(dir string) (release func(), err error) {
	hold, err := controller.Acquire(dir)
	if err != nil {
		return nil, err
	}
	return func() { _ = hold.Release() }, nil // the kernel releases it in any case
}

// IsHeld says whether a controller has the city's lock. To find out it takes the lock for a moment, and therefore looks
// for the pid file first: without one, nobody is disturbed.
func IsHeld(dir string) (bool, error) {
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

// ReleaseLimit is how long a controller that has ended its agents may take to let go of the city.
const ReleaseLimit = time.Minute

// WaitReleased waits until no controller holds the city, or another one than that with this pid.
func WaitReleased(ctx context.Context, dir, pid string) error {
	ctx, cancel := context.WithTimeout(ctx, ReleaseLimit)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		held, err := IsHeld(dir)
		if err != nil || !held {
			return err
		}
		if now := PIDText(dir); now != "" && now != pid {
			return nil // a later controller was faster than this look
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("the controller of %s has not ended: %w", dir, ctx.Err())
		case <-tick.C:
		}
	}
}

// PIDText returns the process id that the controller of a city wrote, or nothing.
func PIDText(dir string) string {
	// without it nobody is named
	data, _ := disk.ReadFile(filepath.Join(StateDir(dir), "daemon.pid"))
	return strings.TrimSpace(string(data))
}
