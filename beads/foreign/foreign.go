// Package foreign implements a beads.Store on top of another program. The program only has to list, find, create and
// change beads.
//
// # Concurrency
//
// A write reads, decides and writes under a lock that all gcity processes on this machine share. Other programs do not
// take this lock, so gcity can overwrite their concurrent changes.
package foreign

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"gcity/beads"
	"gcity/internal/disk"
)

// Backend is a program that stores beads. Its methods may be called concurrently, except that only one write runs at a
// time. It returns normalized beads; see Normalize.
type Backend interface {
	// Ready is called before the other methods. After it has succeeded, it is not called again.
	Ready(ctx context.Context) error
	// Get returns a bead, or ErrNotFound, or ErrUnreadable. The caller has checked the ID.
	Get(ctx context.Context, id string) (beads.Bead, error)
	// Find returns, in any order, all records that the query selects, and possibly others. For a query for ready beads,
	// it returns either exactly these beads or all records that are not closed. It ignores Before and Limit.
	Find(ctx context.Context, q beads.Query) (Found, error)
	// Create stores a new bead and returns it as stored. All linked beads must exist. b.ID may be empty.
	Create(ctx context.Context, b beads.Bead) (beads.Bead, error)
	// Update replaces a bead and returns it as stored. Both versions have the same ID.
	Update(ctx context.Context, was, now beads.Bead) (beads.Bead, error)
}

// Cooker is a Backend that can create several beads in one call. Their IDs may be names ("$1"). Cook returns the beads
// in the same order, possibly without some of their fields. With an error, it returns the beads that it has created, in
// any order. After errors.ErrUnsupported without beads, the beads are created one by one.
type Cooker interface {
	Cook(ctx context.Context, all []beads.Bead) ([]beads.Bead, error)
}

// Remover is a Backend that can remove beads. Removing a bead that does not exist is not an error.
type Remover interface {
	Remove(ctx context.Context, ids []string) error
}

// Store implements beads.Store, beads.Batcher and beads.Purger.
type Store struct {
	backend Backend
	lock    string
	turn    chan struct{} // binary semaphore, held by the goroutine that is writing

	ready   atomic.Bool
	readies chan struct{} // binary semaphore, held by the goroutine that runs Backend.Ready
}

var (
	_ beads.Store   = (*Store)(nil)
	_ beads.Batcher = (*Store)(nil)
	_ beads.Purger  = (*Store)(nil)
	_ beads.Auditor = (*Store)(nil)

	_ beads.UndoLimiter = (*Store)(nil)
)

// New returns a store on top of a backend. lockPath is the lock file that all gcity processes use for this store.
func New(k Backend, lockPath string) *Store {
	return &Store{backend: k, lock: lockPath, turn: make(chan struct{}, 1),
		readies: make(chan struct{}, 1)}
}

func (s *Store) begin(ctx context.Context) error {
	if s.ready.Load() {
		return nil
	}
	select {
	case s.readies <- struct{}{}:
		defer func() { <-s.readies }()
	case <-ctx.Done():
		return fmt.Errorf("still checking whether the store can be used: %w",
			context.Cause(ctx))
	}
	if s.ready.Load() {
		return nil
	}
	err := s.backend.Ready(ctx)
	s.ready.Store(err == nil)
	return err
}

func (s *Store) acquire(ctx context.Context) (release func(), err error) {
	if err := s.begin(ctx); err != nil {
		return nil, err
	}
	select {
	case s.turn <- struct{}{}:
	case <-ctx.Done():
		return nil, busy(ctx)
	}
	defer func() {
		if err != nil {
			<-s.turn
		}
	}()
	if err := disk.MkdirAll(filepath.Dir(s.lock), 0o700); err != nil {
		return nil, fmt.Errorf("cannot create the store's folder: %w", err)
	}
	lock, err := disk.AwaitLock(ctx, s.lock)
	switch {
	case errors.Is(err, disk.ErrLocked):
		return nil, busy(ctx)
	case err != nil:
		return nil, err
	}
	return func() {
		_ = lock.Release() // the kernel releases the lock in any case
		<-s.turn
	}, nil
}

func busy(ctx context.Context) error {
	return fmt.Errorf("another process is still writing to the same store: %w", context.Cause(ctx))
}

// Get implements beads.Store.
func (s *Store) Get(ctx context.Context, id string) (beads.Bead, error) {
	if beads.CheckID(id) != nil {
		return beads.Bead{}, beads.NotFound(id)
	}
	if err := s.begin(ctx); err != nil {
		return beads.Bead{}, err
	}
	return s.backend.Get(ctx, id)
}

