package sqlite

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"gcity/internal/disk"
	"gcity/internal/proc"
)

// reserve is how many ID numbers the ledger reserves at a time, to save writes.
const reserve = 64

const (
	identityTable = `CREATE TABLE IF NOT EXISTS identity (
		one INTEGER PRIMARY KEY CHECK (one = 1),
		id  TEXT NOT NULL
	)`
	identityRow = `INSERT OR IGNORE INTO identity (one, id) VALUES (1, lower(hex(randomblob(16))))`
)

// Identity identifies a store.
type Identity struct {
	ID   string `json:"id"`   // random ID, created with the store; "" = unknown
	Last int64  `json:"last"` // upper bound of the numbers in the store's bead IDs
}

// Ledger is a file outside the store's folder that records the identity of the store. With a ledger, a missing, empty
// or replaced store is an error (*LostError), and ID numbers are not reused after a restore. The zero Ledger records
// nothing.
type Ledger struct {
	File    string // path of the ledger file
	Folder  string // name of the store's folder; an entry for another folder is ignored
	Restore string // command that restores the store, for error messages
}

type entry struct {
	Folder string `json:"folder"`
	Identity
}

// LostError means that the store at Path is missing, or is not the store in the ledger.
type LostError struct {
	Path string
	Why  string // "is missing", …
	Last int64  // the highest ID number that might be in use
	How  string // command that restores the store
}

func (e *LostError) Error() string {
	return fmt.Sprintf("the bead store %s %s; `%s` restores the newest backup, and `%s "+
		"--new-store` accepts the current state as a new store (new IDs start above %d)",
		e.Path, e.Why, e.How, e.How, e.Last)
}

// Read returns the identity in the ledger. ok is false if the ledger has no entry for its folder. An error means that
// the file exists but cannot be read.
func (l Ledger) Read() (id Identity, ok bool, err error) {
	if l.File == "" {
		return Identity{}, false, nil
	}
	data, err := disk.ReadFile(l.File)
	if errors.Is(err, fs.ErrNotExist) {
		return Identity{}, false, nil
	}
	var e entry
	if err == nil {
		err = json.Unmarshal(data, &e)
	}
	if err == nil && e.ID == "" {
		err = errors.New("it does not name a store")
	}
	if err != nil {
		return Identity{}, false, fmt.Errorf("cannot read %s, which contains the identity of "+
			"the bead store: %w",
			l.File, err)
	}
	return e.Identity, e.Folder == l.Folder, nil
}

// checkOwner returns a *disk.OwnerError if the ledger's folder belongs to another user.
func (l Ledger) checkOwner() error {
	if l.File == "" {
		return nil
	}
	return disk.CheckOwner(l.File)
}

// The caller of write must hold the store's write lock.
func (l Ledger) write(id Identity) error {
	if l.File == "" || id.ID == "" {
		return nil
	}
	data, err := json.Marshal(entry{l.Folder, id})
	if err != nil {
		return err
	}
	if err := disk.MkdirState(filepath.Dir(l.File), 0o700); err != nil {
		return err
	}
	return disk.Save(l.File, append(bytes.TrimSpace(data), '\n'), 0o600)
}

func (s *Store) lost(why string, last int64) error {
	return &LostError{Path: s.path, Why: why, Last: last, How: s.ledger.Restore}
}

// missing returns an error for a missing or empty store if the ledger has an entry for it, or cannot be read.
func (s *Store) missing(why string) error {
	id, ok, err := s.ledger.Read()
	switch {
	case err != nil && proc.Exhausted(err):
		return fmt.Errorf("cannot open the bead store %s: %w", s.path, err)
	case err != nil:
		return fmt.Errorf("%w; %w", s.lost(why, 0), err)
	case ok:
		return s.lost(why, id.Last)
	}
	return nil
}

// identify compares the store with the ledger. It raises the last ID number of an older copy of the store, so that no
// number is reused. A copy that lacks at most reserve numbers can go undetected, because the ledger contains only an
// upper bound of the last number.
func (s *Store) identify(t *txn) error {
	if s.ledger.File == "" {
		return nil
	}
	have, err := t.identity()
	if err != nil {
		return err
	}
	known, ok, err := s.ledger.Read()
	if ok && err == nil && known.ID != have.ID {
		return s.lost("is not the store that the city used before", known.Last)
	}
	if have.ID == "" {
		if err := t.atomic(func(t *txn) error { return t.name() }); err != nil {
			if code(err) == codeReadOnly {
				return nil
			}
			return err
		}
	}
	if ok && err == nil && have.Last+reserve < known.Last {
		return t.atomic(func(t *txn) error {
			return t.exec(`UPDATE store SET last = max(last, ?)`, known.Last)
		})
	}
	return nil
}

// note updates the ledger and must run before the commit. The transaction is committed even if the ledger cannot be
// written, because `gcity doctor` reports that.
func (s *Store) note(t *txn) error {
	if s.ledger.File == "" {
		return nil
	}
	have, err := t.identity()
	if err != nil {
		return err
	}
	s.mu.Lock()
	noted := s.noted
	s.mu.Unlock()
	if have.ID == "" || noted.ID == have.ID && have.Last <= noted.Last {
		return nil
	}
	known, ok, err := s.ledger.Read()
	switch {
	case ok && err == nil && known.ID != have.ID:
		return s.lost("is not the store that the city used before", known.Last)
	case !ok || err != nil || have.Last > known.Last:
		known = Identity{have.ID, have.Last + reserve}
		if err := s.ledger.write(known); err != nil {
			return nil
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.noted = known
	return nil
}

// A store from an older gcity has no ID.
func (t *txn) identity() (id Identity, err error) {
	if id.Last, err = t.last(); err != nil {
		return id, err
	}
	var tables int
	const named = `SELECT count(*) FROM sqlite_schema WHERE name = 'identity'`
	if _, err := t.one(named, nil, &tables); err != nil || tables == 0 {
		return id, err
	}
	_, err = t.one(`SELECT id FROM identity`, nil, &id.ID)
	return id, err
}

// name gives the store an ID. Older versions of gcity ignore the additional table.
func (t *txn) name() error {
	if err := t.exec(identityTable); err != nil {
		return err
	}
	return t.exec(identityRow)
}
