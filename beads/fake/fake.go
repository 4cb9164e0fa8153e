// Package fake implements an in-memory bead store for tests. Tests can make it fail or hang.
package fake

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"gcity/beads"
)

// Store stores beads in memory. All its methods may be called concurrently.
type Store struct {
	prefix string

	mu      sync.Mutex
	all     []beads.Bead // in the order in which they were written
	last    int          // the highest number in an ID
	version uint64
	broken  error
	hung    chan struct{}
}

var (
	_ beads.Store     = (*Store)(nil)
	_ beads.Batcher   = (*Store)(nil)
	_ beads.Counter   = (*Store)(nil)
	_ beads.Purger    = (*Store)(nil)
	_ beads.Versioner = (*Store)(nil)
	_ beads.Prober    = (*Store)(nil)
	_ beads.Restorer  = (*Store)(nil)
	_ beads.Auditor   = (*Store)(nil)
)

// New returns an empty store that assigns the IDs prefix-1, prefix-2, …
func New(prefix string) *Store { return &Store{prefix: prefix} }

// Break makes every call fail with err, or succeed again if err is nil.
func (s *Store) Break(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.broken = err
}

// Hang makes every call block until its context ends or the returned function is called.
func (s *Store) Hang() (release func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	hung := make(chan struct{})
	s.hung = hung
	return sync.OnceFunc(func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		close(hung)
		if s.hung == hung {
			s.hung = nil
		}
	})
}

func (s *Store) enter(ctx context.Context) error {
	s.mu.Lock()
	hung := s.hung
	s.mu.Unlock()
	if hung != nil {
		select {
		case <-hung:
		case <-ctx.Done():
		}
	}
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("the bead store did not respond: %w", err)
	}
	s.mu.Lock()
	if err := s.broken; err != nil {
		s.mu.Unlock()
		return err
	}
	return nil
}

func (s *Store) find(id string) int {
	return slices.IndexFunc(s.all, func(b beads.Bead) bool { return b.ID == id })
}

// Get implements beads.Store.
func (s *Store) Get(ctx context.Context, id string) (beads.Bead, error) {
	if err := s.enter(ctx); err != nil {
		return beads.Bead{}, err
	}
	defer s.mu.Unlock()
	i := s.find(id)
	if i < 0 {
		return beads.Bead{}, beads.NotFound(id)
	}
	return s.all[i].Clone(), nil
}

// List implements beads.Store.
func (s *Store) List(ctx context.Context, q beads.Query) ([]beads.Bead, error) {
	if err := s.enter(ctx); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	all, err := s.match(q)
	if err != nil {
		return nil, err
	}
	if q.Before != "" {
		newest, err := s.match(beads.Query{})
		if err != nil {
			return nil, err
		}
		i := slices.IndexFunc(newest, func(b beads.Bead) bool { return b.ID == q.Before })
		if i < 0 {
			return nil, fmt.Errorf("cannot list the page after bead %q: %w", q.Before,
				beads.ErrNotFound)
		}
		older := newest[i+1:]
		all = slices.DeleteFunc(all, func(b beads.Bead) bool {
			return !slices.ContainsFunc(older, func(o beads.Bead) bool { return o.ID == b.ID })
		})
	}
	if most := q.MaxResults(); most >= 0 && len(all) > most {
		all = all[:most]
	}
	for i, b := range all {
		all[i] = b.Clone()
	}
	return all, nil
}

// match returns the beads that match a query, newest first. It ignores Before and Limit.
func (s *Store) match(q beads.Query) ([]beads.Bead, error) {
	if err := q.Check(); err != nil {
		return nil, err
	}
	all := slices.Clone(s.all)
	if q.Ready {
		all = beads.Ready(all)
	}
	all = slices.DeleteFunc(all, func(b beads.Bead) bool { return !q.Match(b) })
	slices.Reverse(all)
	slices.SortStableFunc(all, func(a, b beads.Bead) int {
		return b.CreatedAt.Compare(a.CreatedAt)
	})
	return all, nil
}

// Count implements beads.Counter.
func (s *Store) Count(ctx context.Context, q beads.Query) (int, error) {
	if err := s.enter(ctx); err != nil {
		return 0, err
	}
	defer s.mu.Unlock()
	all, err := s.match(q)
	return len(all), err
}

// Create implements beads.Store.
func (s *Store) Create(ctx context.Context, b beads.Bead) (beads.Bead, error) {
	if strings.HasPrefix(b.ID, "$") {
		return beads.Bead{}, beads.CheckID(b.ID)
	}
	all, err := s.CreateAll(ctx, []beads.Bead{b})
	if err != nil {
		return beads.Bead{}, err
	}
	return all[0], nil
}

// CreateAll implements beads.Batcher.
func (s *Store) CreateAll(ctx context.Context, all []beads.Bead) (_ []beads.Bead, err error) {
	batch, err := beads.NewBatch(all)
	if err != nil {
		return nil, err
	}
	if err := s.enter(ctx); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	defer s.undo(&err)()
	for _, id := range batch.ExternalLinks() {
		if s.find(id) < 0 {
			return nil, batch.Unknown(id)
		}
	}
	for _, id := range batch.GivenIDs() {
		if s.find(id) >= 0 {
			return nil, beads.Conflict("bead %s already exists", id)
		}
		s.reserveNumber(id)
	}
	made := batch.AssignIDs(time.Now(), func() string {
		s.last++
		return s.prefix + "-" + strconv.Itoa(s.last)
	})
	for _, b := range made {
		s.all = append(s.all[:len(s.all):len(s.all)], b.Clone())
	}
	if err := s.checkCycles(batch.GivenIDs()...); err != nil {
		return nil, err
	}
	s.version++
	return made, nil
}

