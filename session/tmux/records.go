package tmux

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"path/filepath"
	"strings"

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

func (p *Provider) path(name, file string) string { return filepath.Join(p.dir, name, file) }

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
func (p *Provider) recall(name string) (rec record, x *ended, ok bool) {
	if err := readJSON(p.path(name, recordFile), &rec); err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			p.log.Error("cannot read a session's record: it is left alone", "session", name, "err",
				err)
		}
		return rec, nil, false
	}
	if rec.City != p.city || rec.Name != name {
		p.log.Warn("a session of another city is left alone", "session", name, "city", rec.City)
		return rec, nil, false
	}
	x = &ended{}
	if readJSON(p.path(name, exitFile), x) != nil || x.ID != rec.ID {
		x = nil
	}
	return rec, x, true
}

// asked reports whether somebody has told this life to end.
func (p *Provider) asked(rec *record) bool {
	data, err := disk.ReadFile(p.path(rec.Name, askedFile))
	return err == nil && string(data) == rec.ID
}

// keepOutputs removes the outputs of all lives but one.
func (p *Provider) keepOutputs(name, id string) {
	files, err := disk.ReadDir(filepath.Join(p.dir, name))
	if err != nil {
		return
	}
	for _, f := range files {
		if strings.HasPrefix(f.Name(), outputHead) && f.Name() != outputFile(id) {
			disk.Remove(p.path(name, f.Name())) // what stays is removed by the next start
		}
	}
}

// removeFolder removes what belongs in a session's folder, and the folder if nothing else is in it.
func (p *Provider) removeFolder(name string) {
	p.keepOutputs(name, "")
	for _, file := range []string{recordFile, exitFile, askedFile, lockFile, startFile} {
		if err := disk.Remove(p.path(name, file)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			p.log.Warn("cannot clear up a session's folder", "session", name, "err", err)
		}
	}
	disk.Remove(filepath.Join(p.dir, name)) // fails if somebody put a file of his own there
}
