package controller

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"gcity/internal/disk"
	"gcity/internal/proc"
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

// lastBreath is how long the lock of a controller that was killed may outlive it: a child that it was just making holds a
// copy until it has become another program, and a busy machine takes its time.
const lastBreath = 3 * time.Second

// passing is how long a lock is waited for that no pid file goes with: a controller that starts or ends has it for a
// moment, and so has a command that looks whether the city is held.
const passing = 500 * time.Millisecond

// Acquire takes the lock of the city in dir, making .gc (0700) if need be. It fails with *RunningError while another
// process has it. The pid file is for discovery only: nothing trusts it but the wait for the lock of a dead one, which may
// last some seconds.
func Acquire(dir string) (*Hold, error) { return acquire(dir, lastBreath) }

func acquire(dir string, patience time.Duration) (*Hold, error) {
	gc := filepath.Join(dir, ".gc")
	if err := disk.MkdirIn(dir, gc, 0o700); err != nil {
		return nil, fmt.Errorf("cannot make the city's runtime folder: %w", err)
	}
	h := &Hold{dir: dir, pid: filepath.Join(gc, "daemon.pid")}
	lock, err := disk.TryLock(filepath.Join(gc, "controller.lock"))
	for began := time.Now(); errors.Is(err, disk.ErrLocked); {
		pid, limit := readPID(h.pid), patience
		if pid == 0 {
			limit = min(patience, passing)
		}
		if pid != 0 && runs(pid) || time.Since(began) > limit {
			return nil, &RunningError{Path: dir, PID: pid}
		}
		time.Sleep(5 * time.Millisecond)
		lock, err = disk.TryLock(filepath.Join(gc, "controller.lock"))
	}
	if err != nil {
		return nil, err
	}
	h.lock = lock
	if err := disk.Replace(h.pid, []byte(strconv.Itoa(os.Getpid())+"\n"), 0o600); err != nil && !h.blank() {
		lock.Release()
		return nil, fmt.Errorf("cannot write %s: %w", h.pid, err)
	}
	return h, nil
}

// blank has a pid file that names nobody, where it cannot be written: on a full disk, or one that is read-only now. One that is
// old does: it is there, which is what others look for before they try the lock.
func (h *Hold) blank() bool {
	_ = os.Truncate(h.pid, 0)
	if _, err := os.Stat(h.pid); err == nil {
		return true
	}
	f, err := os.OpenFile(h.pid, os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return false
	}
	return f.Close() == nil
}

// Check finds out whether the lock is still where others look for it: somebody may have removed the runtime folder. If
// it is not, it is taken anew; *RunningError says that another controller was quicker.
func (h *Hold) Check() error {
	if h.lock.Still() {
		return nil
	}
	anew, err := acquire(h.dir, 0) // the loop waits for nobody
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

// runs reports whether a process is there and not a zombie.
func runs(pid int) bool {
	st, err := proc.ReadStat(pid)
	return err == nil && st.State != 'Z' && st.State != 'X'
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
