package tmux

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
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

// record is what is known of a life beyond the controller's. The process that becomes the agent writes it, under the
// session's lock.
type record struct {
	Name  string `json:"name"`
	Agent string `json:"agent"`
	City  string `json:"city"`
	ID    string `json:"id"`

	Boot   string `json:"boot"`
	Server int    `json:"server"` // pid
	Pane   string `json:"pane"`   // "%5"
	TTY    string `json:"tty"`
	PID    int    `json:"pid"`
	Start  uint64 `json:"start"` // of the process, in ticks
	Born   int64  `json:"born"`  // unix nanoseconds
	Cols   int    `json:"cols"`
	Rows   int    `json:"rows"`
	Ready  bool   `json:"ready"` // nothing had to be settled

	StopSignal string `json:"stop_signal,omitempty"` // see session.ParseSignal; "" = interrupt

	Fingerprint session.Fingerprint `json:"fingerprint"`
}

// lives reports whether the agent's own process does.
func (r *record) lives(boot string) bool { return r.Boot == boot && proc.Lives(r.PID, r.Start) }

// ended is an end that is on record.
type ended struct {
	session.Exit
	Acked bool `json:"acked"`
	Cols  int  `json:"cols"` // of the screen whose output is kept
	Rows  int  `json:"rows"`
}

// The files in a session's folder. That of the output is called after the life.
const (
	recordFile = "session.json"
	exitFile   = "exit.json"
	lockFile   = "lock"  // held by all processes of the agent
	startFile  = "start" // held by whoever is starting it
	askedFile  = "asked" // the id of the life that somebody has told to end
	outputHead = "output-"
)

func outputFile(id string) string {
	sum := sha256.Sum256([]byte(id))
	return outputHead + hex.EncodeToString(sum[:8])
}

// folders are the folders of a city's sessions.
type folders struct {
	city    string
	dir     string // .gc/tmux
	boot    string // the ID of this boot
	observe bool   // see Options.Observe
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

// recall reads what is on record of a name: ok if there is a life of this city, x if it is over.
func (f *folders) recall(name string) (rec record, x *ended, ok bool) {
	if err := readJSON(f.path(name, recordFile), &rec); err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			f.log.Error("cannot read a session's record: it is left alone", "session", name, "err",
				err)
		}
		return rec, nil, false
	}
	if rec.City != f.city || rec.Name != name {
		f.log.Warn("a session of another city is left alone", "session", name, "city", rec.City)
		return rec, nil, false
	}
	x = &ended{}
	if readJSON(f.path(name, exitFile), x) != nil || x.ID != rec.ID {
		x = nil
	}
	return rec, x, true
}

// asked reports whether somebody has told this life to end.
func (f *folders) asked(rec *record) bool {
	data, err := disk.ReadFile(f.path(rec.Name, askedFile))
	return err == nil && string(data) == rec.ID
}

// keepOutputs removes the outputs of all lives but one.
func (f *folders) keepOutputs(name, id string) {
	files, err := disk.ReadDir(filepath.Join(f.dir, name))
	if err != nil {
		return
	}
	for _, file := range files {
		if strings.HasPrefix(file.Name(), outputHead) && file.Name() != outputFile(id) {
			disk.Remove(f.path(name, file.Name())) // what stays is removed by the next start
		}
	}
}

// removeFolder removes what belongs in a session's folder, and the folder if nothing else is in it.
func (f *folders) removeFolder(name string) {
	f.keepOutputs(name, "")
	for _, file := range []string{recordFile, exitFile, askedFile, lockFile, startFile} {
		if err := disk.Remove(f.path(name, file)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			f.log.Warn("cannot clear up a session's folder", "session", name, "err", err)
		}
	}
	disk.Remove(filepath.Join(f.dir, name)) // fails if somebody put a file of his own there
}

// sweep kills what belongs to a life: its process and the tree as it was, what carries its id in the environment, and
// what has its lock open. It returns what will not die.
func (f *folders) sweep(rec *record, tree map[int]uint64) (left []int) {
	marked := proc.Marked("GC_SESSION_ID="+rec.ID, f.path(rec.Name, lockFile))
	_, left, err := proc.Sweep(func(pid int) bool {
		if start, ok := tree[pid]; ok && proc.Lives(pid, start) ||
			pid == rec.PID && rec.lives(f.boot) {
			return true
		}
		st, err := proc.ReadStat(pid)
		// nobody is older than the agent that he comes from
		return err == nil && st.Start >= rec.Start && marked(pid)
	}, time.Now().Add(sweepTimeout))
	if err != nil || len(left) > 0 {
		f.log.Warn("cannot end all that a session left behind", "session", rec.Name, "left", left,
			"err", err)
	}
	return left
}

// serverOf is the server of a record, if it may still run.
func (f *folders) serverOf(rec *record) int {
	if rec.Boot != f.boot || !rec.lives(f.boot) {
		return 0
	}
	return rec.Server
}

// clearUnborn removes the folder of a start that never came so far as a record. False: the next look decides.
func (f *folders) clearUnborn(name string) bool {
	if f.observe {
		return false
	}
	if _, err := os.Stat(f.path(name, recordFile)); err == nil {
		return true // of another city, or unreadable: it is not ours to judge
	}
	fd, err := proc.Lock(f.path(name, startFile), time.Now())
	if err != nil {
		return false
	}
	defer proc.Close(fd)
	f.removeFolder(name)
	return true
}
