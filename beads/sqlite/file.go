package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"

	driver "modernc.org/sqlite"

	"gcity/internal/disk"
)

type file struct {
	is     os.FileInfo // to detect that the file was replaced
	frozen bool        // opened only for reading; see frozen
	// the file has the indexes of open and of closed beads in openIndexes
	openIndexes, closedIndex bool
	write                    writer

	read  *sql.DB
	mu    sync.Mutex
	reads map[string]*sql.Stmt
}

// open returns nil if the database does not exist and create is false.
func (s *Store) open(ctx context.Context, create bool) (*file, error) {
	select {
	case <-s.gate:
		defer func() { s.gate <- struct{}{} }()
	case <-ctx.Done():
		return nil, &timeoutError{fmt.Sprintf("the bead store %s took too long to open", s.path),
			ctx.Err()}
	}
	is, err := disk.CheckFile(s.path)
	if _, unsafe := errors.AsType[*disk.UnsafeError](err); unsafe {
		return nil, fmt.Errorf("cannot read the bead store: %w", err)
	}
	if _, foreign := errors.AsType[*disk.OwnerError](err); foreign {
		return nil, fmt.Errorf("cannot use the bead store: %w", err)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("cannot read the bead store: %w; %s", err, remedy(s.folder, err))
	}
	if s.file != nil && (err != nil || !os.SameFile(is, s.file.is) || s.file.outdated(s.path, is)) {
		// writes to the removed file would be lost
		if err := s.file.close(ctx); err != nil {
			return nil, fmt.Errorf("cannot close the bead store %s, which was removed or "+
				"replaced: %w", s.path, err)
		}
		s.file = nil
	}
	if s.file != nil {
		return s.file, nil
	}
	if err != nil {
		if _, home := os.Stat(filepath.Dir(s.folder)); home != nil {
			return nil, fmt.Errorf("the folder for the bead store does not exist: %w", home)
		}
		if err := s.missing("is missing"); err != nil {
			return nil, err
		}
		if !create {
			return nil, nil
		}
		// another user could not use a city's store that this process creates; a rig's folder can belong to any user
		if err := s.ledger.checkOwner(); err != nil {
			return nil, fmt.Errorf("cannot create the bead store: %w", err)
		}
		if err := s.makeFile(); err != nil {
			return nil, fmt.Errorf("cannot create the bead store: %w; %s", err,
				remedy(filepath.Dir(s.folder), err))
		}
		if is, err = disk.StatFile(s.path); err != nil {
			return nil, fmt.Errorf("cannot create the bead store: %w", err)
		}
	}
	f, err := s.connect(ctx, is)
	if err != nil {
		return nil, err
	}
	s.file = f
	return f, nil
}

// makeFile creates the file without opening it, because closing it again would release this process's locks on it.
func (s *Store) makeFile() error {
	if err := disk.OwnFolder(s.folder); err != nil {
		return err
	}
	if err := mknod(s.path); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return errors.Join(disk.SyncDir(s.folder), disk.SyncDir(filepath.Dir(s.folder)))
}

// outdated reports whether a frozen database must be opened again. SQLite does not detect that an immutable file has
// changed, for example because another machine or container can write to its file system.
func (f *file) outdated(path string, is os.FileInfo) bool {
	changed := !is.ModTime().Equal(f.is.ModTime()) || is.Size() != f.is.Size()
	return f.frozen && (changed || !frozen(path))
}

func (s *Store) connect(ctx context.Context, is os.FileInfo) (*file, error) {
	f := &file{is: is, frozen: frozen(s.path), reads: map[string]*sql.Stmt{},
		write: writer{turn: make(chan struct{}, 1)}}
	f.write.turn <- struct{}{}
	for _, end := range []string{"-wal", "-shm", "-journal"} {
		if _, err := disk.CheckFile(s.path + end); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("cannot open the bead store: %w", err)
		}
	}
	ready, option := s.ready, ""
	if f.frozen {
		ready, option = s.readable, "immutable=1&"
	}
	var err error
	if f.write.db, err = pool(s.path, 1, option); err != nil {
		return nil, err
	}
	if f.read, err = pool(s.path, 4, option+"_pragma=query_only(1)&"); err != nil {
		return nil, err
	}
	if err := s.attempt(ctx, func() error { return f.write.hold(ctx, ready) }); err != nil {
		return nil, errors.Join(err, f.close(context.WithoutCancel(ctx)))
	}
	// The store also works without these indexes, for example if it is full, damaged, read-only or locked for long.
	brief, cancel := context.WithTimeout(ctx, indexQueue)
	defer cancel()
	_ = s.attempt(brief, func() error { return f.write.hold(brief, f.addOpenIndexes) })
	return f, nil
}

