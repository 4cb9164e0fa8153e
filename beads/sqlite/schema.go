package sqlite

import (
	"context"
	"fmt"
)

const (
	application = 0x67636264 // "gcbd" in the file's header
	newest      = 1          // newest supported version of the schema
)

// Labels and needs are stored twice: in the bead's row, one per line, for reading, and in a separate table for
// searching. Times are nanoseconds since 1970. Empty values of indexed columns are NULL, so that the partial indexes
// omit them.
const schema = `
CREATE TABLE store (
	one     INTEGER PRIMARY KEY CHECK (one = 1),
	last    INTEGER NOT NULL, -- the highest number in any id, ever
	version INTEGER NOT NULL  -- one more with each change; it begins anywhere
);
CREATE TABLE beads (
	seq         INTEGER PRIMARY KEY, -- the order of writing
	id          TEXT NOT NULL UNIQUE,
	record      INTEGER NOT NULL, -- how this row is to be read
	rev         INTEGER NOT NULL,
	title       TEXT NOT NULL,
	status      TEXT NOT NULL,
	type        TEXT NOT NULL,
	priority    INTEGER NOT NULL, -- 0 to 4
	assignee    TEXT,
	parent      TEXT,
	ref         TEXT,
	needs       TEXT NOT NULL,
	description TEXT NOT NULL,
	labels      TEXT NOT NULL,
	metadata    TEXT NOT NULL, -- JSON
	created     INTEGER NOT NULL,
	updated     INTEGER NOT NULL,
	closed      INTEGER
);
CREATE INDEX by_age      ON beads (created, seq);
CREATE INDEX by_open     ON beads (created, seq) WHERE status <> 'closed';
CREATE INDEX by_type     ON beads (type, created, seq);
CREATE INDEX by_assignee ON beads (assignee, created, seq) WHERE assignee IS NOT NULL;
CREATE INDEX by_parent   ON beads (parent, created, seq) WHERE parent IS NOT NULL;
CREATE INDEX by_ref      ON beads (ref, created, seq) WHERE ref IS NOT NULL;
CREATE TABLE labels (
	label   TEXT NOT NULL,
	created INTEGER NOT NULL, -- the bead's
	seq     INTEGER NOT NULL REFERENCES beads (seq) ON DELETE CASCADE,
	PRIMARY KEY (label, created, seq)
) WITHOUT ROWID;
CREATE INDEX labels_of ON labels (seq);
CREATE TABLE needs (
	seq  INTEGER NOT NULL REFERENCES beads (seq) ON DELETE CASCADE,
	need TEXT NOT NULL,
	PRIMARY KEY (seq, need)
) WITHOUT ROWID;
`

// openIndexes makes the cost of a query for open beads independent of the number of closed beads, and the cost of a
// query for recently closed beads independent of the number of others. Triggers maintain the table, because older
// versions of gcity, which do not know it, write to the same file.
const openIndexes = `
CREATE INDEX IF NOT EXISTS by_open_assignee ON beads (assignee, created, seq)
	WHERE assignee IS NOT NULL AND status <> 'closed';
CREATE TABLE IF NOT EXISTS open_labels (
	label   TEXT NOT NULL,
	created INTEGER NOT NULL, -- the bead's
	seq     INTEGER NOT NULL,
	PRIMARY KEY (label, created, seq)
) WITHOUT ROWID;
INSERT OR IGNORE INTO open_labels SELECT l.label, l.created, l.seq
	FROM beads b INDEXED BY by_open CROSS JOIN labels l ON l.seq = b.seq WHERE b.status <> 'closed';
CREATE TRIGGER IF NOT EXISTS label_added AFTER INSERT ON labels
	WHEN (SELECT status FROM beads WHERE seq = NEW.seq) <> 'closed'
BEGIN
	INSERT OR IGNORE INTO open_labels VALUES (NEW.label, NEW.created, NEW.seq);
END;
CREATE TRIGGER IF NOT EXISTS label_removed AFTER DELETE ON labels
BEGIN
	DELETE FROM open_labels WHERE label = OLD.label AND created = OLD.created AND seq = OLD.seq;
END;
CREATE TRIGGER IF NOT EXISTS bead_closed AFTER UPDATE OF status ON beads
	WHEN NEW.status = 'closed' AND OLD.status <> 'closed'
BEGIN
	DELETE FROM open_labels WHERE (label, created, seq) IN
		(SELECT label, created, seq FROM labels WHERE seq = NEW.seq);
END;
CREATE TRIGGER IF NOT EXISTS bead_reopened AFTER UPDATE OF status ON beads
	WHEN NEW.status <> 'closed' AND OLD.status = 'closed'
BEGIN
	INSERT OR IGNORE INTO open_labels
		SELECT label, created, seq FROM labels WHERE seq = NEW.seq;
END;
CREATE INDEX IF NOT EXISTS by_closed ON beads (closed) WHERE closed IS NOT NULL;
`

// addOpenIndexes adds openIndexes to a store that an older gcity created. The caller's deadline does not interrupt it,
// because every later attempt would take as long.
func (f *file) addOpenIndexes(t *txn) error {
	const look = `SELECT count(*) FILTER (WHERE name = 'open_labels'),
		count(*) FILTER (WHERE name = 'by_closed') FROM sqlite_schema`
	if _, err := t.one(look, nil, &f.openIndexes, &f.closedIndex); err != nil {
		return err
	}
	if f.closedIndex || f.frozen {
		return nil
	}
	ctx := context.WithoutCancel(t.ctx)
	whole := &txn{ctx: ctx, w: t.w, now: t.now}
	err := whole.atomic(func(t *txn) error {
		_, err := t.w.conn.ExecContext(ctx, openIndexes)
		return err
	})
	if err == nil {
		f.openIndexes, f.closedIndex = true, true
	}
	return err
}

func initialize(t *txn) error {
	var version int
	if _, err := t.one(`PRAGMA user_version`, nil, &version); err != nil || version != 0 {
		return err
	}
	_, err := t.w.conn.ExecContext(context.WithoutCancel(t.ctx), schema+fmt.Sprintf(`
		INSERT INTO store (one, last, version) VALUES (1, 0, %d);
		PRAGMA application_id = %d;
		PRAGMA user_version = %d;`, t.now.UnixNano(), application, newest))
	return err
}
