package cli

import (
	"errors"
	"os"
	"path/filepath"

	"gcity/controller"
	"gcity/internal/disk"
)

// As in wire.go: here for the city's lock.

// holdCity keeps controllers away from a city; the result lets them in again.
func holdCity(dir string) (release func(), err error) {
	hold, err := controller.Acquire(dir)
	if err != nil {
		return nil, err
	}
	return func() { _ = hold.Release() }, nil // the kernel releases it in any case
}

// isHeld says whether a controller has the city's lock. To find out it takes the lock for a moment, and therefore looks
// for the pid file first: without one, nobody is disturbed.
func isHeld(dir string) (bool, error) {
	if _, err := os.Stat(filepath.Join(gcDir(dir), "daemon.pid")); errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	lock, err := disk.TryLock(filepath.Join(gcDir(dir), "controller.lock"))
	if errors.Is(err, disk.ErrLocked) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	return false, lock.Release()
}