// pool returns a pool of at most n connections. SQLite waits only briefly for a lock, because that wait cannot be
// interrupted.
func pool(path string, n int, option string) (*sql.DB, error) {
	name := url.URL{Scheme: "file", Path: path, RawQuery: option +
		"_pragma=busy_timeout(25)&_pragma=foreign_keys(1)&_pragma=synchronous(2)&" +
		"_pragma=journal_size_limit(16777216)"}
	c, err := driver.NewConnector(name.String())
	if err != nil {
		return nil, fmt.Errorf("cannot open %s: %w", path, err)
	}
	db := sql.OpenDB(c)
	db.SetMaxOpenConns(n)
	db.SetMaxIdleConns(min(n, 2))
	return db, nil
}

func (f *file) close(ctx context.Context) error {
	select {
	case <-f.write.turn:
		defer func() { f.write.turn <- struct{}{} }()
	case <-ctx.Done():
		return ctx.Err()
	}
	return errors.Join(f.read.Close(), f.write.drop(), f.write.db.Close())
}

func (f *file) reader(ctx context.Context, text string) (*sql.Stmt, error) {
	f.mu.Lock()
	st := f.reads[text]
	f.mu.Unlock()
	if st != nil {
		return st, nil
	}
	st, err := f.read.PrepareContext(ctx, text)
	if err != nil {
		return nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if other := f.reads[text]; other != nil {
		return other, st.Close()
	}
	f.reads[text] = st
	return st, nil
}

func (f *file) query(ctx context.Context, text string, args ...any) (*sql.Rows, error) {
	st, err := f.reader(ctx, text)
	if err != nil {
		return nil, err
	}
	return st.QueryContext(ctx, args...)
}

// queryRow scans the first row into variables, or returns sql.ErrNoRows.
func (f *file) queryRow(ctx context.Context, text string, args []any, into ...any) error {
	st, err := f.reader(ctx, text)
	if err == nil {
		err = st.QueryRowContext(ctx, args...).Scan(into...)
	}
	return err
}

// ready checks the database, sets its journal mode, and initializes it if it is new. It must run before a second
// connection exists, because SQLite can change the journal mode only with a single connection.
func (s *Store) ready(t *txn) error {
	version, err := s.check(t)
	if err != nil {
		return err
	}
	if version == 0 {
		if err := s.missing("is empty"); err != nil {
			return err
		}
	}
	want, err := s.journal(s.folder)
	if err != nil {
		return err
	}
	var have string
	if _, err := t.one(`PRAGMA journal_mode`, nil, &have); err != nil {
		return err
	}
	if !strings.EqualFold(have, want) {
		if _, err := t.one(`PRAGMA journal_mode = `+want, nil, &have); err != nil {
			return err
		}
	}
	if !strings.EqualFold(have, want) {
		return fmt.Errorf("the bead store %s is still in journal mode %s, but must use %s",
			s.path, have, want)
	}
	if version != newest {
		if err := t.atomic(initialize); err != nil {
			return err
		}
	}
	return s.identify(t)
}

// readable is like ready for a frozen database.
func (s *Store) readable(t *txn) error {
	version, err := s.check(t)
	if err == nil && version != newest {
		err = fmt.Errorf("the bead store %s is empty, and its file system is read-only", s.path)
	}
	return err
}

// check returns the version of the database's schema.
func (s *Store) check(t *txn) (version int, err error) {
	var app, tables int
	const look = `SELECT a.application_id, v.user_version, (SELECT count(*) FROM sqlite_schema)
		FROM pragma_application_id a, pragma_user_version v`
	if _, err := t.one(look, nil, &app, &version, &tables); err != nil {
		return 0, err
	}
	switch {
	case app != application && (tables > 0 || app != 0 || version != 0):
		return 0, fmt.Errorf("%s belongs to another program, perhaps an older bd: move it away, "+
			"or configure gcity to use that program for beads", s.path)
	case version > newest:
		return 0, fmt.Errorf("the bead store %s was written by a newer gcity (schema %d; this "+
			"gcity supports %d): use the newer gcity", s.path, version, newest)
	}
	return version, nil
}
