package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	driver "modernc.org/sqlite"

	"gcity/beads"
	"gcity/internal/disk"
)

// Recovered is the result of Recover or Accept.
type Recovered struct {
	BackupInfo
	Kept string // new path of the previous file; "" = no file existed
}

// Recover replaces the store with a backup and keeps the previous file. ID numbers are not reused. An intact store is
// replaced only with force.
func (s *Store) Recover(ctx context.Context, from string, force bool) (Recovered, error) {
	ctx, cancel := limited(ctx, backupLimit)
	defer cancel()
	return call(ctx, s, func(ctx context.Context) (Recovered, error) {
		known, named, _ := s.ledger.Read() // a damaged ledger is replaced
		now, broken := inspect(ctx, s.path)
		if err := s.replaceable(now, broken, known, named); err != nil && !force {
			return Recovered{}, err
		}
		if err := disk.OwnFolder(s.folder); err != nil {
			return Recovered{}, err
		}
		made, err := duplicate(ctx, from, s.path+"-restoring", func(db *sql.DB) error {
			return raise(ctx, db, known.Last)
		})
		if code(err) == codeNotADB {
			err = errors.New("it is not a backup of a bead store")
		}
		if err != nil {
			return Recovered{}, fmt.Errorf("cannot restore %s: %w", from, err)
		}
		done, err := s.install(ctx, made, broken == nil)
		if err != nil {
			err = fmt.Errorf("cannot install %s: %w", from, err)
			return Recovered{}, errors.Join(err, gone(os.Remove(made.Path)))
		}
		return done, nil
	})
}

func (s *Store) replaceable(now BackupInfo, broken error, known Identity, named bool) error {
	info, err := os.Stat(s.path)
	switch {
	case err != nil || info.Size() == 0 || code(broken) != 0 || errors.Is(broken, errDamaged):
		return nil
	case broken != nil:
		return beads.Conflict("%s exists and is not a store: %v; --force keeps it under "+
			"another name", s.path, broken)
	case now.Beads > 0 && (!named || now.ID == known.ID):
		return beads.Conflict("the bead store %s is intact (number of beads: %d); --force "+
			"replaces it and keeps the current file under another name", s.path, now.Beads)
	}
	return nil
}

func raise(ctx context.Context, db *sql.DB, last int64) error {
	const text = identityTable + ";" + identityRow + ";UPDATE store SET last = max(last, %d), " +
		"version = %d"
	_, err := db.ExecContext(ctx, fmt.Sprintf(text, last, time.Now().UnixNano()))
	return err
}

// install replaces the store's file with the fresh one. If the old file is a database, install locks it in the
// meantime, so that no process writes to it.
func (s *Store) install(ctx context.Context, fresh BackupInfo,
	isDatabase bool) (done Recovered, err error) {
	if !isDatabase {
		done, err = s.swap(ctx, fresh, 0)
		return done, errors.Join(err, disk.SyncDir(s.folder))
	}
	err = s.attempt(ctx, func() error {
		return withDatabase(s.path, "_txlock=immediate&", func(db *sql.DB) error {
			tx, err := db.BeginTx(ctx, nil)
			if err != nil {
				return err
			}
			var last int64
			if err = tx.QueryRowContext(ctx, `SELECT last FROM store`).Scan(&last); err == nil {
				done, err = s.swap(ctx, fresh, last)
			}
			return errors.Join(err, tx.Rollback())
		})
	})
	return done, errors.Join(err, disk.SyncDir(s.folder))
}

