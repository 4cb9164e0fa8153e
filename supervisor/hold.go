package supervisor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"gcity/internal/disk"
	"gcity/internal/proc"
)

// Running is the record by which other processes find a running supervisor.
type Running struct {
	PID int `json:"pid"`
	// start time of the process, as in proc.Stat
	Start   uint64    `json:"start"`
	Home    string    `json:"home"`
	Socket  string    `json:"socket"`
	Version string    `json:"version"`
	Started time.Time `json:"started"`
}

// RunningError means that a supervisor is already running.
type RunningError struct{ Running }

func (e *RunningError) Error() string {
	if e.PID == 0 {
		return "a supervisor is already running"
	}
	return fmt.Sprintf("a supervisor is already running (pid %d), for the cities of %s", e.PID,
		e.Home)
}

// HomeLock is the exclusive right to run the cities of a home.
type HomeLock struct {
	home  Home
	locks []*disk.Lock
}

func (h Home) locks() []string {
	own := filepath.Join(h.Dir, "supervisor.lock")
	if own == h.lock() {
		return []string{own}
	}
	return []string{own, h.lock()}
}

func (h Home) record() string { return filepath.Join(h.Dir, "supervisor.json") }

// Acquire takes the locks and records their owner. If another process holds a lock, the error is a *RunningError.
func Acquire(h Home, version string) (*HomeLock, error) {
	if err := h.Make(); err != nil {
		return nil, err
	}
	hold := &HomeLock{home: h}
	for _, path := range h.locks() {
		ctx, cancel := context.WithTimeout(context.Background(), lockRetryLimit)
		lock, err := disk.AwaitLock(ctx, path)
		cancel()
		if err == nil {
			hold.locks = append(hold.locks, lock)
			continue
		}
		hold.release()
		if errors.Is(err, disk.ErrLocked) {
			return nil, &RunningError{h.holder(path)}
		}
		return nil, err
	}
	self, err := proc.ReadStat(os.Getpid())
	if err != nil {
		hold.release()
		return nil, fmt.Errorf("cannot read the state of this process: %w", err)
	}
	data, err := json.Marshal(Running{PID: os.Getpid(), Start: self.Start, Home: h.Dir,
		Socket: h.Socket(), Version: version, Started: time.Now()})
	if err != nil {
		hold.release()
		return nil, err
	}
	for _, path := range []string{h.record(), h.socketRecord()} {
		if err := disk.Replace(path, append(data, '\n'), 0o600); err != nil {
			hold.release()
			return nil, fmt.Errorf("cannot write the supervisor's record: %w", err)
		}
	}
	return hold, nil
}

const lockRetryLimit = time.Second

// socketRecord returns the path of a copy of the record, for supervisors with a different home but the same socket
// folder.
func (h Home) socketRecord() string { return filepath.Join(h.Run, "supervisor.json") }

func (h Home) holder(lock string) Running {
	record := h.record()
	if lock == h.lock() {
		record = h.socketRecord()
	}
	r, err := readRecord(record)
	if err != nil {
		return Running{}
	}
	return r
}

// Find returns the supervisor that runs the cities of a home. ok is false if none is running.
func Find(h Home) (_ Running, ok bool, err error) {
	// A damaged record is an error only if the lock stays held. Another call to Find holds it
	// briefly, and a starting supervisor has not written its record yet.
	for end := time.Now().Add(lockRetryLimit); ; time.Sleep(5 * time.Millisecond) {
		r, unread := readRecord(h.record())
		if errors.Is(unread, os.ErrNotExist) {
			return Running{}, false, nil
		}
		lock, err := disk.TryLock(filepath.Join(h.Dir, "supervisor.lock"))
		switch {
		case err == nil:
			return Running{}, false, lock.Release()
		case !errors.Is(err, disk.ErrLocked):
			return Running{}, false, err
		case unread == nil: // another call to Find might hold the lock
			return r, proc.Lives(r.PID, r.Start), nil
		case time.Now().After(end):
			return Running{}, false, unread
		}
	}
}

func readRecord(path string) (Running, error) {
	var r Running
	data, err := os.ReadFile(path)
	if err != nil {
		return r, err
	}
	if err := json.Unmarshal(data, &r); err != nil {
		return r, fmt.Errorf("%s is damaged: %w", path, err)
	}
	return r, nil
}

// Release removes the records and then releases the locks. In the opposite order, it could remove the next owner's
// records.
func (h *HomeLock) Release() {
	_ = os.Remove(h.home.record()) // without the lock, the record is ignored
	_ = os.Remove(h.home.socketRecord())
	h.release()
}

func (h *HomeLock) release() {
	for _, l := range h.locks {
		_ = l.Release() // if this fails, the kernel releases the lock at exit
	}
}
