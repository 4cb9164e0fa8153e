// Package script implements a session provider that executes a user's program for each operation, with the operation
// and the session's name as arguments. The program runs the sessions. docs/script-protocol.md describes the protocol.
//
// For each session, a record in one of the city's folders contains the city, start, marks and exit. A patrol therefore
// executes the script only once, plus once for each session that is draining or has an idle timeout. A local session's
// processes are found by GC_SESSION_ID in their environment.
//
// # Concurrency
//
// A Provider is safe for concurrent use and has no long-running goroutines. An operation that changes a session waits
// for that session's lock.
package script

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"gcity/internal/disk"
	"gcity/internal/proc"
	"gcity/internal/shutdown"
	"gcity/session"
	"gcity/session/registry"
)

// Options configures a Provider.
type Options struct {
	City   string // absolute path of the city's folder
	Script string // absolute path of the program
	// folder of the records, created if necessary; each script of a city needs its own
	Dir string
	// the controller's environment
	Environ []string

	// MayRun returns an error if the script must not be executed. It may be nil.
	MayRun func(context.Context) error

	// read-only: the provider changes nothing, but creates the script's folders when it executes the script
	Observe bool
	Logger  *slog.Logger // nil disables logging
}

// Provider is a session provider that calls a script.
type Provider struct {
	o    Options
	env  []string
	boot string

	mu       sync.Mutex
	sessions map[string]*entry
	lacks    map[string]bool // operations that the script does not support
	stops    map[string]*stopping
}

type entry struct {
	lock    registry.NameLock
	rec     record // protected by Provider.mu, like all fields below
	removed bool   // Provider.sessions does not contain the entry anymore
	// cancels the operation that holds the lock; nil if a stop must wait instead
	interrupt context.CancelCauseFunc

	pid      int    // the agent's PID; 0 = unknown
	start    uint64 // start time of that process
	activity time.Time
	attached int
	typed    time.Time
}

var _ interface {
	session.Provider
	session.Attacher
	session.Watcher
	session.Keyer
	session.Marker
	session.Meter
	session.Clearer
	session.Acknowledger
	session.Limiter
	session.Looker
	session.Checker
	session.Patient
} = (*Provider)(nil)

// New returns a provider with the stored sessions. It does not execute the script.
func New(o Options) (*Provider, error) {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if err := executable(o.Script); err != nil {
		return nil, err
	}
	boot, err := proc.BootID()
	if err != nil {
		return nil, fmt.Errorf("cannot read the boot ID: %w", err)
	}
	p := &Provider{o: o, boot: boot, env: scriptEnv(o.Environ, o.City, stateFolder(o.Dir)),
		sessions: map[string]*entry{}, lacks: map[string]bool{}, stops: map[string]*stopping{}}
	if !o.Observe {
		if err := p.makeFolders(); err != nil {
			return nil, err
		}
	}
	recs, err := readRecords(o.Dir)
	if err != nil {
		return nil, err
	}
	for _, r := range recs {
		p.sessions[r.Name] = newEntry(r)
	}
	return p, nil
}

func stateFolder(dir string) string { return filepath.Join(dir, "state") }

func (p *Provider) makeFolders() error {
	if err := disk.MkdirState(stateFolder(p.o.Dir), 0o700); err != nil {
		return fmt.Errorf("cannot create the folder for the script's sessions: %w", err)
	}
	return nil
}

func newEntry(r record) *entry {
	return &entry{lock: registry.NewNameLock(), rec: r}
}

// Limits implements session.Limiter.
func (*Provider) Limits() session.Limits {
	return session.Limits{
		Lacks: []session.Ability{session.ExplainingExits, session.CountingOutput},
		Why:   "gcity calls the script only once per patrol",
	}
}

// patience is the time limit of Stop, the longest operation.
const patience = 3*opLimit + 2*sweepLimit

// Patience implements session.Patient.
func (*Provider) Patience(string) time.Duration { return patience }

func (p *Provider) lock(ctx context.Context, name string) (e *entry, release func(), err error) {
	for {
		p.mu.Lock()
		e := p.sessions[name]
		if e == nil {
			e = newEntry(record{})
			p.sessions[name] = e
		}
		p.mu.Unlock()
		unlock, err := e.lock.Lock(ctx)
		if err != nil {
			return nil, nil, fmt.Errorf("session %q is still busy: %w", name, err)
		}
		p.mu.Lock()
		gone := e.removed
		p.mu.Unlock()
		if !gone {
			return e, func() { p.forget(name, e); unlock() }, nil
		}
		unlock()
	}
}

