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

// Hold is the right to run a city's loop: the lock on the city's folder and the one on .gc/controller.lock. The
// folder stays open, so that both are found again where it is moved.
type Hold struct {
	dir    string
	folder *disk.Held
	lock   atomic.Pointer[disk.Lock]
	pid    string
}

// Via is a path that leads to the city's folder wherever it is moved, in this process only.
func (h *Hold) Via() string { return h.folder.Via() }

// Here returns a *disk.MovedError if the city's folder, or the runtime folder in it, is not at its path any more.
// From any goroutine.
func (h *Hold) Here() error {
	if err := h.folder.Here(); err != nil {
		return err
	}
	err := h.lock.Load().Moved()
	// with its folder
	if m, ok := errors.AsType[*disk.MovedError](err); ok && filepath.Base(m.To) ==
		filepath.Base(m.Path) {
		return &disk.MovedError{Path: filepath.Dir(m.Path), To: filepath.Dir(m.To)}
	}
	return err
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

// lastBreath is how long the lock of a controller that was killed may outlive it: a child that it was just making
// holds a copy until it has become another program, and a busy machine takes its time.
const lastBreath = 3 * time.Second

// Acquire takes the lock of the city in dir, making .gc (0700) if need be. It fails with *RunningError while
// another process has it. The pid file is for discovery only: nothing trusts it but the wait for the lock of a
// dead one, which may last some seconds.
func Acquire(dir string) (*Hold, error) { return acquire(dir, lastBreath) }

func acquire(dir string, patience time.Duration) (*Hold, error) {
	h := &Hold{dir: dir, pid: filepath.Join(dir, ".gc", "daemon.pid")}
	err := h.await(patience, func() (err error) {
		h.folder, err = disk.Hold(dir)
		return err
	})
	if err != nil {
		return nil, err
	}
	h.pid = filepath.Join(h.Via(), ".gc", "daemon.pid")
	if err := h.take(patience); err != nil {
		return nil, errors.Join(err, h.folder.Close())
	}
	return h, nil
}

// await takes a lock. It waits for the lock of a dead controller, and for one without a pid file.
func (h *Hold) await(patience time.Duration, take func() error) error {
	for began := time.Now(); ; {
		err := take()
		if !errors.Is(err, disk.ErrLocked) {
			return err
		}
		// Without a pid file a controller starts or ends, or a command looks whether the city is held.
		pid := readPID(h.pid)
		if pid != 0 && runs(pid) || time.Since(began) > patience {
			return &RunningError{Path: h.dir, PID: pid}
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// take makes the runtime folder if need be, and takes the lock in it.
func (h *Hold) take(patience time.Duration) error {
	gc := filepath.Join(h.Via(), ".gc")
	if err := disk.MkdirAll(gc, 0o700); err != nil {
		return fmt.Errorf("cannot make the city's runtime folder: %w", err)
	}
	var lock *disk.Lock
	err := h.await(patience, func() (err error) {
		lock, err = disk.TryLock(filepath.Join(gc, "controller.lock"))
		return err
	})
	if err != nil {
		return err
	}
	pid := strconv.Itoa(os.Getpid()) + "\n"
	if err := disk.Replace(h.pid, []byte(pid), 0o600); err != nil && !h.blank() {
		return errors.Join(fmt.Errorf("cannot write %s: %w", disk.Real(h.pid), err), lock.Release())
	}
	h.lock.Store(lock)
	return nil
}

// blank has a pid file that names nobody, where it cannot be written: on a full disk, or one that is read-only
// now. One that is old does: it is there, which is what others look for before they try the lock.
func (h *Hold) blank() bool {
	f, err := disk.OpenFile(h.pid, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err == nil {
		return f.Close() == nil
	}
	_, err = disk.Lstat(h.pid)
	return err == nil
}

// Check finds out whether the city is still ours and where it was. A *disk.MovedError says that its folder, or the
// runtime folder in it, was moved: then nothing is made at the old path. A runtime folder that was removed is made
// and locked again; *RunningError says that another controller was quicker.
func (h *Hold) Check() error {
	if err := h.Here(); err != nil {
		return err
	}
	old := h.lock.Load()
	if old.Still() {
		return nil
	}
	if err := h.take(0); err != nil { // the loop waits for nobody
		return err
	}
	return old.Release()
}

// Release gives the city free. The pid file goes first, so that it never names a process without the lock; one that
// another controller has written meanwhile is left alone.
func (h *Hold) Release() error {
	lock := h.lock.Load()
	if !lock.Still() {
		return errors.Join(lock.Release(), h.folder.Close())
	}
	return errors.Join(disk.Remove(h.pid), lock.Release(), h.folder.Close())
}

// runs reports whether a process is there and not a zombie.
func runs(pid int) bool {
	st, err := proc.ReadStat(pid)
	return err == nil && st.State != 'Z' && st.State != 'X'
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
