package workstore

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"gcity/beads"
	"gcity/beads/bd"
	"gcity/beads/script"
	"gcity/beads/sqlite"
	"gcity/cli/folder"
	"gcity/internal/ownership"
	"gcity/internal/recovery"
	"gcity/internal/shutdown"
	"gcity/trust"
)

// OpenStore opens a place's store. The first operation reads or creates it.
func OpenStore(p Place) (Store, error) {
	if p.By.Provider == "" { // starts no program, so it needs no trust
		return p.embedded()
	}
	return openFor(p, false, inForce(p))
}

// openFor opens a place's store. serve means that the store stays open while the city runs.
func openFor(p Place, serve bool, grant trust.Grant) (Store, error) {
	line, scripted := strings.CutPrefix(p.By.Provider, "exec:")
	if scripted || p.By.Provider == "bd" {
		if err := grant.Err(); err != nil {
			return nil, err
		}
	}
	switch {
	case p.By.Provider == "":
		return p.embedded()
	case p.By.Provider == "bd":
		return bd.Open(bd.Options{Dir: p.Dir, Prefix: p.Prefix, Actor: os.Getenv("GC_AGENT"),
			Environ: os.Environ(), Host: p.By.Host, Port: p.By.Port})
	case scripted:
		path := line
		if strings.Contains(path, "/") && !filepath.IsAbs(path) {
			path = filepath.Join(p.City, path)
		}
		if strings.Contains(path, "/") {
			if err := ownership.Check(path); err != nil {
				return nil, err
			}
		}
		mayRun := func(ctx context.Context) error { return grant.ErrOf(ctx, line) }
		env := PlaceEnv(p)
		if !serve {
			env = commandEnv(p, os.Environ())
		}
		return script.Open(script.Options{Script: path, Dir: p.Dir, City: p.City,
			Prefix: p.Prefix, Env: env, Serve: serve && p.Rig == "", MayRun: mayRun})
	}
	return nil, fmt.Errorf(
		`invalid beads provider %q: set [beads] provider to "bd" or "exec:SCRIPT", or omit it`,
		p.By.Provider)
}

// AskStore checks whether a store managed by another program responds, and returns its unreadable records.
func AskStore(ctx context.Context, p Place) (unread []beads.Unreadable, err error) {
	s, err := OpenStore(p)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	if a, ok := s.(beads.Auditor); ok {
		return a.Unreadable(ctx)
	}
	_, err = s.List(ctx, beads.Query{Limit: 1})
	return nil, err
}

// Condition is the state of a store's file and folder.
type Condition = sqlite.Condition

// LargeLog is the size in bytes above which a write-ahead log is too large.
const LargeLog = sqlite.LargeLog

// ExamineStore checks a place's store without creating anything. It also returns the unreadable records.
func ExamineStore(ctx context.Context, p Place) (c Condition, unread []beads.Unreadable,
	err error) {
	s, err := p.embedded()
	if err != nil {
		return c, nil, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	if c, err = s.Examine(ctx); err != nil || !c.Exists {
		return c, nil, err
	}
	unread, err = s.Unreadable(ctx)
	return c, unread, err
}

// ProbeStore tests whether a place's store is writable. It creates a missing store.
func ProbeStore(ctx context.Context, p Place) (err error) {
	s, err := p.embedded()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	return s.Probe(ctx)
}

// Stores contains a running city's stores. Each stays open until Close is called. An embedded store is closed earlier
// if its place is removed from the configuration.
type Stores struct {
	// Places returns the places in the configuration in force. A newer configuration never has a lower rev.
	Places func() (places []Place, rev uint64)
	Grant  trust.Grant
	Logger *slog.Logger

	mu      sync.Mutex
	Open    map[Place]Store
	rev     uint64 // highest rev that Of has seen
	closed  bool
	closing recovery.Group
}

var errClosed = errors.New("the city's work stores are closed, because the controller has exited")

// Of returns the store of a rig, or of the city if rig is "". After Close, it returns an error. An operation that the
// controller has abandoned can still call it then.
func (s *Stores) Of(rig string) (beads.Store, error) {
	places, rev := s.Places() // before Lock, because it can wait for the controller's loop
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, errClosed
	}
	if rev >= s.rev { // an older configuration might lack the places of open stores
		s.rev = rev
		s.closeRemoved(places)
	}
	for _, p := range places {
		if p.Rig != rig {
			continue
		}
		if have, ok := s.Open[p]; ok {
			return have, nil
		}
		fresh, err := openFor(p, true, s.Grant)
		if err == nil {
			s.Open[p] = fresh
		}
		return fresh, err
	}
	return nil, fmt.Errorf("rig %q no longer exists, so its work cannot be read", rig)
}

// closeRemoved closes the embedded stores of all other places. The other kinds of stores keep no files open. A script
// is shut down only when the controller exits, because the store of another place might use it.
func (s *Stores) closeRemoved(places []Place) {
	for p, have := range s.Open {
		if p.By.Provider != "" || slices.Contains(places, p) {
			continue
		}
		delete(s.Open, p)
		s.closing.Go(func() {
			folder.LogError(s.Logger, "cannot close the work store of "+p.Title(), have.Close())
		})
	}
}

// BackUp makes the automatic backups that are due.
func (s *Stores) BackUp(ctx context.Context) error {
	places, _ := s.Places()
	return backUpAll(ctx, places, time.Now())
}

// Close closes all stores. Their scripts may run until the shutdown deadline.
func (s *Stores) Close(last *shutdown.Deadline) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	defer s.closing.Wait()
	for p, have := range s.Open {
		c, ok := have.(interface{ CloseWithin(context.Context) error })
		if !ok {
			folder.LogError(s.Logger, "cannot close a work store", have.Close())
			continue
		}
		err := c.CloseWithin(last.Context())
		if err != nil && last.Context().Err() != nil {
			last.GiveUp("the shutdown of the script that stores the work of %s", p.Title())
			continue
		}
		folder.LogError(s.Logger, "cannot close a work store", err)
	}
}
