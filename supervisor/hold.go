package supervisor

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"gcity/internal/disk"
	"gcity/internal/proc"
)

// Running is a supervisor that runs, as others find it.
type Running struct {
	PID int `json:"pid"`
	// of that process, as proc.Stat has it: what tells it from another that has got its pid
	Start   uint64    `json:"start"`
	Home    string    `json:"home"` // whose cities it runs
	Socket  string    `json:"socket"`
	Version string    `json:"version"`
	Started time.Time `json:"started"`
}

// RunningError says that there is a supervisor already.
type RunningError struct{ Running }

func (e *RunningError) Error() string {
	if e.PID == 0 {
		return "a supervisor runs already"
	}
	return fmt.Sprintf("a supervisor runs already (pid %d), for the cities of %s", e.PID, e.Home)
}

// Hold is the right to run the cities of a home: two locks, lest two run the same cities, or one's socket hides the
// other's.
type Hold struct {
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

// Acquire takes the locks, and writes down who has them. It fails with *RunningError while another process does.
func Acquire(h Home, version string) (*Hold, error) {
	if err := h.Make(); err != nil {
		return nil, err
	}
	hold := &Hold{home: h}
	for _, path := range h.locks() {
		lock, err := tryLock(path)
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
		return nil, fmt.Errorf("cannot look at this process: %w", err)
	}
	data, err := json.Marshal(Running{PID: os.Getpid(), Start: self.Start, Home: h.Dir,
		Socket: h.Socket(), Version: version, Started: time.Now()})
	if err != nil {
		hold.release()
		return nil, err
	}
	for _, path := range []string{h.record(), h.beside()} {
		if err := disk.Replace(path, append(data, '\n'), 0o600); err != nil {
			hold.release()
			return nil, fmt.Errorf("cannot write down that the supervisor runs: %w", err)
		}
	}
	return hold, nil
}

// tryLock allows the lock of a process that was killed a moment: a child that it was just making holds a copy until
// it has become another program.
func tryLock(path string) (*disk.Lock, error) {
	for end := time.Now().Add(lastBreath); ; time.Sleep(5 * time.Millisecond) {
		lock, err := disk.TryLock(path)
		if !errors.Is(err, disk.ErrLocked) || time.Now().After(end) {
			return lock, err
		}
	}
}

const lastBreath = time.Second

// beside is the record for those who share the socket's folder, and not the home.
func (h Home) beside() string { return filepath.Join(h.Run, "supervisor.json") }

// holder is who has a lock, as far as that is written down.
func (h Home) holder(lock string) Running {
	record := h.record()
	if lock == h.lock() {
		record = h.beside()
	}
	r, err := readRecord(record)
	if err != nil {
		return Running{}
	}
	return r
}

// Find says which supervisor runs the cities of a home, by whatever environment it was started; ok is false if none
// does.
func Find(h Home) (_ Running, ok bool, err error) {
	r, err := readRecord(h.record())
	if errors.Is(err, os.ErrNotExist) {
		return Running{}, false, nil
	}
	if err != nil {
		return Running{}, false, err
	}
	lock, err := disk.TryLock(filepath.Join(h.Dir, "supervisor.lock"))
	if errors.Is(err, disk.ErrLocked) { // perhaps by somebody who looks as well
		return r, proc.Lives(r.PID, r.Start), nil
	}
	if err != nil {
		return Running{}, false, err
	}
	return Running{}, false, lock.Release()
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

// Release gives the home free. The record goes first, so that it never names a process without the locks.
func (h *Hold) Release() {
	_ = os.Remove(h.home.record()) // without the lock nobody believes it
	_ = os.Remove(h.home.beside())
	h.release()
}

func (h *Hold) release() {
	for _, l := range h.locks {
		_ = l.Release() // the kernel releases it in any case
	}
}
