package trust

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"gcity/internal/disk"
	"gcity/internal/ownership"
)

// Ledger stores which cities a user trusts.
type Ledger struct {
	dir     string          // folder of the records; "" = unknown
	all     bool            // GCITY_TRUST is "all"
	folders func() []string // returns the folders in which every city is trusted; may be nil
}

const noFolder = "neither XDG_STATE_HOME nor HOME is an absolute path (set one of them, or set " +
	"GCITY_TRUST=" + Everything + " to trust every city)"

// Everything is the value of GCITY_TRUST that makes every city trusted.
const Everything = "all"

// Open returns the ledger below $XDG_STATE_HOME or ~/.local/state. folders returns the folders in which the user trusts
// every city.
func Open(getenv func(string) string, folders func() []string) *Ledger {
	l := &Ledger{all: getenv("GCITY_TRUST") == Everything, folders: folders}
	base := getenv("XDG_STATE_HOME")
	if home := getenv("HOME"); !filepath.IsAbs(base) && filepath.IsAbs(home) {
		base = filepath.Join(home, ".local", "state")
	}
	if filepath.IsAbs(base) {
		l.dir = filepath.Join(base, "gcity", "trust")
	}
	return l
}

func (l *Ledger) file(dir string) string {
	sum := sha256.Sum256([]byte(dir))
	return filepath.Join(l.dir, hex.EncodeToString(sum[:12])+".json")
}

// Always reports whether a setting makes a city trusted without a record, and returns that setting.
func (l *Ledger) Always(dir string) (why string, always bool) {
	if l.all {
		return "GCITY_TRUST=" + Everything, true
	}
	if l.folders == nil {
		return "", false
	}
	for _, f := range l.folders() {
		if within(filepath.Clean(f), dir) {
			return "[trust] folders", true
		}
	}
	return "", false
}

func (l *Ledger) check(dir string, programs func() ([]Program, error)) error {
	if l.all {
		return nil
	}
	rec, err := l.Load(dir)
	if err != nil {
		return err
	}
	if _, always := l.Always(dir); always {
		return nil
	}
	if rec == nil {
		refused := Judge(dir, nil, nil, nil)
		if all, err := programs(); err == nil {
			refused.Files = filesWith(all)
		}
		switch {
		case l.dir == "":
			refused.Why = "the record of trusted cities cannot be found, because " + noFolder
		case l.revoked(dir):
			refused.Why = "you have revoked your trust"
		}
		return refused
	}
	all, err := programs()
	if err != nil {
		return fmt.Errorf("cannot list the programs that the city in %s runs: %w", dir, err)
	}
	if refused := judgeNow(dir, rec, all); refused != nil {
		return refused
	}
	return nil
}

// A pull writes files before it moves HEAD, so judgeNow judges new programs only after git has finished.
func judgeNow(dir string, rec *Record, programs []Program) *Refusal {
	isNew := func(p Program) bool {
		return p.Content == nil && !rec.covers(p)
	}
	if !slices.ContainsFunc(programs, isNew) {
		return Judge(dir, rec, programs, Heads(dir, programs))
	}
	return Judge(dir, rec, programs, settledHeads(dir, programs))
}

// Moved reports whether a checkout of a trusted city has another commit than the city's record, or can contain files of
// another commit because git is changing it or has stopped at a conflict.
func (l *Ledger) Moved(dir string) bool {
	rec, err := l.Load(dir)
	if rec == nil || err != nil {
		return false
	}
	for repo, commit := range rec.Heads {
		gitDir, ok := gitDirOf(repo)
		if !ok {
			continue
		}
		if h := headOf(gitDir); h.Commit != commit || h.Busy || time.Since(h.indexed) < settleTime {
			return true
		}
	}
	return false
}

// Extend records all programs of a trusted city and the current commits. known contains the city's programs. If the
// record must change, Extend calls read to read them again. If read returns false, Extend records nothing. Both lists
// must contain every program: if a pull has changed an omitted one, the change would later look like a local edit.
func (l *Ledger) Extend(dir string, known []Program, read func() ([]Program, bool)) error {
	rec, err := l.Load(dir)
	if rec == nil || err != nil {
		return err
	}
	// Read the heads before the programs. Otherwise, after a pull between the two, the record
	// would contain the new HEAD but not the new programs. These would later look like edits.
	heads := Heads(dir, known)
	if rec.extended(known, heads).equal(*rec) {
		return nil
	}
	programs, complete := read()
	if !complete {
		return nil
	}
	next := rec.extended(programs, heads) // before the heads are judged, because it reads Content
	if refused := judgeNow(dir, rec, programs); refused != nil {
		return nil
	}
	return l.locked(dir, func() error {
		// the user might have revoked the trust in the meantime
		if now, err := l.Load(dir); now == nil || err != nil || !now.equal(*rec) {
			return err
		}
		return l.write(next)
	})
}

