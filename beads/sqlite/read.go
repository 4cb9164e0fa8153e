package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"gcity/beads"
)

// reading runs work, and retries while other processes have the file locked. It returns errAbsent if the file is
// missing.
func reading[T any](ctx context.Context, s *Store, errAbsent error,
	work func(context.Context, *file) (T, error)) (T, error) {
	return call(ctx, s, func(ctx context.Context) (got T, err error) {
		f, err := s.open(ctx, false)
		if err != nil {
			return got, err
		}
		if f == nil {
			return got, errAbsent
		}
		err = s.attempt(ctx, func() (err error) {
			got, err = work(ctx, f)
			return err
		})
		if err != nil {
			return *new(T), err
		}
		return got, nil
	})
}

// Get implements beads.Store.
func (s *Store) Get(ctx context.Context, id string) (beads.Bead, error) {
	b, err := reading(ctx, s, beads.NotFound(id), func(ctx context.Context, f *file) (*beads.Bead,
		error) {
		return firstBead(f.query(ctx, `SELECT `+columns+` FROM beads b WHERE b.id = ?`, id))
	})
	if err != nil {
		return beads.Bead{}, err
	}
	if b == nil {
		return beads.Bead{}, beads.NotFound(id)
	}
	return *b, nil
}

func firstBead(rows *sql.Rows, err error) (*beads.Bead, error) {
	if err != nil {
		return nil, err
	}
	var got *beads.Bead
	var aside error
	err = scan(rows, func(b beads.Bead) { got = &b }, func(r *row, why error) {
		aside = fmt.Errorf("bead %s: %w: %w", r.ID, beads.ErrUnreadable, why)
	})
	return got, errors.Join(err, aside)
}

// List implements beads.Store.
func (s *Store) List(ctx context.Context, q beads.Query) ([]beads.Bead, error) {
	if err := q.Check(); err != nil {
		return nil, err
	}
	var absent error
	if q.Before != "" {
		absent = noPage(q.Before)
	}
	return reading(ctx, s, absent, func(ctx context.Context, f *file) ([]beads.Bead, error) {
		x := f.find(q)
		if q.Before != "" {
			created, seq, err := f.place(ctx, q.Before)
			if err != nil {
				return nil, err
			}
			x.after(created, seq)
		}
		text, args := x.list(q.MaxResults())
		rows, err := f.query(ctx, text, args...)
		if err != nil {
			return nil, err
		}
		var all []beads.Bead
		err = scan(rows, func(b beads.Bead) { all = append(all, b) }, func(*row, error) {})
		return all, err
	})
}

func noPage(id string) error {
	return fmt.Errorf("cannot list the page after bead %q: %w", id, beads.ErrNotFound)
}

func (f *file) place(ctx context.Context, id string) (created, seq int64, err error) {
	err = f.queryRow(ctx, `SELECT created, seq FROM beads WHERE id = ?`, []any{id}, &created, &seq)
	if errors.Is(err, sql.ErrNoRows) {
		err = noPage(id)
	}
	return created, seq, err
}

// Count implements beads.Counter.
func (s *Store) Count(ctx context.Context, q beads.Query) (int, error) {
	if err := q.Check(); err != nil {
		return 0, err
	}
	return reading(ctx, s, nil, func(ctx context.Context, f *file) (n int, err error) {
		x := f.find(q)
		text, args := x.count()
		err = f.queryRow(ctx, text, args, &n)
		return n, err
	})
}

// Tally implements beads.ShareCounter.
func (s *Store) Tally(ctx context.Context, q beads.Query) ([]beads.Share, error) {
	if err := q.Check(); err != nil {
		return nil, err
	}
	return reading(ctx, s, nil, func(ctx context.Context, f *file) (all []beads.Share, err error) {
		x := f.find(q)
		text, args := x.tally()
		rows, err := f.query(ctx, text, args...)
		if err != nil {
			return nil, err
		}
		err = eachRow(rows, func() error {
			var part beads.Share
			var labels string
			err := rows.Scan(&part.Assignee, &labels, &part.N)
			part.Labels = lines(labels)
			all = append(all, part)
			return err
		})
		return all, err
	})
}

// Version implements beads.Versioner.
func (s *Store) Version(ctx context.Context) (uint64, error) {
	return reading(ctx, s, nil, func(ctx context.Context, f *file) (uint64, error) {
		var v int64
		err := f.queryRow(ctx, `SELECT version FROM store`, nil, &v)
		return uint64(v), err
	})
}

// Unreadable implements beads.Auditor. It reads the whole store.
func (s *Store) Unreadable(ctx context.Context) ([]beads.Unreadable, error) {
	return reading(ctx, s, nil, func(ctx context.Context, f *file) ([]beads.Unreadable, error) {
		rows, err := f.query(ctx, `SELECT `+columns+` FROM beads b ORDER BY b.seq`)
		if err != nil {
			return nil, err
		}
		var all []beads.Unreadable
		err = scan(rows, func(beads.Bead) {}, func(r *row, why error) {
			all = append(all, beads.Unreadable{ID: r.ID, Reason: why.Error(),
				ParentID: r.ParentID, Closed: r.Status == beads.StatusClosed})
		})
		return all, err
	})
}
