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

// reserve is how many numbers of IDs are written to the ledger at a time, so that few writes of work need a second
// file.
const reserve = 64

// The SQL statements that give a store its identity.
const (
	identityTable = `CREATE TABLE IF NOT EXISTS identity (
		one INTEGER PRIMARY KEY CHECK (one = 1),
		id  TEXT NOT NULL
	)`
	identityRow = `INSERT OR IGNORE INTO identity (one, id) VALUES (1, lower(hex(randomblob(16))))`
)

// Identity distinguishes a store from all others.
type Identity struct {
	ID   string `json:"id"`   // random, created with the store; "" = unknown
	Last int64  `json:"last"` // at least the highest number in any ID of the store
}

// Ledger is a file outside the store's folder that keeps the identity of the store. With a ledger, a store that is
// missing, empty or replaced is an error (*LostError), and numbers of IDs are never reused. The zero value keeps
// nothing.
type Ledger struct {
	File    string // path of the ledger's file; its folder is created when it is needed
	Folder  string // name of the store's place; an entry for another place is ignored
	Restore string // the command that restores the store, for errors
}

// entry is the content of a ledger's file.
type entry struct {
	Folder string `json:"folder"`
	Identity
}

// LostError means that the store at Path is not the one in the ledger.
type LostError struct {
	Path string
	Why  string // "is missing", …
	Last int64  // the highest number of an ID that may be in use
	How  string // the command that restores the store
}

func (e *LostError) Error() string {
	return fmt.Sprintf("the bead store %s %s; `%s` restores the newest backup, `%s "+
		"--new-store` accepts what is there as a new store (new IDs start above %d)",
		e.Path, e.Why, e.How, e.How, e.Last)
}

// Read returns the identity in the ledger. ok is false if the ledger has none for its folder. An error means that
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
		err = errors.New("it names no store")
	}
	if err != nil {
		return Identity{}, false, fmt.Errorf("cannot read %s, which has the identity of the "+
			"bead store: %w",
			l.File, err)
	}
	return e.Identity, e.Folder == l.Folder, nil
}

// write replaces the identity in the ledger. The caller holds the store's lock for writing.
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

// lost returns the error for a store that is not the one in the ledger.
func (s *Store) lost(why string, last int64) error {
	return &LostError{Path: s.path, Why: why, Last: last, How: s.ledger.Restore}
}

// missing returns an error if the ledger names a store but the file is missing. A damaged ledger counts as one that
// names a store.
func (s *Store) missing(why string) error {
	id, ok, err := s.ledger.Read()
	switch {
	case err != nil && proc.Exhausted(err): // tells nothing about the store
		return fmt.Errorf("cannot open the bead store %s: %w", s.path, err)
	case err != nil:
		return fmt.Errorf("%w; %w", s.lost(why, 0), err)
	case ok:
		return s.lost(why, id.Last)
	}
	return nil
}

// identify compares an open store with the ledger. It gives an identity to a store without one, and raises the last
// number of a store that is an older copy of itself.
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
		return s.lost("is a different store than before", known.Last)
	}
	if have.ID == "" {
		if err := t.atomic(func(t *txn) error { return t.name() }); err != nil {
			if code(err) == codeReadOnly {
				return nil // the first process that may write gives it an identity
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

// note writes the store's identity to the ledger, with some numbers in reserve. It runs in a transaction that is
// about to be committed. An error of the ledger's file does not prevent the write: doctor reports it.
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
		return s.lost("is a different store than before", known.Last)
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

// identity reads the identity of the store. A store of an older gcity has no ID.
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

// name gives the store an identity unless another process was faster. The table does not change the schema's
// version, because older versions of gcity ignore it.
func (t *txn) name() error {
	if err := t.exec(identityTable); err != nil {
		return err
	}
	return t.exec(identityRow)
}