// locked calls f while it holds the lock of the city's record. The folder of the records must exist.
func (l *Ledger) locked(dir string, f func() error) error {
	for end := time.Now().Add(lockLimit); ; time.Sleep(lockRetry) {
		lock, err := disk.TryLock(strings.TrimSuffix(l.file(dir), ".json") + ".lock")
		if err == nil {
			return errors.Join(f(), lock.Release())
		}
		if !errors.Is(err, disk.ErrLocked) || time.Now().After(end) {
			return fmt.Errorf("cannot change the record of trusted cities: %w", err)
		}
	}
}

const (
	lockLimit = 10 * time.Second
	lockRetry = 10 * time.Millisecond
)

// Load reads a city's record. It returns nil if the city has no record.
func (l *Ledger) Load(dir string) (*Record, error) {
	if l.dir == "" {
		return nil, nil
	}
	path := l.file(dir)
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err == nil {
		err = ownership.Check(path)
	}
	var r Record
	if err == nil {
		err = json.Unmarshal(data, &r)
	}
	if err != nil {
		return nil, fmt.Errorf("cannot read the record of trusted cities (%s): %w", path, err)
	}
	if r.Path != dir {
		return nil, nil
	}
	return &r, nil
}

// Save stores a record. It replaces the city's previous record.
func (l *Ledger) Save(r Record) error {
	if l.dir == "" {
		return errors.New("cannot write the record of trusted cities: " + noFolder)
	}
	if err := os.MkdirAll(l.dir, 0o700); err != nil {
		return fmt.Errorf("cannot write the record of trusted cities: %w; set XDG_STATE_HOME to "+
			"a folder of your own, or set GCITY_TRUST=%s to trust every city", err, Everything)
	}
	return l.locked(r.Path, func() error { return l.write(r) })
}

func (l *Ledger) write(r Record) error {
	data, err := json.MarshalIndent(r, "", "  ")
	if err == nil {
		err = disk.WriteFile(l.file(r.Path), append(data, '\n'), 0o600)
	}
	if err != nil {
		return fmt.Errorf("cannot write the record of trusted cities: %w", err)
	}
	return nil
}

// Trust records that the user trusts these programs.
func (l *Ledger) Trust(dir string, programs []Program, now time.Time) error {
	return l.Save(NewRecord(dir, programs, Heads(dir, programs), now))
}

func (l *Ledger) revokedFile(dir string) string {
	return strings.TrimSuffix(l.file(dir), ".json") + ".revoked"
}

func (l *Ledger) revoked(dir string) bool {
	if l.dir == "" {
		return false
	}
	_, err := os.Stat(l.revokedFile(dir))
	return err == nil
}

// Revoke revokes the user's trust in a city, and reports whether it had a record.
func (l *Ledger) Revoke(dir string) (bool, error) {
	if l.dir == "" {
		return false, nil
	}
	if _, err := os.Lstat(l.file(dir)); errors.Is(err, fs.ErrNotExist) {
		return false, nil // without creating a lock file
	}
	err := l.locked(dir, func() error {
		if err := os.Rename(l.file(dir), l.revokedFile(dir)); err != nil {
			return disk.WriteError(l.file(dir), err)
		}
		return nil
	})
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// List returns all records, sorted by path.
func (l *Ledger) List() ([]Record, error) {
	if l.dir == "" {
		return nil, nil
	}
	names, err := filepath.Glob(filepath.Join(l.dir, "*.json"))
	if err != nil {
		return nil, err
	}
	var out []Record
	for _, name := range names {
		var r Record
		data, err := os.ReadFile(name)
		if err == nil {
			err = json.Unmarshal(data, &r)
		}
		if err != nil {
			return out, fmt.Errorf("cannot read the record of trusted cities (%s): %w", name, err)
		}
		out = append(out, r)
	}
	slices.SortFunc(out, func(a, b Record) int { return strings.Compare(a.Path, b.Path) })
	return out, nil
}