// List implements beads.Store. For equal times, the higher number in an ID comes first.
func (s *Store) List(ctx context.Context, q beads.Query) ([]beads.Bead, error) {
	if err := q.Check(); err != nil {
		return nil, err
	}
	var before beads.Bead
	if q.Before != "" {
		var err error
		if before, err = s.Get(ctx, q.Before); err != nil {
			return nil, fmt.Errorf("cannot find the bead after which the page begins: %w", err)
		}
	}
	all, err := s.find(ctx, q)
	if err != nil {
		return nil, err
	}
	if q.Before != "" {
		all = slices.DeleteFunc(all, func(b beads.Bead) bool { return newer(b, before) <= 0 })
	}
	if most := q.MaxResults(); most >= 0 && len(all) > most {
		all = all[:most]
	}
	return all, nil
}

func (s *Store) find(ctx context.Context, q beads.Query) ([]beads.Bead, error) {
	if err := s.begin(ctx); err != nil {
		return nil, err
	}
	q.Before, q.Limit = "", 0
	found, err := s.backend.Find(ctx, q)
	if err != nil {
		return nil, err
	}
	all := found.Beads
	if q.Ready {
		all = found.Ready()
	}
	all = slices.DeleteFunc(all, func(b beads.Bead) bool { return !q.Match(b) })
	slices.SortStableFunc(all, newer)
	return all, nil
}

// newer is a comparison function for sorting: newest beads first. It never returns 0 for different IDs.
func newer(a, b beads.Bead) int {
	return cmp.Or(b.CreatedAt.Compare(a.CreatedAt), cmp.Compare(number(b.ID), number(a.ID)),
		strings.Compare(b.ID, a.ID))
}

func number(id string) uint64 {
	i := strings.LastIndexAny(id, "-.")
	n, err := strconv.ParseUint(id[i+1:], 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// Update implements beads.Store.
func (s *Store) Update(ctx context.Context, id string, p beads.Patch) (beads.Bead, error) {
	if beads.CheckID(id) != nil {
		return beads.Bead{}, beads.NotFound(id)
	}
	release, err := s.acquire(ctx)
	if err != nil {
		return beads.Bead{}, err
	}
	defer release()
	was, err := s.backend.Get(ctx, id)
	if err != nil {
		return beads.Bead{}, err
	}
	now, err := p.Apply(was, time.Now())
	if err != nil || now.Rev == was.Rev {
		return now, err
	}
	if beads.LinksChanged(was, now) {
		if err := s.checkLinks(ctx, was, now); err != nil {
			return beads.Bead{}, err
		}
	}
	return s.backend.Update(ctx, was, now)
}

func (s *Store) checkLinks(ctx context.Context, was, now beads.Bead) error {
	links := beads.AddedLinks(was, now)
	if len(now.Needs) == 0 && now.ParentID == "" {
		return nil
	}
	found, err := s.backend.Find(ctx, beads.Query{})
	if err != nil {
		return err
	}
	by := found.byID()
	for _, link := range links {
		if _, ok := by[link]; !ok {
			return beads.UnknownLink(now.ID, link)
		}
	}
	by[now.ID] = now
	return checkCycles(by, now.ID)
}

func checkCycles(by map[string]beads.Bead, ids ...string) error {
	for field, next := range map[string]func(beads.Bead) []string{
		"parent": func(b beads.Bead) []string { return []string{b.ParentID} },
		"needs":  func(b beads.Bead) []string { return b.Needs },
	} {
		if path := beads.Cycle(ids, func(id string) []string {
			if b, ok := by[id]; ok {
				return next(b)
			}
			return nil
		}); path != nil {
			return beads.CycleError(ids, field, path)
		}
	}
	return nil
}

// Purge implements beads.Purger, if the backend is a Remover.
func (s *Store) Purge(ctx context.Context, q beads.Query, before time.Time) (int, error) {
	remover, ok := s.backend.(Remover)
	if !ok {
		return 0, fmt.Errorf("this store cannot remove old beads: %w", errors.ErrUnsupported)
	}
	release, err := s.acquire(ctx)
	if err != nil {
		return 0, err
	}
	defer release()
	found, err := s.backend.Find(ctx, beads.Query{})
	if err != nil {
		return 0, err
	}
	all := found.all()
	q.Status, q.Ready = nil, false
	children := map[string][]beads.Bead{}
	for _, b := range all {
		children[b.ParentID] = append(children[b.ParentID], b)
	}
	gone := map[string]bool{}
	for _, b := range found.Beads {
		tree := []beads.Bead{b}
		for i := 0; q.Match(b) && i < len(tree) && len(tree) <= len(all); i++ {
			tree = append(tree, children[tree[i].ID]...)
		}
		if q.Match(b) && !slices.ContainsFunc(tree, func(b beads.Bead) bool {
			return b.ClosedAt == nil || !b.ClosedAt.Before(before) || found.isUnreadable(b)
		}) {
			for _, b := range tree {
				gone[b.ID] = true
			}
		}
	}
	if len(gone) == 0 {
		return 0, nil
	}
	ids := make([]string, 0, len(gone))
	for id := range gone {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return len(ids), remover.Remove(ctx, ids)
}