// swap sets the fresh file's journal mode before it installs the file. Otherwise the next writer would, with a journal
// that another process could take for the journal of the file that it still has open.
//
// The parameter last is the highest ID number in the old file, or 0 if that file is unreadable.
func (s *Store) swap(ctx context.Context, fresh BackupInfo,
	last int64) (done Recovered, err error) {
	known, _, _ := s.ledger.Read() // a damaged ledger is replaced
	fresh.Last = max(fresh.Last, known.Last, last)
	journal, err := s.journal(s.folder)
	if err != nil {
		return done, err
	}
	err = withDatabase(fresh.Path, "", func(db *sql.DB) error {
		if err := raise(ctx, db, fresh.Last); err != nil {
			return err
		}
		_, err := db.ExecContext(ctx, "PRAGMA journal_mode = "+journal)
		return err
	})
	if err != nil {
		return done, err
	}
	if err := s.ledger.write(Identity{fresh.ID, fresh.Last + reserve}); err != nil {
		return done, fmt.Errorf("cannot write the identity of the store to %s: %w", s.ledger.File,
			err)
	}
	done = Recovered{BackupInfo: fresh}
	done.Path = s.path
	if _, err := os.Lstat(s.path); err == nil {
		if done.Kept, err = setAside(s.path); err != nil {
			return done, err
		}
		if err := os.Link(s.path, done.Kept); err != nil {
			return done, err
		}
	} else if !errors.Is(err, fs.ErrNotExist) {
		return done, err
	}
	for _, end := range []string{"-wal", "-shm", "-journal"} {
		move := func() error { return os.Remove(s.path + end) }
		if done.Kept != "" {
			move = func() error { return os.Rename(s.path+end, done.Kept+end) }
		}
		if err := gone(move()); err != nil {
			return done, err
		}
	}
	return done, os.Rename(fresh.Path, s.path)
}

// Accept records the current file in the ledger as the city's store. If the file is missing, Accept creates a new
// store. ID numbers are not reused.
func (s *Store) Accept(ctx context.Context) (Recovered, error) {
	return call(ctx, s, func(ctx context.Context) (Recovered, error) {
		known, named, _ := s.ledger.Read()
		now, broken := inspect(ctx, s.path)
		if broken == nil && named && now.ID == known.ID {
			return Recovered{}, beads.Conflict("the city already uses the bead store %s; nothing "+
				"needs to be accepted", s.path)
		}
		plain, err := OpenKnown(filepath.Dir(s.folder), s.prefix, Ledger{})
		if err != nil {
			return Recovered{}, err
		}
		err = plain.change(ctx, func(t *txn) error {
			if err := t.name(); err != nil {
				return err
			}
			return t.exec(`UPDATE store SET last = max(last, ?)`, known.Last)
		})
		if err = errors.Join(err, plain.Close()); err != nil {
			return Recovered{}, err
		}
		if now, err = inspect(ctx, s.path); err != nil {
			return Recovered{}, err
		}
		return Recovered{BackupInfo: now}, s.ledger.write(Identity{now.ID, now.Last + reserve})
	})
}

// Salvage implements beads.Salvager. It finds the beads in the index of their IDs and reads each of them separately, so
// a damaged page affects only the beads on this page.
func (s *Store) Salvage(ctx context.Context, why error) (all []beads.Bead,
	lost []beads.Unreadable, err error) {
	if !damaged(why) {
		return nil, nil, why
	}
	ids, err := s.ids(ctx)
	if err != nil {
		return nil, nil, err
	}
	for _, id := range ids {
		b, err := s.Get(ctx, id)
		var broken *driver.Error
		switch {
		case err == nil:
			all = append(all, b)
		case errors.Is(err, beads.ErrNotFound): // removed in the meantime
		case errors.Is(err, beads.ErrUnreadable):
			lost = append(lost, beads.Unreadable{ID: id,
				Reason: strings.TrimPrefix(err.Error(), "bead "+id+": ")})
		case damaged(err) && errors.As(err, &broken):
			lost = append(lost, beads.Unreadable{ID: id, Reason: broken.Error()})
		default:
			return nil, nil, err
		}
	}
	slices.SortStableFunc(all, func(a, b beads.Bead) int {
		return b.CreatedAt.Compare(a.CreatedAt)
	})
	return all, lost, nil
}

func damaged(err error) bool { return code(err) == codeCorrupt || code(err) == codeIOErr }

// ids returns the IDs of all beads. The most recently written bead comes first.
func (s *Store) ids(ctx context.Context) ([]string, error) {
	return reading(ctx, s, nil, func(ctx context.Context, f *file) (all []string, err error) {
		// the constraint UNIQUE has created this index, which contains all that the query needs
		rows, err := f.query(ctx, `SELECT id FROM beads INDEXED BY sqlite_autoindex_beads_1 `+
			`ORDER BY seq DESC`)
		if err != nil {
			return nil, err
		}
		err = eachRow(rows, func() error {
			var id string
			err := rows.Scan(&id)
			all = append(all, id)
			return err
		})
		return all, err
	})
}
