// Package sqlite is the embedded store of beads: one SQLite file in a folder ".beads", used by any number of
// processes at once. It needs no server, and nothing is done before the first call: that opens the file, and only a
// write makes it.
//
// # Concurrency
//
// Each call runs in a goroutine of the store's own, so that a disk that hangs costs the caller no more than its
// deadline; Close waits for them. Writers of one process queue for one connection, those of several processes for the
// file's lock. Readers do not wait for writers, nor the other way round, except on a network file system.
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
	// Folder is where the store of a city or a rig is, below its own folder.
	Folder = ".beads"
	// File is the store in its Folder. SQLite puts files of its own beside it.
	File = "beads.db"

	// patience is how long a call takes at most whose context has no deadline.
	patience = 10 * time.Second
	// each is added for each bead of many.
	each = 5 * time.Millisecond
	// queue is how long a call waits at most for other processes to be done with the file.
	queue = 5 * time.Second
	// grace is how long a call whose time is over may take to say why.
	grace = 100 * time.Millisecond
)

// Store is one file of beads.
type Store struct {
	folder, path string
	prefix       string
	ledger       Ledger
	journal      func(folder string) (string, error) // SQLite's journal mode for a file there

	gate chan struct{} // holds one token: who has it may look at file
	file *file         // nil = not open

	calls   sync.WaitGroup
	mu      sync.Mutex
	running int      // calls
	noted   Identity // what the ledger is known to have
	closed  bool
	idle    chan struct{} // closed with the last call after closed is set
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

// Open returns the store of the city or rig in the folder dir, which must exist by the time of the first call. New ids
// are prefix-1, prefix-2, …; several stores of one file may have several prefixes. It does not touch the disk. The
// store is the caller's to Close.
func Open(dir, prefix string) (*Store, error) { return OpenKnown(dir, prefix, Ledger{}) }

// OpenKnown is Open for a store whose identity a ledger keeps.
func OpenKnown(dir, prefix string, ledger Ledger) (*Store, error) {
	if err := beads.CheckPrefix(prefix); err != nil {
		return nil, err
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("cannot find the folder of the beads: %w", err)
	}
	folder := filepath.Join(dir, Folder)
	s := &Store{folder: folder, path: filepath.Join(folder, File), prefix: prefix, ledger: ledger,
		journal: journalMode, gate: make(chan struct{}, 1), idle: make(chan struct{})}
	s.gate <- struct{}{}
	return s, nil
}

// Path is the store's file.
func (s *Store) Path() string { return s.path }

// Close ends the store; calls that come later fail. It waits for those that run, a few seconds at most: an error says
// that some hang. Closing twice is harmless.
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
		return fmt.Errorf("the store of beads %s still has calls under way that do not end", s.path)
	}
	if s.file == nil {
		return nil
	}
	return s.file.close(context.Background())
}

type outcome[T any] struct {
	value T
	err   error
	fault error // a panic, which is the caller's
}

func (o outcome[T]) get() (T, error) {
	if o.fault != nil {
		panic(o.fault)
	}
	return o.value, o.err
}

// limited gives a context a deadline that has none.
func limited(ctx context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	if _, has := ctx.Deadline(); has {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, limit)
}

// call runs work, at most until the context ends, and then leaves it to itself.
func call[T any](ctx context.Context, s *Store, work func(context.Context) (T, error)) (T, error) {
	var none T
	ctx, cancel := limited(ctx, patience)
	defer cancel()
	if err := ctx.Err(); err != nil {
		return none, fmt.Errorf("the store of beads %s was not asked: %w", s.path, err)
	}
	done := make(chan outcome[T], 1)
	began := s.begin(func() {
		var o outcome[T]
		o.fault = recovery.Catch(func() { o.value, o.err = work(ctx) })
		done <- o
	})
	if !began {
		return none, fmt.Errorf("the store of beads %s is closed", s.path)
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
		return none, &overdue{fmt.Sprintf("the store of beads %s does not answer; what was to be "+
			"written may be written yet", s.path), ctx.Err()}
	}
}

// begin runs work beside, unless the store is closed.
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

// attempt runs try until the file is not busy with other processes.
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
			return &overdue{fmt.Sprintf("the store of beads %s is locked by another "+
				"process, for %v now", s.path, queue), err}
		}
		select {
		case <-ctx.Done():
			return s.locked(ctx.Err())
		case <-time.After(pause):
		}
	}
}

// locked is the error for who waited for other processes until its time was over.
func (s *Store) locked(over error) error {
	return &overdue{fmt.Sprintf("the store of beads %s is locked by another process", s.path), over}
}

// overdue is a call that had to be given up. Its text is for people, what ended it for programs.
type overdue struct {
	text string
	by   error
}

func (o *overdue) Error() string { return o.text }

func (o *overdue) Unwrap() error { return o.by }

// explain makes an error of SQLite one for people; others it leaves alone.
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
		return &overdue{fmt.Sprintf("the store of beads %s did not answer in time", s.path), over}
	case code == codeCorrupt || code == codeNotADB:
		return fmt.Errorf("the store of beads %s is damaged (%w): `%s` restores the newest backup",
			s.path, err, cmp.Or(s.ledger.Restore, "gcity bead restore"))
	case code == codeFull:
		return fmt.Errorf("the store of beads %s cannot grow, the disk is full (%w): make room "+
			"and try again", s.path, err)
	case code == codeIOErr:
		return fmt.Errorf("the store of beads %s failed (%w): %s", s.path, err,
			remedy(s.folder, err))
	case code == codeReadOnly || code == codeCantOpen || code == codePerm:
		return fmt.Errorf("the store of beads %s cannot be written (%w): %s", s.path, err,
			remedy(s.folder, err))
	}
	return fmt.Errorf("the store of beads %s failed: %w", s.path, err)
}
