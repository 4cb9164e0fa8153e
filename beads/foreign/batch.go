package foreign

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"gcity/beads"
	"gcity/internal/shutdown"
)

const (
	undoLimit = 20 * time.Second // for closing the created beads after a batch has failed
	// added to undoLimit for each bead of the batch; also the limit for a call in progress when the batch is canceled
	undoBeadLimit = 2 * time.Second
)

// Create implements beads.Store.
func (s *Store) Create(ctx context.Context, b beads.Bead) (beads.Bead, error) {
	return beads.CreateOne(ctx, s, b)
}

// CreateAll implements beads.Batcher. After a failure, it closes the created beads, so that no agent works on them.
// The error names these beads.
func (s *Store) CreateAll(ctx context.Context, all []beads.Bead) ([]beads.Bead, error) {
	batch, err := beads.NewBatch(all)
	if err != nil || batch.Len() == 0 {
		return nil, err
	}
	release, err := s.acquire(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	if err := s.checkBatch(ctx, batch); err != nil {
		return nil, err
	}
	n := 0
	m := batchWriter{s: s, real: map[string]string{}, made: make([]beads.Bead, batch.Len())}
	m.want = batch.AssignIDs(time.Now(), func() string {
		n++
		return "$" + strconv.Itoa(n)
	})
	if cook, ok := s.backend.(Cooker); ok && len(m.want) > 1 {
		made, err := cook.Cook(ctx, m.want)
		if len(made) > 0 || !errors.Is(err, errors.ErrUnsupported) {
			m.made = made
			if err == nil {
				err = m.complete(ctx)
			}
			return m.result(ctx, err)
		}
	}
	return m.result(ctx, m.run(ctx))
}

func (s *Store) checkBatch(ctx context.Context, batch *beads.Batch) error {
	external, given := batch.ExternalLinks(), batch.GivenIDs()
	if len(external)+len(given) == 0 {
		return nil
	}
	if len(external) == 1 && len(given) == 0 {
		_, err := s.backend.Get(ctx, external[0])
		switch {
		case errors.Is(err, beads.ErrNotFound):
			return batch.Unknown(external[0])
		case errors.Is(err, beads.ErrUnreadable):
			return nil
		}
		return err
	}
	found, err := s.backend.Find(ctx, beads.Query{})
	if err != nil {
		return err
	}
	by := found.byID()
	for _, id := range external {
		if _, ok := by[id]; !ok {
			return batch.Unknown(id)
		}
	}
	for _, id := range given {
		if _, ok := by[id]; ok {
			return beads.Conflict("bead %s already exists", id)
		}
	}
	if len(given) == 0 {
		return nil
	}
	for _, b := range batch.AssignIDs(time.Now(), func() string { return "$" }) {
		by[b.ID] = b
	}
	return checkCycles(by, given...)
}

type batchWriter struct {
	s    *Store
	want []beads.Bead // beads to create; their IDs might still be names such as "$1"
	real map[string]string
	made []beads.Bead // created beads, at the same indexes as in want; no ID = not created yet
}

// result returns the beads that were created. After an error, it closes them.
func (m *batchWriter) result(ctx context.Context, err error) ([]beads.Bead, error) {
	if err != nil {
		return nil, m.undo(ctx, err)
	}
	return m.made, nil
}

// complete changes the cooked beads that differ from the requested ones. A Cooker might not store all fields.
func (m *batchWriter) complete(ctx context.Context) error {
	for i, b := range m.made {
		m.real[m.want[i].ID] = b.ID
	}
	for i, was := range m.made {
		now := m.want[i].Clone()
		now.ID, now.Rev = was.ID, was.Rev
		now.ParentID, now.Needs = m.links(m.want[i])
		if len(Mismatched(now, was)) == 0 {
			continue
		}
		got, err := m.s.backend.Update(ctx, was, now)
		if err != nil {
			return fmt.Errorf("bead %s was created, but not completely: %w", was.ID, err)
		}
		m.made[i] = got
	}
	return nil
}

// run creates each bead after the beads that it links to. If links form a cycle, run adds some of them at the end.
func (m *batchWriter) run(ctx context.Context) error {
	var later []int
	for range m.want {
		i := m.next(true)
		if i < 0 {
			i = m.next(false)
			later = append(later, i)
		}
		want := m.want[i].Clone()
		if strings.HasPrefix(want.ID, "$") {
			want.ID = ""
		}
		want.ParentID, want.Needs = m.links(m.want[i])
		got, err := m.create(ctx, want)
		if got.ID != "" {
			m.made[i] = got
			m.real[m.want[i].ID] = got.ID
		}
		if err != nil {
			return err
		}
	}
	for _, i := range later {
		now := m.made[i].Clone()
		now.ParentID, now.Needs = m.links(m.want[i])
		got, err := m.s.backend.Update(ctx, m.made[i], now)
		if err != nil {
			return err
		}
		m.made[i] = got
	}
	return nil
}

// create creates a bead. If ctx is canceled during the call, the call gets some more time, because undo cannot close a
// bead with an unknown ID.
func (m *batchWriter) create(ctx context.Context, want beads.Bead) (beads.Bead, error) {
	if ctx.Err() != nil {
		return beads.Bead{}, stopped(context.Cause(ctx))
	}
	call, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	if at, ok := ctx.Deadline(); ok {
		var end context.CancelFunc
		call, end = context.WithDeadline(call, at)
		defer end()
	}
	defer context.AfterFunc(ctx, func() { time.AfterFunc(undoBeadLimit, cancel) })()
	b, err := m.s.backend.Create(call, want)
	if err != nil && errors.Is(ctx.Err(), context.Canceled) {
		err = stopped(err)
	}
	return b, err
}

func stopped(why error) error {
	return fmt.Errorf("stopped before all beads were created: %w", why)
}

// next returns the index of a bead that is not created yet, or -1. If linked is true, it skips beads that link to such
// beads.
func (m *batchWriter) next(linked bool) int {
	for i := range m.want {
		parent, needs := m.links(m.want[i])
		if m.made[i].ID == "" && (!linked || (parent != "") == (m.want[i].ParentID != "") &&
			len(needs) == len(m.want[i].Needs)) {
			return i
		}
	}
	return -1
}

func (m *batchWriter) links(b beads.Bead) (parent string, needs []string) {
	ids := make([]string, 0, 1+len(b.Needs))
	for _, id := range append([]string{b.ParentID}, b.Needs...) {
		switch {
		case m.real[id] != "":
			ids = append(ids, m.real[id])
		case slices.ContainsFunc(m.want, func(w beads.Bead) bool { return w.ID == id }):
			ids = append(ids, "")
		default:
			ids = append(ids, id)
		}
	}
	for _, id := range ids[1:] {
		if id != "" {
			needs = append(needs, id)
		}
	}
	return ids[0], needs
}

// UndoLimit implements beads.UndoLimiter.
func (s *Store) UndoLimit(n int) time.Duration {
	return undoLimit + time.Duration(n)*undoBeadLimit
}

func (m *batchWriter) undo(ctx context.Context, why error) error {
	ctx, cancel := shutdown.CleanupContext(ctx, m.s.UndoLimit(len(m.made)))
	defer cancel()
	withReason := beads.Closing()
	withReason.SetMetadata = map[string]string{beads.CloseReason: beads.PartlyCreated}
	var left []string
	for _, b := range m.made {
		if b.ID == "" || b.Status == beads.StatusClosed {
			continue
		}
		// if the program cannot store the reason, at least close the bead
		if m.apply(ctx, b, withReason) != nil && m.apply(ctx, b, beads.Closing()) != nil {
			left = append(left, b.ID)
		}
	}
	if len(left) > 0 {
		shutdown.GiveUp(ctx, "cannot close the beads that a failed batch has created; they are "+
			"still open: %s",
			strings.Join(left, ", "))
		return fmt.Errorf("%w; the beads created before this failure are still open: %s", why,
			strings.Join(left, ", "))
	}
	return why
}

func (m *batchWriter) apply(ctx context.Context, b beads.Bead, p beads.Patch) error {
	now, err := p.Apply(b, time.Now())
	if err == nil {
		_, err = m.s.backend.Update(ctx, b, now)
	}
	return err
}
