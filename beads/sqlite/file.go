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
	"sync"

	driver "modernc.org/sqlite"

	"gcity/internal/disk"
)

// file is the open database: one connection that writes, a few that read.
type file struct {
	is    os.FileInfo // the file that was opened
	write writer

	read  *sql.DB
	mu    sync.Mutex
	reads map[string]*sql.Stmt // by text
}

// open gives the database, as it is on the disk now. Without make, a database that does not exist is nil.
func (s *Store) open(ctx context.Context, create bool) (*file, error) {
	select {
	case <-s.gate:
		defer func() { s.gate <- struct{}{} }()
	case <-ctx.Done():
		return nil, &overdue{fmt.Sprintf("the store of beads %s does not open in time", s.path),
			ctx.Err()}
	}
	is, err := disk.CheckFile(s.path)
	if _, unsafe := errors.AsType[*disk.UnsafeError](err); unsafe {
		return nil, fmt.Errorf("cannot read the store of beads: %w", err)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("cannot read the store of beads: %w; %s", err, remedy(s.folder, err))
	}
	if s.file != nil && (err != nil || !os.SameFile(is, s.file.is)) {
		// It was removed or replaced. Writing on would be writing into nothing.
		if err := s.file.close(ctx); err != nil {
			return nil, fmt.Errorf("cannot let go of the store of beads %s, which was removed or "+
				"replaced: %w", s.path, err)
		}
		s.file = nil
	}
	if s.file != nil {
		return s.file, nil
	}
	if err != nil {
		if _, home := os.Stat(filepath.Dir(s.folder)); home != nil {
			return nil, fmt.Errorf("there is no folder for the store of beads: %w", home)
		}
		if err := s.missing("is missing"); err != nil {
			return nil, err
		}
		if !create {
			return nil, nil
		}
		if err := s.makeFile(); err != nil {
			return nil, fmt.Errorf("cannot make the store of beads: %w; %s", err,
				remedy(filepath.Dir(s.folder), err))
		}
		if is, err = disk.StatFile(s.path); err != nil {
			return nil, fmt.Errorf("cannot make the store of beads: %w", err)
		}
	}
	f, err := s.connect(ctx, is)
	if err != nil {
		return nil, err
	}
	s.file = f
	return f, nil
}

// makeFile makes an empty file that only its user may read. It never opens it: to close it again would take away the
// locks that this process has on it by other stores.
func (s *Store) makeFile() error {
	if err := disk.OwnFolder(s.folder); err != nil {
		return err
	}
	if err := mknod(s.path); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return errors.Join(disk.SyncDir(s.folder), disk.SyncDir(filepath.Dir(s.folder)))
}

func (s *Store) connect(ctx context.Context, is os.FileInfo) (*file, error) {
	f := &file{is: is, reads: map[string]*sql.Stmt{}, write: writer{turn: make(chan struct{}, 1)}}
	f.write.turn <- struct{}{}
	for _, end := range []string{"-wal", "-shm", "-journal"} { // SQLite writes into each
		if _, err := disk.CheckFile(s.path + end); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("cannot open the store of beads: %w", err)
		}
	}
	var err error
	if f.write.db, err = pool(s.path, 1, ""); err != nil {
		return nil, err
	}
	if f.read, err = pool(s.path, 4, "_pragma=query_only(1)&"); err != nil {
		return nil, err
	}
	if err := s.attempt(ctx, func() error { return f.write.hold(ctx, s.ready) }); err != nil {
		return nil, errors.Join(err, f.close(context.WithoutCancel(ctx)))
	}
	return f, nil
}

// pool prepares at most n connections. SQLite itself waits only briefly for other processes, since nothing can call it
// back meanwhile; the rest of the waiting is done by attempt.
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

// close waits for the writer's turn, so that nobody is cut off in the middle.
func (f *file) close(ctx context.Context) error {
	select {
	case <-f.write.turn:
		defer func() { f.write.turn <- struct{}{} }()
	case <-ctx.Done():
		return ctx.Err()
	}
	return errors.Join(f.read.Close(), f.write.drop(), f.write.db.Close())
}

// reader gives a prepared statement that reads.
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
