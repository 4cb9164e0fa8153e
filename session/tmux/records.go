package tmux

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"gcity/internal/disk"
	"gcity/internal/proc"
	"gcity/session"
)

// record describes a session. The process that becomes the agent writes it.
type record struct {
	Name  string `json:"name"`
	Agent string `json:"agent"`
	City  string `json:"city"`
	ID    string `json:"id"`

	Boot   string `json:"boot"`
	Server int    `json:"server"` // PID of the tmux server
	Pane   string `json:"pane"`   // for example "%5"
	TTY    string `json:"tty"`
	PID    int    `json:"pid"`
	Start  uint64 `json:"start"` // in clock ticks since boot
	Born   int64  `json:"born"`  // in Unix nanoseconds
	Cols   int    `json:"cols"`
	Rows   int    `json:"rows"`
	Ready  bool   `json:"ready"` // the agent counted as ready immediately

	StopSignal string `json:"stop_signal,omitempty"` // see session.ParseSignal; "" for an interrupt

	Fingerprint session.Fingerprint `json:"fingerprint"`
}

func (r *record) lives(boot string) bool { return r.Boot == boot && proc.Lives(r.PID, r.Start) }

// died returns false if the process cannot be examined.
func (r *record) died(boot string) bool { return r.Boot != boot || proc.Ended(r.PID, r.Start) }

type ended struct {
	session.Exit
	Acked bool `json:"acked"`
	Cols  int  `json:"cols"` // size of the screen on which the retained output was printed
	Rows  int  `json:"rows"`
}

// the name of the output file also contains the session's ID
const (
	recordFile = "session.json"
	exitFile   = "exit.json"
	lockFile   = "lock"  // held by all processes of the agent
	startFile  = "start" // held by the process that starts the session
	askedFile  = "asked" // contains the ID of the session that has been asked to stop
	outputHead = "output-"
)

func outputFile(id string) string {
	sum := sha256.Sum256([]byte(id))
	return outputHead + hex.EncodeToString(sum[:8])
}

type folders struct {
	city    string
	dir     string
	boot    string
	observe bool
	log     *slog.Logger
}

func newFolders(city, boot string, observe bool, log *slog.Logger) folders {
	dir := filepath.Join(city, ".gc", "tmux")
	return folders{city: city, dir: dir, boot: boot, observe: observe, log: log}
}

func (f *folders) path(name, file string) string { return filepath.Join(f.dir, name, file) }

func readJSON(path string, v any) error {
	data, err := disk.ReadFile(path)
	if err != nil {
		return err
	}
	return json.Unmarshal(data, v)
}

func writeJSON(path string, v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return disk.Replace(path, append(data, '\n'), 0o600)
}

// recall reads the record and the exit of a session. x is nil if no exit is recorded. recall returns an error if this
// city has no such session, or if the files cannot be read.
func (f *folders) recall(name string) (rec record, x *ended, err error) {
	if err := readJSON(f.path(name, recordFile), &rec); err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			f.log.Error("cannot read a session's record; ignoring the session", "session", name,
				"err",
				err)
		}
		return rec, nil, err
	}
	if rec.City != f.city || rec.Name != name {
		f.log.Warn("ignoring a session of another city", "session", name, "city", rec.City)
		return rec, nil, fs.ErrNotExist
	}
	x = &ended{}
	err = readJSON(f.path(name, exitFile), x)
	if proc.Exhausted(err) {
		return rec, nil, fmt.Errorf("cannot read the exit of session %q: %w", name, err)
	}
	if err != nil || x.ID != rec.ID {
		x = nil
	}
	return rec, x, nil
}

func (f *folders) asked(rec *record) bool {
	data, err := disk.ReadFile(f.path(rec.Name, askedFile))
	return err == nil && string(data) == rec.ID
}

// noteRequest finds out when an earlier provider requested to stop the session.
func (f *folders) noteRequest(e *entry) {
	rec, alive := e.life()
	if !alive || !f.asked(&rec) {
		return
	}
	if info, err := disk.Lstat(f.path(rec.Name, askedFile)); err == nil {
		e.mu.Lock()
		e.askedAt = info.ModTime()
		e.mu.Unlock()
	}
}

// forgetRequest withdraws an earlier provider's request if the session has survived it. Later, the session exits for
// another reason.
func (f *folders) forgetRequest(e *entry) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if f.observe || e.askedAt.IsZero() || time.Since(e.askedAt) < stopTimeout {
		return
	}
	if err := disk.RemoveAny(f.path(e.name, askedFile)); err != nil {
		f.log.Warn("cannot withdraw the request to stop a session: its exit will count as "+
			"requested", "session", e.name, "err", err)
		return
	}
	e.askedAt = time.Time{}
}

func (f *folders) keepOutputs(name, id string) {
	files, err := disk.ReadDir(filepath.Join(f.dir, name))
	if err != nil {
		return
	}
	for _, file := range files {
		if strings.HasPrefix(file.Name(), outputHead) && file.Name() != outputFile(id) {
			disk.Remove(f.path(name, file.Name())) // the next start tries again
		}
	}
}

func (f *folders) removeFolder(name string) {
	f.keepOutputs(name, "")
	for _, file := range []string{recordFile, exitFile, askedFile, lockFile, startFile} {
		if err := disk.RemoveAny(f.path(name, file)); err != nil {
			f.log.Warn("cannot clean up a session's folder", "session", name, "err", err)
		}
	}
	disk.Remove(filepath.Join(f.dir, name)) // fails if the folder contains other files
}

// sweep kills the processes of a session and those in tree. It returns the processes that it could not kill.
func (f *folders) sweep(rec *record, tree map[int]uint64) (left []int) {
	marked := proc.Marked("GC_SESSION_ID="+rec.ID, f.path(rec.Name, lockFile))
	_, left, err := proc.Sweep(func(pid int) bool {
		if start, ok := tree[pid]; ok && proc.Lives(pid, start) ||
			pid == rec.PID && rec.lives(f.boot) {
			return true
		}
		st, err := proc.ReadStat(pid)
		// a process that started before the agent does not belong to the session
		return err == nil && st.Start >= rec.Start && marked(pid)
	}, time.Now().Add(sweepTimeout))
	if err != nil || len(left) > 0 {
		f.log.Warn("cannot kill all of a session's remaining processes", "session", rec.Name,
			"left", left, "err", err)
	}
	return left
}

func (f *folders) serverOf(rec *record) int {
	if rec.Boot != f.boot || !rec.lives(f.boot) {
		return 0
	}
	return rec.Server
}

func (f *folders) clearUnstarted(name string) bool {
	if f.observe {
		return false
	}
	if _, err := os.Stat(f.path(name, recordFile)); err == nil {
		return true // unreadable, or of another city
	}
	fd, err := proc.Lock(f.path(name, startFile), time.Now())
	if err != nil {
		return false
	}
	defer proc.Close(fd)
	f.removeFolder(name)
	return true
}