func (s *Store) undo(err *error) func() {
	all, last := s.all, s.last
	return func() {
		if *err != nil {
			s.all, s.last = all, last
		}
	}
}

func (s *Store) reserveNumber(id string) {
	if i := strings.LastIndexByte(id, '-'); i >= 0 {
		if n, err := strconv.Atoi(id[i+1:]); err == nil && n < 1e15 {
			s.last = max(s.last, n)
		}
	}
}

func (s *Store) checkCycles(ids ...string) error {
	for field, next := range map[string]func(beads.Bead) []string{
		"parent": func(b beads.Bead) []string { return []string{b.ParentID} },
		"needs":  func(b beads.Bead) []string { return b.Needs },
	} {
		path := beads.Cycle(ids, func(id string) []string {
			if i := s.find(id); i >= 0 {
				return next(s.all[i])
			}
			return nil
		})
		if path != nil {
			return beads.CycleError(ids, field, path)
		}
	}
	return nil
}

// Update implements beads.Store.
func (s *Store) Update(ctx context.Context, id string, p beads.Patch) (beads.Bead, error) {
	if err := s.enter(ctx); err != nil {
		return beads.Bead{}, err
	}
	defer s.mu.Unlock()
	i := s.find(id)
	if i < 0 {
		return beads.Bead{}, beads.NotFound(id)
	}
	have := s.all[i]
	b, err := p.Apply(have, time.Now())
	if err != nil {
		return beads.Bead{}, err
	}
	for _, link := range beads.AddedLinks(have, b) {
		if s.find(link) < 0 {
			return beads.Bead{}, beads.UnknownLink(id, link)
		}
	}
	if b.Rev == have.Rev {
		return b, nil
	}
	s.all[i] = b.Clone()
	if err := s.checkCycles(id); err != nil {
		s.all[i] = have
		return beads.Bead{}, err
	}
	s.version++
	return b, nil
}

// Purge implements beads.Purger.
func (s *Store) Purge(ctx context.Context, q beads.Query, before time.Time) (int, error) {
	if err := s.enter(ctx); err != nil {
		return 0, err
	}
	defer s.mu.Unlock()
	q.Status, q.Ready = nil, false
	gone := map[string]bool{}
	for _, b := range s.all {
		if tree := s.below(b); q.Match(b) && !slices.ContainsFunc(tree, func(b beads.Bead) bool {
			return b.ClosedAt == nil || !b.ClosedAt.Before(before)
		}) {
			for _, b := range tree {
				gone[b.ID] = true
			}
		}
	}
	s.all = slices.DeleteFunc(slices.Clone(s.all), func(b beads.Bead) bool { return gone[b.ID] })
	if len(gone) > 0 {
		s.version++
	}
	return len(gone), nil
}

func (s *Store) below(b beads.Bead) []beads.Bead {
	tree := []beads.Bead{b}
	for i := 0; i < len(tree); i++ {
		for _, c := range s.all {
			if c.ParentID == tree[i].ID {
				tree = append(tree, c)
			}
		}
	}
	return tree
}

// Probe implements beads.Prober.
func (s *Store) Probe(ctx context.Context) error {
	if err := s.enter(ctx); err != nil {
		return err
	}
	s.mu.Unlock()
	return nil
}

// Version implements beads.Versioner.
func (s *Store) Version(ctx context.Context) (uint64, error) {
	if err := s.enter(ctx); err != nil {
		return 0, err
	}
	defer s.mu.Unlock()
	return s.version, nil
}

// Restore implements beads.Restorer.
func (s *Store) Restore(ctx context.Context, all []beads.Bead) (_ beads.Restored, err error) {
	if err := s.enter(ctx); err != nil {
		return beads.Restored{}, err
	}
	defer s.mu.Unlock()
	defer s.undo(&err)()
	var done beads.Restored
	if err := s.restore(all, &done); err != nil {
		return beads.Restored{}, err
	}
	if done.Created+done.Updated > 0 {
		s.version++
	}
	return done, nil
}

func (s *Store) restore(all []beads.Bead, done *beads.Restored) error {
	s.all = slices.Clone(s.all)
	for _, b := range all {
		i := s.find(b.ID)
		var have *beads.Bead
		if i >= 0 {
			have = &s.all[i]
		}
		b, outcome, err := beads.Merge(have, b, time.Now())
		if err != nil {
			return err
		}
		done.Count(outcome)
		switch outcome {
		case beads.Created:
			s.all = append(s.all, b)
		case beads.Updated:
			s.all[i] = b
		default:
			continue
		}
		for _, id := range append(beads.AddedLinks(beads.Bead{}, b), b.ID) {
			s.reserveNumber(id)
		}
	}
	ids := make([]string, len(all))
	for i, b := range all {
		ids[i] = b.ID
	}
	return s.checkCycles(ids...)
}

// Unreadable implements beads.Auditor. The result is always empty.
func (s *Store) Unreadable(ctx context.Context) ([]beads.Unreadable, error) {
	if err := s.enter(ctx); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	return nil, nil
}
