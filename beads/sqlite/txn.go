package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"os"
	"time"
)

type writer struct {
	turn  chan struct{} // binary semaphore that guards the fields below
	db    *sql.DB
	conn  *sql.Conn // nil = not connected
	stmts map[string]*sql.Stmt
}

type txn struct {
	ctx context.Context
	w   *writer
	now time.Time
}

// change can call work several times, because it retries while another process holds the lock.
func (s *Store) change(ctx context.Context, work func(*txn) error) error {
	for {
		f, err := s.open(ctx, true)
		if err != nil {
			return err
		}
		if f.frozen {
			return s.frozenError()
		}
		err = s.attempt(ctx, func() error {
			return f.write.hold(ctx, func(t *txn) error {
				return t.atomic(func(t *txn) error { return s.within(t, f, work) })
			})
		})
		if !errors.Is(err, errMoved) {
			return err
		}
	}
}

func (s *Store) frozenError() error {
	return fmt.Errorf("cannot write to the bead store %s: %s", s.path, remedy(s.folder, nil))
}

// errMoved means that the store's file was replaced and nothing has been written.
var errMoved = errors.New("the bead store was replaced")

// within runs work unless the file was replaced. The caller holds the lock that a restore needs, so the file cannot be
// replaced before the commit.
func (s *Store) within(t *txn, f *file, work func(*txn) error) error {
	if is, err := os.Stat(s.path); err != nil || !os.SameFile(is, f.is) {
		return errMoved
	}
	if err := work(t); err != nil {
		return err
	}
	return s.note(t)
}

func (w *writer) hold(ctx context.Context, work func(*txn) error) error {
	select {
	case <-w.turn:
		defer func() { w.turn <- struct{}{} }()
	case <-ctx.Done():
		return ctx.Err()
	}
	if w.conn == nil {
		conn, err := w.db.Conn(ctx)
		if err != nil {
			return err
		}
		w.conn, w.stmts = conn, map[string]*sql.Stmt{}
	}
	err := work(&txn{ctx: ctx, w: w, now: time.Now()})
	if code(err) == codeIOErr || errors.Is(err, driver.ErrBadConn) ||
		errors.Is(err, sql.ErrConnDone) {
		err = errors.Join(err, w.drop()) // the connection's state might no longer match the disk
	}
	return err
}

func (w *writer) drop() error {
	if w.conn == nil {
		return nil
	}
	var errs []error
	for _, st := range w.stmts {
		errs = append(errs, st.Close())
	}
	// ErrBadConn makes the pool discard the connection
	err := w.conn.Raw(func(any) error { return driver.ErrBadConn })
	if !errors.Is(err, driver.ErrBadConn) && !errors.Is(err, sql.ErrConnDone) {
		errs = append(errs, err)
	}
	w.conn, w.stmts = nil, nil
	return errors.Join(errs...)
}

func (t *txn) atomic(work func(*txn) error) error {
	if err := t.exec(`BEGIN IMMEDIATE`); err != nil {
		return err
	}
	err := work(t)
	if err == nil {
		err = t.exec(`COMMIT`)
	}
	if err == nil {
		return nil
	}
	if back, failed := t.w.stmt(`ROLLBACK`); failed == nil {
		if _, failed = back.Exec(); failed == nil {
			return err
		}
	}
	// SQLite has already rolled back, or the connection is unusable
	return errors.Join(err, t.w.drop())
}

// Statements are short, so the context is only checked between them.
func (w *writer) stmt(text string) (*sql.Stmt, error) {
	if st := w.stmts[text]; st != nil {
		return st, nil
	}
	st, err := w.conn.PrepareContext(context.Background(), text)
	if err == nil {
		w.stmts[text] = st
	}
	return st, err
}

func (t *txn) stmt(text string) (*sql.Stmt, error) {
	if err := t.ctx.Err(); err != nil {
		return nil, err
	}
	return t.w.stmt(text)
}

func (t *txn) exec(text string, args ...any) error {
	st, err := t.stmt(text)
	if err == nil {
		_, err = st.Exec(args...)
	}
	return err
}

func (t *txn) query(text string, args ...any) (*sql.Rows, error) {
	st, err := t.stmt(text)
	if err != nil {
		return nil, err
	}
	return st.Query(args...)
}

// one returns false and no error if the result has no row.
func (t *txn) one(text string, args []any, to ...any) (bool, error) {
	st, err := t.stmt(text)
	if err == nil {
		err = st.QueryRow(args...).Scan(to...)
	}
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	return err == nil, err
}
