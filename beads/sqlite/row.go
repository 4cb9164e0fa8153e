package sqlite

import (
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"gcity/beads"
)

// record is the number of the current row format. Rows with a higher number are unreadable.
const record = 1

const columns = `b.seq, b.id, b.record, b.rev, b.title, b.status, b.type, b.priority,
	coalesce(b.assignee, ''), coalesce(b.parent, ''), coalesce(b.ref, ''), b.needs,
		b.description, b.labels, b.metadata, b.created, b.updated, b.closed`

// readable excludes unreadable rows as far as SQL can recognize them. row.bead checks the others.
const readable = `b.record <= 1 AND b.status IN ('open', 'in_progress', 'closed')`

type row struct {
	beads.Bead
	seq      int64
	record   int64
	rev      int64
	priority int64
	needs    string
	labels   string
	metadata string
	created  int64
	updated  int64
	closed   sql.NullInt64
}

func (r *row) into() []any {
	return []any{&r.seq, &r.ID, &r.record, &r.rev, &r.Title, &r.Status, &r.Type, &r.priority,
		&r.Assignee, &r.ParentID, &r.Ref,
		&r.needs, &r.Description, &r.labels, &r.metadata, &r.created, &r.updated, &r.closed}
}

func (r *row) bead() (beads.Bead, error) {
	b := r.Bead
	if r.record > record {
		return b, fmt.Errorf("it was written in a newer format (%d; this gcity supports %d)",
			r.record, record)
	}
	var err error
	if b.Priority, err = beads.PriorityOf(int(r.priority)); err != nil {
		return b, err
	}
	if r.metadata != "" {
		if err := json.Unmarshal([]byte(r.metadata), &b.Metadata); err != nil {
			return b, fmt.Errorf("cannot read its metadata: %w", err)
		}
	}
	b.Rev = uint64(r.rev)
	b.Needs, b.Labels = lines(r.needs), lines(r.labels)
	b.CreatedAt, b.UpdatedAt = moment(r.created), moment(r.updated)
	if r.closed.Valid {
		b.ClosedAt = new(moment(r.closed.Int64))
	}
	if (b.ClosedAt != nil) != (b.Status == beads.StatusClosed) {
		return b, errors.New("its status contradicts the time at which it was closed")
	}
	return b, beads.Check(b)
}

func scan(rows *sql.Rows, take func(beads.Bead), onUnreadable func(*row, error)) error {
	return eachRow(rows, func() error {
		var r row
		if err := rows.Scan(r.into()...); err != nil {
			return err
		}
		if b, err := r.bead(); err != nil {
			onUnreadable(&r, err)
		} else {
			take(b)
		}
		return nil
	})
}

// eachRow calls take for each row until take fails, and closes the rows.
func eachRow(rows *sql.Rows, take func() error) (err error) {
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		if err := take(); err != nil {
			return err
		}
	}
	return rows.Err()
}

func moment(ns int64) time.Time { return time.Unix(0, ns).UTC() }

func lines(s string) []string {
	if s == "" {
		return nil
	}
	return strings.Split(s, "\n")
}

func written(b beads.Bead) ([]any, error) {
	metadata := ""
	if len(b.Metadata) > 0 {
		text, err := json.Marshal(b.Metadata)
		if err != nil {
			return nil, fmt.Errorf("cannot write the metadata of bead %s: %w", b.ID, err)
		}
		metadata = string(text)
	}
	var closed any
	if b.ClosedAt != nil {
		closed = b.ClosedAt.UnixNano()
	}
	return []any{b.ID, record, int64(b.Rev), b.Title, string(b.Status), b.Type, b.Priority.Level(),
		null(b.Assignee), null(b.ParentID), null(b.Ref),
		strings.Join(b.Needs, "\n"), b.Description, strings.Join(b.Labels, "\n"), metadata,
		b.CreatedAt.UnixNano(), b.UpdatedAt.UnixNano(), closed}, nil
}

func null(s string) any {
	if s == "" {
		return nil
	}
	return s
}
