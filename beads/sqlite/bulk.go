package sqlite

import (
	"context"
	"errors"
	"time"

	"gcity/beads"
)

// trees is the number of beads that a purge removes per transaction, each with its descendants. It limits how long a
// purge blocks other writers.
const trees = 200

// Purge implements beads.Purger. It uses several transactions, and an error does not undo the earlier ones.
func (s *Store) Purge(ctx context.Context, q beads.Query, before time.Time) (int, error) {
	q.Status, q.Ready, q.Before = []beads.Status{beads.StatusClosed}, false, ""
	ctx, cancel := limited(ctx, 6*patience)
	defer cancel()
	return call(ctx, s, func(ctx context.Context) (int, error) {
		gone := 0
		f, err := s.open(ctx, false)
		if err != nil || f == nil {
			return 0, err
		}
		if f.frozen {
			return 0, s.frozenError()
		}
		roots, err := f.purgeable(ctx, s, q, before)
		for err == nil && len(roots) > 0 {
			n := min(trees, len(roots))
			part := roots[:n]
			roots = roots[n:]
			var now int
			err = s.change(ctx, func(t *txn) (err error) {
				now, err = t.purge(part, before)
				return err
			})
			if err == nil {
				gone += now
			}
		}
		return gone, err
	})
}

func (f *file) purgeable(
	ctx context.Context, s *Store, q beads.Query, before time.Time,
) (ids []string, err error) {
	x := f.find(q)
	x.and(`b.closed < ?`, before.UnixNano())
	text, args := x.list(-1)
	err = s.attempt(ctx, func() error {
		rows, err := f.query(ctx, text, args...)
		if err != nil {
			return err
		}
		ids = nil
		return scan(rows, func(b beads.Bead) { ids = append(ids, b.ID) }, func(*row, error) {})
	})
	return ids, err
}

func (t *txn) purge(roots []string, before time.Time) (gone int, err error) {
	for _, id := range roots {
		tree, err := t.tree(id, before)
		if err != nil {
			return 0, err
		}
		for _, seq := range tree {
			if err := t.exec(`DELETE FROM beads WHERE seq = ?`, seq); err != nil {
				return 0, err
			}
		}
		gone += len(tree)
	}
	if gone == 0 {
		return 0, nil
	}
	return gone, t.exec(`UPDATE store SET version = version + 1`)
}

// tree returns the seqs of a bead and its descendants, or nothing if one of them must be kept.
func (t *txn) tree(id string, before time.Time) (seqs []int64, err error) {
	rows, err := t.query(`WITH RECURSIVE below (seq, id) AS (SELECT seq, id FROM beads WHERE id = ?
		UNION SELECT b.seq, b.id FROM below JOIN beads b ON b.parent = below.id)
		SELECT b.seq,
			b.status = 'closed' AND b.record <= 1 AND b.closed < ? FROM below JOIN beads b ON b.seq = below.seq`, id, before.UnixNano())
	if err != nil {
		return nil, err
	}
	whole := true
	err = eachRow(rows, func() error {
		var seq int64
		var old bool
		err := rows.Scan(&seq, &old)
		whole = whole && old
		seqs = append(seqs, seq)
		return err
	})
	if !whole {
		seqs = nil
	}
	return seqs, err
}

// Restore implements beads.Restorer.
func (s *Store) Restore(ctx context.Context, all []beads.Bead) (beads.Restored, error) {
	ctx, cancel := limited(ctx, patience+time.Duration(len(all))*each)
	defer cancel()
	return call(ctx, s, func(ctx context.Context) (beads.Restored, error) {
		var done beads.Restored
		err := s.change(ctx, func(t *txn) (err error) {
			done, err = t.restore(all)
			return err
		})
		if err != nil {
			return beads.Restored{}, err
		}
		return done, nil
	})
}

func (t *txn) restore(all []beads.Bead) (done beads.Restored, err error) {
	last, err := t.last()
	if err != nil {
		return done, err
	}
	var written []string
	for _, b := range all {
		have, err := t.get(b.ID)
		if errors.Is(err, beads.ErrUnreadable) {
			done.Count(beads.Kept)
			continue
		}
		if err != nil {
			return done, err
		}
		b, what, err := beads.Merge(have, b, t.now)
		if err != nil {
			return done, err
		}
		done.Count(what)
		switch what {
		case beads.Created:
			err = t.insert(b)
		case beads.Updated:
			err = t.replace(*have, b)
		}
		if err != nil {
			return done, err
		}
		if what == beads.Created || what == beads.Updated {
			written = append(written, b.ID)
			last = max(last, number(b.ID))
			// a new bead must not get the ID of a missing need
			for _, id := range beads.AddedLinks(beads.Bead{}, b) {
				last = max(last, number(id))
			}
		}
	}
	if err := t.checkCycles(written...); err != nil {
		return done, err
	}
	if len(written) == 0 {
		return done, nil
	}
	return done, t.changed(last)
}
