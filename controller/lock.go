package controller

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"gcity/internal/disk"
	"gcity/internal/proc"
)

// Hold is the ownership of a city: locks on its folder and on .gc/controller.lock. It stays usable after the folder has
// moved.
type Hold struct {
	dir    string
	folder *disk.Held
	lock   atomic.Pointer[disk.Lock]
	pid    string
}

// StablePath returns a path that leads to the city's folder even after the folder has been moved. The path is valid
// only in this process.
func (h *Hold) StablePath() string { return h.folder.StablePath() }

// CheckPath returns a *disk.MovedError if the city's folder or its runtime folder is no longer at its path. It is safe
// for concurrent use.
func (h *Hold) CheckPath() error {
	if err := h.folder.CheckPath(); err != nil {
		return err
	}
	err := h.lock.Load().Moved()
	// the runtime folder has been moved if the lock file's name is unchanged
	if m, ok := errors.AsType[*disk.MovedError](err); ok && filepath.Base(m.To) ==
		filepath.Base(m.Path) {
		return &disk.MovedError{Path: filepath.Dir(m.Path), To: filepath.Dir(m.To)}
	}
	return err
}

// RunningError means that another controller owns the city.
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

// lockLinger is how long a killed controller's lock may stay held. The kernel needs time to end the process. A child
// process inherits the lock and keeps it until it executes another program.
const lockLinger = 3 * time.Second

// Acquire locks the city in dir, and creates .gc (0700) if necessary. It returns a *RunningError if another process
// holds the lock. If that process appears to be dead or was killed, Acquire waits a few seconds for the lock.
func Acquire(dir string) (*Hold, error) { return acquire(dir, lockLinger) }

func acquire(dir string, patience time.Duration) (*Hold, error) {
	h := &Hold{dir: dir, pid: filepath.Join(dir, ".gc", "daemon.pid")}
	err := h.await(dir, patience, func() (err error) {
		h.folder, err = disk.Hold(dir)
		return err
	})
	if err != nil {
		return nil, err
	}
	h.pid = filepath.Join(h.StablePath(), ".gc", "daemon.pid")
	if err := h.take(patience); err != nil {
		return nil, errors.Join(err, h.folder.Close())
	}
	return h, nil
}

// await calls take, which locks the file or folder at path, until it succeeds, fails, or a controller holds the lock.
func (h *Hold) await(path string, patience time.Duration, take func() error) error {
	for began := time.Now(); ; {
		err := take()
		if !errors.Is(err, disk.ErrLocked) {
			return err
		}
		// if no PID is recorded, a controller is starting or ending, or a command is testing the lock
		pid := readPID(h.pid)
		if pid != 0 && runs(pid) || time.Since(began) > patience {
			return &RunningError{Path: h.dir, PID: proc.LockHolder(path, pid)}
		}
		time.Sleep(5 * time.Millisecond)
	}
}

func (h *Hold) take(patience time.Duration) error {
	gc := filepath.Join(h.StablePath(), ".gc")
	if err := disk.MkdirAll(gc, 0o700); err != nil {
		return fmt.Errorf("cannot create the city's runtime folder: %w", err)
	}
	var lock *disk.Lock
	path := filepath.Join(gc, "controller.lock")
	err := h.await(path, patience, func() (err error) {
		lock, err = disk.TryLock(path)
		return err
	})
	if err != nil {
		return err
	}
	pid := strconv.Itoa(os.Getpid()) + "\n"
	if err := disk.Replace(h.pid, []byte(pid), 0o600); err != nil && !h.blank() {
		return errors.Join(fmt.Errorf("cannot write the controller's PID file: %w", err),
			lock.Release())
	}
	h.lock.Store(lock)
	return nil
}

// blank creates or empties the pid file, because commands check the lock only if this file exists. It reports whether
// the file exists.
func (h *Hold) blank() bool {
	f, err := disk.OpenFile(h.pid, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err == nil {
		return f.Close() == nil
	}
	_, err = disk.Lstat(h.pid)
	return err == nil
}

// Check returns an error if this controller no longer owns the city: a *disk.MovedError if a folder was moved, or a
// *RunningError if another controller has locked it. If the runtime folder was removed, Check creates and locks it
// again.
func (h *Hold) Check() error {
	if err := h.CheckPath(); err != nil {
		return err
	}
	old := h.lock.Load()
	if old.AtPath() {
		return nil
	}
	if err := h.take(0); err != nil {
		return err
	}
	return old.Release()
}

// Release removes the pid file and then unlocks the city, so that the file never names a process without the lock. It
// does not touch the files of a controller that has taken over.
func (h *Hold) Release() error {
	lock := h.lock.Load()
	if !lock.AtPath() {
		return errors.Join(lock.Release(), h.folder.Close())
	}
	return errors.Join(disk.Remove(h.pid), lock.Release(), h.folder.Close())
}

func runs(pid int) bool {
	st, err := proc.ReadStat(pid)
	return err == nil && !st.Exited() && !proc.Killed(pid)
}

func readPID(path string) int {
	data, err := disk.ReadFile(path)
	if err != nil {
		return 0
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(data)))
	if err != nil {
		return 0
	}
	return pid
}