func (p *Provider) forget(name string, e *entry) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if e.rec.Name == "" && p.sessions[name] == e {
		e.removed = true
		delete(p.sessions, name)
	}
}

func (p *Provider) living(verb, name string) (*entry, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	e := p.sessions[name]
	if e == nil || e.rec.Name == "" || e.rec.Exit != nil {
		return nil, missing(verb, name)
	}
	return e, nil
}

func missing(verb, name string) error {
	return fmt.Errorf("cannot %s %q: %w", verb, name, session.ErrNotFound)
}

// Start implements session.Provider.
func (p *Provider) Start(ctx context.Context, s session.Spec) (session.Status, error) {
	if s.Name == "" || strings.ContainsAny(s.Name, "/\x00") || s.Name[0] == '.' ||
		s.Name[0] == '-' {
		return session.Status{}, fmt.Errorf("cannot start %q: invalid name: %w", s.Name,
			session.ErrCommand)
	}
	e, release, err := p.lock(ctx, s.Name)
	if err != nil {
		return session.Status{}, err
	}
	defer release()
	p.mu.Lock()
	old := e.rec
	p.mu.Unlock()
	if err := p.endPrevious(ctx, s.Name, e, &old); err != nil {
		return session.Status{}, err
	}
	rec := newRecord(&s, p.boot)
	rec.Starting, rec.Asked = true, true
	// write the record before the script runs, so that the next controller finds the session
	if err := p.save(rec, disk.Save); err != nil {
		err = fmt.Errorf("cannot start %q: %w", s.Name, err)
		if proc.Exhausted(err) {
			err = session.Exhausted(err)
		}
		return session.Status{}, err
	}
	order := request{op: "start", name: s.Name, stdin: startInput(&s), env: startMark + rec.ID}
	if _, _, err = p.carryOut(ctx, order); err != nil {
		return session.Status{}, errors.Join(fmt.Errorf("cannot start %q: %w", s.Name, err),
			p.undoStart(ctx, e, rec, &old))
	}
	pid, start := p.await(ctx, rec.ID)
	begun := rec
	begun.Starting, begun.Asked, begun.Local = false, false, pid > 0
	// without this, the next controller would undo the start
	if err := p.save(begun, disk.Save); err != nil {
		return session.Status{}, errors.Join(fmt.Errorf("cannot start %q: %w", s.Name, err),
			p.undoStart(ctx, e, rec, &old))
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	e.rec, e.pid, e.start, e.activity, e.attached, e.typed = begun, pid, start, time.Time{}, 0,
		time.Time{}
	return p.status(e), nil
}

func (p *Provider) endPrevious(ctx context.Context, name string, e *entry, old *record) error {
	if old.Starting {
		if err := p.end(ctx, old); err != nil {
			return fmt.Errorf("cannot start %q: an earlier start did not finish, and its "+
				"session might still be running: %w", name, err)
		}
		return nil
	}
	runs, err := p.runs(ctx, name)
	switch {
	case err != nil:
		return fmt.Errorf("cannot start %q: cannot check whether it is running: %w", name, err)
	case !runs && old.Name == "":
		return nil
	case !runs && (old.Exit != nil || !p.checkRecord(e, old, false)):
		if err := sweep(sessionMark + old.ID); err != nil {
			return fmt.Errorf("cannot start %q: processes of its last session are still running: "+
				"%w", name,
				err)
		}
		return nil
	case old.Name == "":
		return fmt.Errorf("cannot start %q: %w: it belongs to another city or has lost its "+
			"record; stop that session, or rename the city", name, session.ErrExists)
	case old.Exit == nil:
		return fmt.Errorf("cannot start %q: %w", name, session.ErrExists)
	}
	return p.end(ctx, old)
}

// undoStart ends a session after a failed start. If it cannot, the next List or Stop will try again.
func (p *Provider) undoStart(ctx context.Context, e *entry, rec record, old *record) error {
	ctx, cancel := shutdown.CleanupContext(ctx, opLimit)
	defer cancel()
	if err := p.end(ctx, &rec); err != nil {
		shutdown.GiveUp(ctx, "undoing the start of %s; the next controller will try again",
			rec.Agent)
		p.mu.Lock()
		e.rec, e.pid, e.activity, e.attached, e.typed = rec, 0, time.Time{}, 0, time.Time{}
		p.mu.Unlock()
		return fmt.Errorf("and its session might still be running: %w", err)
	}
	if old.Name != "" {
		return p.write(*old)
	}
	return p.remove(rec.Name)
}

func (p *Provider) runs(ctx context.Context, name string) (bool, error) {
	out, known, err := p.call(ctx, "is-running", name, nil, nil)
	if err != nil {
		return false, err
	}
	word := strings.TrimSpace(string(out))
	if known && word != "true" && word != "false" {
		return false, fmt.Errorf("the script printed %q for is-running: expected true or false",
			short(word))
	}
	return word == "true", nil
}

// Interrupt implements session.Provider.
func (p *Provider) Interrupt(ctx context.Context, name string) error {
	return p.do(ctx, action{"interrupt", "interrupt"}, name, nil, nil)
}

// Send implements session.Provider.
func (p *Provider) Send(ctx context.Context, name, text string) error {
	if i := strings.IndexFunc(text, func(r rune) bool {
		return (r < ' ' || r == 0x7f) && r != '\n' && r != '\t'
	}); i >= 0 {
		return fmt.Errorf("cannot send to %q: %w: the text contains the control character "+
			"%#02x; send that key with send-keys", name, session.ErrRejected, text[i])
	}
	if _, err := p.living("send to", name); err != nil {
		return err
	}
	e, release, err := p.lock(ctx, name) // keeps concurrent inputs apart
	if err != nil {
		return err
	}
	defer release()
	ctx, done := p.yielding(ctx, name, e)
	defer done()
	return p.do(ctx, action{"send to", "nudge"}, name, nil, []byte(text))
}

// SendKeys implements session.Keyer.
func (p *Provider) SendKeys(ctx context.Context, name string, keys ...string) error {
	return p.do(ctx, action{"send keys to", "send-keys"}, name, keys, nil)
}

// Clear implements session.Clearer.
func (p *Provider) Clear(ctx context.Context, name string) error {
	return p.do(ctx, action{"clear", "clear-scrollback"}, name, nil, nil)
}

// Output implements session.Provider.
func (p *Provider) Output(ctx context.Context, name string, lines int) (string, error) {
	p.mu.Lock()
	e := p.sessions[name]
	known := e != nil && e.rec.Name != ""
	if known && lines <= 0 {
		lines = e.rec.Rows
	}
	p.mu.Unlock()
	if !known {
		return "", missing("read the output of", name)
	}
	return p.peek(ctx, name, lines)
}

// Acknowledge implements session.Acknowledger.
func (p *Provider) Acknowledge(ctx context.Context, name, id string) error {
	e, release, err := p.lock(ctx, name)
	if err != nil {
		return err
	}
	defer release()
	p.mu.Lock()
	defer p.mu.Unlock()
	if e.rec.ID != id || e.rec.Exit == nil {
		return nil
	}
	if err := p.remove(name); err != nil {
		return err
	}
	e.rec = record{}
	return nil
}

// Usage implements session.Meter for sessions on this machine.
func (p *Provider) Usage(ctx context.Context) (map[string]session.Usage, error) {
	roots, names := map[int]proc.Root{}, map[int]string{}
	p.mu.Lock()
	for name, e := range p.sessions {
		if e.rec.Exit == nil && e.pid > 0 {
			roots[e.pid], names[e.pid] = proc.Root{Start: e.start}, name
		}
	}
	p.mu.Unlock()
	trees, err := proc.WholeTrees(ctx, roots)
	if err != nil {
		return nil, fmt.Errorf("cannot measure the resource usage of the sessions: %w", err)
	}
	all := map[string]session.Usage{}
	for pid, t := range trees {
		all[names[pid]] = session.Usage(t)
	}
	return all, nil
}

// sorted returns the names of all sessions. The caller must hold p.mu.
func (p *Provider) sorted() []string {
	names := make([]string, 0, len(p.sessions))
	for name, e := range p.sessions {
		if e.rec.Name != "" {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}
