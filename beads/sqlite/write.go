package sqlite

import (
	"context"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"gcity/beads"
)

// Create implements beads.Store.
func (s *Store) Create(ctx context.Context, b beads.Bead) (beads.Bead, error) {
	return beads.CreateOne(ctx, s, b)
}

// CreateAll implements beads.Batcher.
func (s *Store) CreateAll(ctx context.Context, all []beads.Bead) ([]beads.Bead, error) {
	batch, err := beads.NewBatch(all)
	if err != nil || batch.Len() == 0 {
		return nil, err
	}
	ctx, cancel := limited(ctx, patience+time.Duration(batch.Len())*each)
	defer cancel()
	return call(ctx, s, func(ctx context.Context) ([]beads.Bead, error) {
		var made []beads.Bead
		err := s.change(ctx, func(t *txn) (err error) {
			made, err = t.create(s.prefix, batch)
			return err
		})
		if err != nil {
			return nil, err
		}
		return made, nil
	})
}

func (t *txn) create(prefix string, batch *beads.Batch) ([]beads.Bead, error) {
	for _, id := range batch.ExternalLinks() {
		if ok, err := t.exists(id); err != nil {
			return nil, err
		} else if !ok {
			return nil, batch.Unknown(id)
		}
	}
	last, err := t.last()
	if err != nil {
		return nil, err
	}
	for _, id := range batch.GivenIDs() {
		if ok, err := t.exists(id); err != nil {
			return nil, err
		} else if ok {
			return nil, beads.Conflict("bead %s already exists", id)
		}
		last = max(last, number(id))
	}
	made := batch.AssignIDs(t.now, func() string {
		last++
		return prefix + "-" + strconv.FormatInt(last, 10)
	})
	for _, b := range made {
		if err := t.insert(b); err != nil {
			return nil, err
		}
	}
	if err := t.checkCycles(batch.GivenIDs()...); err != nil {
		return nil, err
	}
	return made, t.changed(last)
}

func number(id string) int64 {
	n, err := strconv.ParseInt(id[strings.LastIndexByte(id, '-')+1:], 10, 64)
	if err != nil || n < 0 || n >= 1e15 || !strings.Contains(id, "-") {
		return 0
	}
	return n
}

func (t *txn) last() (last int64, err error) {
	_, err = t.one(`SELECT last FROM store`, nil, &last)
	return last, err
}

// changed must be called at the end of every transaction that changes beads.
func (t *txn) changed(last int64) error {
	return t.exec(`UPDATE store SET last = ?, version = version + 1`, last)
}

func (t *txn) exists(id string) (bool, error) {
	var one int
	return t.one(`SELECT 1 FROM beads WHERE id = ?`, []any{id}, &one)
}

func (t *txn) insert(b beads.Bead) error {
	values, err := written(b)
	if err != nil {
		return err
	}
	st, err := t.stmt(
		`INSERT INTO beads (id, record, rev, title, status, type, priority, assignee, parent,
		ref, needs, description, labels, metadata, created, updated, closed) VALUES (?, ?, ?, ?,
			?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`)
	if err != nil {
		return err
	}
	done, err := st.Exec(values...)
	if err != nil {
		return err
	}
	seq, err := done.LastInsertId()
	if err != nil {
		return err
	}
	return t.index(seq, b)
}

func (t *txn) index(seq int64, b beads.Bead) error {
	for _, l := range b.Labels {
		if err := t.exec(`INSERT INTO labels (label, created, seq) VALUES (?, ?, ?)`, l,
			b.CreatedAt.UnixNano(), seq); err != nil {
			return err
		}
	}
	for _, n := range b.Needs {
		if err := t.exec(`INSERT INTO needs (seq, need) VALUES (?, ?)`, seq, n); err != nil {
			return err
		}
	}
	return nil
}

