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

// Hold is the ownership of a city: the locks on its folder and on .gc/controller.lock. The folder stays open, so
// both are found after a move.
type Hold struct {
	dir    string
	folder *disk.Held
	lock   atomic.Pointer[disk.Lock]
	pid    string
}

// Via returns a path that leads to the city's folder even after a move, in this process only.
func (h *Hold) Via() string { return h.folder.Via() }

// Here returns a *disk.MovedError if the city's folder or its runtime folder is not at its path any more. From any
// goroutine.
func (h *Hold) Here() error {
	if err := h.folder.Here(); err != nil {
		return err
	}
	err := h.lock.Load().Moved()
	// moved with the folder
	if m, ok := errors.AsType[*disk.MovedError](err); ok && filepath.Base(m.To) ==
		filepath.Base(m.Path) {
		return &disk.MovedError{Path: filepath.Dir(m.Path), To: filepath.Dir(m.To)}
	}
	return err
}

// RunningError says that another controller owns the city.
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

// lastBreath is how long the lock of a killed controller may outlive it: a child process that is being created
// holds a copy until it executes another program.
const lastBreath = 3 * time.Second

// Acquire takes the lock of the city in dir and creates .gc (0700) if necessary. It fails with *RunningError while
// another process has it. The pid file is only a hint; it is used to wait some seconds for the lock of a dead
// process.
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
		// without a pid file, a controller is starting or ending, or a command is checking the lock
		pid := readPID(h.pid)
		if pid != 0 && runs(pid) || time.Since(began) > patience {
			return &RunningError{Path: h.dir, PID: pid}
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// take creates the runtime folder if necessary and takes its lock.
func (h *Hold) take(patience time.Duration) error {
	gc := filepath.Join(h.Via(), ".gc")
	if err := disk.MkdirAll(gc, 0o700); err != nil {
		return fmt.Errorf("cannot create the city's runtime folder: %w", err)
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

// blank replaces a pid file that cannot be written, as on a full disk. An old file suffices: other processes check
// that it exists before they try the lock.
func (h *Hold) blank() bool {
	f, err := disk.OpenFile(h.pid, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err == nil {
		return f.Close() == nil
	}
	_, err = disk.Lstat(h.pid)
	return err == nil
}

// Check reports whether this controller still owns the city. *disk.MovedError says that the folder or the runtime
// folder was moved; nothing is created at the old path. A removed runtime folder is created and locked again.
// *RunningError says that another controller was faster.
func (h *Hold) Check() error {
	if err := h.Here(); err != nil {
		return err
	}
	old := h.lock.Load()
	if old.Still() {
		return nil
	}
	if err := h.take(0); err != nil { // the loop must not wait
		return err
	}
	return old.Release()
}

// Release releases the city. The pid file is removed first, so it never names a process without the lock. A file of
// another controller is not removed.
func (h *Hold) Release() error {
	lock := h.lock.Load()
	if !lock.Still() {
		return errors.Join(lock.Release(), h.folder.Close())
	}
	return errors.Join(disk.Remove(h.pid), lock.Release(), h.folder.Close())
}

// runs reports whether a process exists and is not a zombie.
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
