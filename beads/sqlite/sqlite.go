// Package sqlite implements the embedded bead store: one SQLite file in a folder ".beads". Any number of processes
// can use it at the same time, without a server. The file is opened by the first call and created by the first write.
//
// # Concurrency
//
// Each call runs in a goroutine that the store owns, so that a hung disk delays the caller only until its deadline.
// Close waits for these goroutines. Writers in the same process wait for one connection. Writers in different
// processes wait for the file's lock. Readers and writers do not block each other, except on a network file system.
package sqlite

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"time"

	"gcity/beads"
	"gcity/internal/recovery"
)

const (
	// Folder is the name of the store's folder in the folder of a city or a rig.
	Folder = ".beads"
	// File is the name of the store's file in Folder.
	File = "beads.db"

	// patience is the time limit for a call if the context has no deadline.
	patience = 10 * time.Second
	// a batch gets this additional time for each bead
	each = 5 * time.Millisecond
	// queue is how long a call waits for other processes to release the file's lock.
	queue = 5 * time.Second
	// indexQueue is like queue, but for openIndexes, which a store can do without.
	indexQueue = 300 * time.Millisecond
	// grace is how long a caller waits after its deadline for the call's own error.
	grace = 100 * time.Millisecond
)

// Store is a bead store in an SQLite file.
type Store struct {
	folder, path string
	prefix       string
	ledger       Ledger
	journal      func(folder string) (string, error)

	gate chan struct{} // binary semaphore that guards file
	file *file         // nil = not open

	calls   sync.WaitGroup
	mu      sync.Mutex
	running int
	noted   Identity // last known content of the ledger
	closed  bool
	idle    chan struct{} // closed when no call is in progress after Close
}

var _ interface {
	beads.Store
	beads.Batcher
	beads.Counter
	beads.Purger
	beads.Versioner
	beads.Prober
	beads.Restorer
	beads.Auditor
	beads.Salvager
} = (*Store)(nil)

// Open returns the store in a city's or rig's folder. New IDs are prefix-1, prefix-2, and so on. Several Stores with
// different prefixes may use one file. Open does not access the disk. The caller must close the store.
func Open(dir, prefix string) (*Store, error) { return OpenKnown(dir, prefix, Ledger{}) }

// OpenKnown is like Open, but for a store with a ledger.
func OpenKnown(dir, prefix string, ledger Ledger) (*Store, error) {
	if err := beads.CheckPrefix(prefix); err != nil {
		return nil, err
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("cannot find the folder for the beads: %w", err)
	}
	folder := filepath.Join(dir, Folder)
	s := &Store{folder: folder, path: filepath.Join(folder, File), prefix: prefix, ledger: ledger,
		journal: journalMode, gate: make(chan struct{}, 1), idle: make(chan struct{})}
	s.gate <- struct{}{}
	return s, nil
}

// Path returns the path of the store's file.
func (s *Store) Path() string { return s.path }

// Close closes the store, and later calls fail. It waits a few seconds for calls in progress. It returns an error if
// some of them hang.
func (s *Store) Close() error {
	s.mu.Lock()
	first := !s.closed
	s.closed = true
	if first && s.running == 0 {
		close(s.idle)
	}
	s.mu.Unlock()
	if !first {
		return nil
	}
	select {
	case <-s.idle:
		s.calls.Wait()
	case <-time.After(queue):
		return fmt.Errorf("some calls to the bead store %s hang", s.path)
	}
	if s.file == nil {
		return nil
	}
	return s.file.close(context.Background())
}

type outcome[T any] struct {
	value T
	err   error
	fault error // a panic, which is raised again in the caller
}

func (o outcome[T]) get() (T, error) {
	if o.fault != nil {
		panic(o.fault)
	}
	return o.value, o.err
}

func limited(ctx context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	if _, has := ctx.Deadline(); has {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, limit)
}

// call runs work in a goroutine and returns its result. If the context ends first, call soon returns an error, even if
// work is still running.
func call[T any](ctx context.Context, s *Store, work func(context.Context) (T, error)) (T, error) {
	var none T
	ctx, cancel := limited(ctx, patience)
	defer cancel()
	if err := ctx.Err(); err != nil {
		return none, fmt.Errorf("the operation on the bead store %s was not started: %w", s.path,
			err)
	}
	done := make(chan outcome[T], 1)
	began := s.begin(func() {
		var o outcome[T]
		o.fault = recovery.Catch(func() { o.value, o.err = work(ctx) })
		done <- o
	})
	if !began {
		return none, fmt.Errorf("the bead store %s is closed", s.path)
	}
	select {
	case r := <-done:
		return r.get()
	case <-ctx.Done():
	}
	select {
	case r := <-done:
		return r.get()
	case <-time.After(grace):
		return none, &timeoutError{fmt.Sprintf("the bead store %s does not respond; a write in "+
			"progress may still succeed", s.path), ctx.Err()}
	}
}

func (s *Store) begin(work func()) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	s.running++
	s.calls.Go(func() {
		work()
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.running--; s.closed && s.running == 0 {
			close(s.idle)
		}
	})
	return true
}

func (s *Store) attempt(ctx context.Context, try func() error) error {
	pause, waited := time.Millisecond, false
	for end := time.Now().Add(queue); ; pause = min(2*pause, 20*time.Millisecond) {
		err := try()
		if waited && ctx.Err() != nil && (code(err) != 0 || errors.Is(err, ctx.Err())) {
			return s.locked(ctx.Err())
		}
		if !busy(err) {
			return s.explain(ctx, err)
		}
		waited = true
		if time.Now().After(end) {
			return &timeoutError{fmt.Sprintf("the bead store %s has been locked by another "+
				"process for %v", s.path, queue), err}
		}
		select {
		case <-ctx.Done():
			return s.locked(ctx.Err())
		case <-time.After(pause):
		}
	}
}

func (s *Store) locked(over error) error {
	text := fmt.Sprintf("the bead store %s is locked by another process", s.path)
	return &timeoutError{text, over}
}

type timeoutError struct {
	text string
	by   error
}

func (o *timeoutError) Error() string { return o.text }

func (o *timeoutError) Unwrap() error { return o.by }

func (s *Store) full(err error) error {
	return fmt.Errorf("the bead store %s cannot grow because the disk is full (%w): free some "+
		"space and try again", s.path, err)
}

func (s *Store) explain(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	over := ctx.Err()
	switch code := code(err); {
	case code == 0 && !errors.Is(err, context.DeadlineExceeded) &&
		!errors.Is(err, context.Canceled):
		return err
	case over != nil:
		return &timeoutError{fmt.Sprintf("the bead store %s did not respond in time", s.path), over}
	case IsDamaged(err):
		return fmt.Errorf("the bead store %s is damaged (%w); `%s` restores the newest backup",
			s.path, err, cmp.Or(s.ledger.Restore, "gcity bead restore"))
	case code == codeFull:
		return s.full(err)
	case code == codeIOErr:
		return fmt.Errorf("the bead store %s failed (%w): %s", s.path, err,
			remedy(s.folder, err))
	case code == codeReadOnly || code == codeCantOpen || code == codePerm:
		return fmt.Errorf("cannot write to the bead store %s (%w): %s", s.path, err,
			remedy(s.folder, err))
	}
	return fmt.Errorf("the bead store %s failed: %w", s.path, err)
}