func (t *txn) replace(have, b beads.Bead) error {
	values, err := written(b)
	if err != nil {
		return err
	}
	var seq int64
	if _, err := t.one(`UPDATE beads SET id = ?, record = ?, rev = ?, title = ?, status = ?,
		type = ?, priority = ?, assignee = ?, parent = ?, ref = ?, needs = ?, description = ?,
			labels = ?, metadata = ?, created = ?, updated = ?,
				closed = ? WHERE id = ? RETURNING seq`,
		append(values, b.ID), &seq); err != nil {
		return err
	}
	if slices.Equal(have.Labels, b.Labels) && slices.Equal(have.Needs, b.Needs) &&
		have.CreatedAt.Equal(b.CreatedAt) {
		return nil
	}
	if err := t.exec(`DELETE FROM labels WHERE seq = ?`, seq); err != nil {
		return err
	}
	if err := t.exec(`DELETE FROM needs WHERE seq = ?`, seq); err != nil {
		return err
	}
	return t.index(seq, b)
}

func (t *txn) get(id string) (*beads.Bead, error) {
	return firstBead(t.query(`SELECT `+columns+` FROM beads b WHERE b.id = ?`, id))
}

func (t *txn) checkCycles(ids ...string) error {
	for _, way := range []struct{ field, text string }{
		{"parent", `SELECT coalesce(parent, '') FROM beads WHERE id = ?`},
		{"needs", `SELECT needs FROM beads WHERE id = ?`},
	} {
		var failed error
		circle := beads.Cycle(ids, func(id string) []string {
			var links string
			if _, err := t.one(way.text, []any{id}, &links); err != nil {
				failed = err
			}
			return lines(links)
		})
		if failed != nil {
			return failed
		}
		if circle != nil {
			return beads.CycleError(ids, way.field, circle)
		}
	}
	return nil
}

// Update implements beads.Store.
func (s *Store) Update(ctx context.Context, id string, p beads.Patch) (beads.Bead, error) {
	return call(ctx, s, func(ctx context.Context) (beads.Bead, error) {
		f, err := s.open(ctx, false)
		if err != nil {
			return beads.Bead{}, err
		}
		if f == nil {
			return beads.Bead{}, beads.NotFound(id)
		}
		var b beads.Bead
		err = s.change(ctx, func(t *txn) (err error) {
			b, err = t.update(id, p)
			return err
		})
		if err != nil {
			return beads.Bead{}, err
		}
		return b, nil
	})
}

func (t *txn) update(id string, p beads.Patch) (beads.Bead, error) {
	have, err := t.get(id)
	if err != nil {
		return beads.Bead{}, err
	}
	if have == nil {
		return beads.Bead{}, beads.NotFound(id)
	}
	b, err := p.Apply(*have, t.now)
	if err != nil || b.Rev == have.Rev {
		return b, err
	}
	for _, link := range beads.AddedLinks(*have, b) {
		if ok, err := t.exists(link); err != nil {
			return beads.Bead{}, err
		} else if !ok {
			return beads.Bead{}, beads.UnknownLink(id, link)
		}
	}
	if err := t.replace(*have, b); err != nil {
		return beads.Bead{}, err
	}
	if beads.LinksChanged(*have, b) {
		if err := t.checkCycles(id); err != nil {
			return beads.Bead{}, err
		}
	}
	return b, t.exec(`UPDATE store SET version = version + 1`)
}

// Probe implements beads.Prober. On a full disk, SQLite can still overwrite existing data, so Probe also checks that
// the file can grow.
func (s *Store) Probe(ctx context.Context) error {
	_, err := call(ctx, s, func(ctx context.Context) (struct{}, error) {
		if err := s.change(ctx, func(t *txn) error {
			return t.exec(`UPDATE store SET version = version`)
		}); err != nil {
			return struct{}{}, err
		}
		return struct{}{}, s.grows()
	})
	return err
}

// probeSize is the free space in bytes that a writable store needs.
const probeSize = 64 << 10

// grows checks that the file can grow. It ignores errors other than a lack of space, because each write reports them
// itself.
func (s *Store) grows() error {
	f, err := os.CreateTemp(s.folder, ".probe-*")
	if err == nil {
		os.Remove(f.Name())
		_, err = f.Write(make([]byte, probeSize))
		f.Close()
	}
	if noSpace(err) {
		return s.full(err)
	}
	return nil
}
