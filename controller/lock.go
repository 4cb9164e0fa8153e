package controller

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"gcity/internal/disk"
)

// Hold is the right to run a city's loop: the lock on .gc/controller.lock.
type Hold struct {
	dir  string
	lock *disk.Lock
	pid  string
}

// RunningError says that another controller has the city.
type RunningError struct {
	Path string // the city's folder
	PID  int    // 0 = unknown
}

func (e *RunningError) Error() string {
	if e.PID == 0 {
		return fmt.Sprintf("controller already running for %s", e.Path)
	}
	return fmt.Sprintf("controller already running for %s (pid %d)", e.Path, e.PID)
}

// Acquire takes the lock of the city in dir, making .gc (0700) if need be. It fails with *RunningError while another
// process has it. The pid file is for discovery only; nothing trusts it.
func Acquire(dir string) (*Hold, error) {
	gc := filepath.Join(dir, ".gc")
	if err := os.MkdirAll(gc, 0o700); err != nil {
		return nil, fmt.Errorf("cannot make the city's runtime folder: %w", err)
	}
	h := &Hold{dir: dir, pid: filepath.Join(gc, "daemon.pid")}
	lock, err := disk.TryLock(filepath.Join(gc, "controller.lock"))
	if errors.Is(err, disk.ErrLocked) {
		return nil, &RunningError{Path: dir, PID: readPID(h.pid)}
	}
	if err != nil {
		return nil, err
	}
	h.lock = lock
	if err := disk.Replace(h.pid, []byte(strconv.Itoa(os.Getpid())+"\n"), 0o600); err != nil {
		lock.Release()
		return nil, fmt.Errorf("cannot write %s: %w", h.pid, err)
	}
	return h, nil
}

// Check finds out whether the lock is still where others look for it: somebody may have removed the runtime folder. If
// it is not, it is taken anew; *RunningError says that another controller was quicker.
func (h *Hold) Check() error {
	if h.lock.Still() {
		return nil
	}
	anew, err := Acquire(h.dir)
	if err != nil {
		return err
	}
	err = h.lock.Release()
	h.lock = anew.lock
	return err
}

// Release gives the city free. The pid file goes first, so that it never names a process without the lock; one that
// another controller has written meanwhile is left alone.
func (h *Hold) Release() error {
	if !h.lock.Still() {
		return h.lock.Release()
	}
	return errors.Join(os.Remove(h.pid), h.lock.Release())
}

func readPID(path string) int {
	data, err := os.ReadFile(path)
	if err != nil {
		return 0
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(data)))
	if err != nil {
		return 0
	}
	return pid
}
