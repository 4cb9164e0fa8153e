// Package tmux implements a session provider on top of tmux. Each city has its own tmux server, which survives the
// controller, and each session is a tmux session with one pane. Users can also attach with tmux itself.
//
// Each session has a folder in .gc/tmux. The process that becomes the agent writes the session's record there, under a
// lock that all of the agent's processes inherit. A pane belongs to gcity only if a record names the pane and its
// process.
//
// # Concurrency
//
// A Provider is safe for concurrent use. It has one goroutine per live session, which sleeps until the agent's process
// exits, one for the server, and one for the socket that new panes connect to. Close ends all of them. An operation
// that changes the process of a session name, such as a start or the cleanup after an exit, takes that name's lock.
// Sessions with different names therefore never wait for each other.
package tmux

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"gcity/internal/disk"
	"gcity/internal/proc"
	"gcity/internal/recovery"
	"gcity/session"
	"gcity/session/registry"
)

// Options configures a Provider.
type Options struct {
	City   string       // absolute path
	Binary string       // run as "<Binary> pane <socket> <id>" in each pane; it must call Pane
	Logger *slog.Logger // nil disables logging

	// Observe makes the provider start nothing and clean up nothing.
	Observe bool

	// Broken is called with a panic from one of the provider's goroutines. After that, the provider must be opened
	// again. If Broken is nil, the panic ends the program.
	Broken func(error)
}

// Provider runs sessions in tmux. It does not implement session.PoliteSender.
type Provider struct {
	files       folders
	tmux        *client
	startSocket *startSocket // nil for an observer
	binary      string
	log         *slog.Logger

	reg     *registry.Registry[entry]
	ctx     context.Context
	close   context.CancelFunc
	looking chan struct{} // contains a token while no refresh is running

	mu      sync.Mutex
	watched int       // PID that awaitServerEnd waits for; 0 = none
	scanned time.Time // modification time of files.dir at the last scan
}

var _ interface {
	session.Provider
	session.Notifier
	session.Attacher
	session.Watcher
	session.Keyer
	session.Marker
	session.Meter
	session.Clearer
	session.Capturer
	session.Acknowledger
	session.Local
	session.Dismisser
	session.Looker
} = (*Provider)(nil)

const (
	adoptTimeout = 20 * time.Second
	callTimeout  = 15 * time.Second // of calls without a deadline
)

// New returns a provider that has adopted the city's sessions. It returns an error if tmux is missing or too old.
func New(o Options) (*Provider, error) {
	if !filepath.IsAbs(o.City) {
		return nil, fmt.Errorf("the city's folder %q is not an absolute path", o.City)
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	program, err := Find()
	if err != nil {
		return nil, err
	}
	boot, err := proc.BootID()
	if err != nil {
		return nil, fmt.Errorf("cannot read the boot ID: %w", err)
	}
	files := newFolders(o.City, boot, o.Observe, o.Logger)
	ctx, cancel := context.WithCancel(context.Background())
	p := &Provider{
		files: files, tmux: newClient(files, program), binary: o.Binary, log: o.Logger,
		reg: registry.New(newEntry, o.Logger, o.Broken), ctx: ctx, close: cancel,
		looking: make(chan struct{}, 1),
	}
	p.looking <- struct{}{}
	if err := p.open(); err != nil {
		p.Close()
		return nil, err
	}
	adopt, cancelAdopt := context.WithTimeout(ctx, adoptTimeout)
	defer cancelAdopt()
	var suspects []*entry
	if err = p.tmux.checkForeign(adopt); err == nil {
		suspects, err = p.refresh(adopt)
	}
	if err == nil {
		err = p.undoStarts(adopt)
	}
	if err != nil {
		p.Close()
		return nil, err
	}
	var wg recovery.Group
	for _, e := range suspects {
		rec, _ := e.life()
		// the first List reports these exits
		wg.Go(func() { p.recordEnd(e, rec.ID, false) })
	}
	wg.Wait()
	return p, nil
}

func (p *Provider) open() error {
	if !p.files.observe {
		if err := errors.Join(disk.MkdirAll(filepath.Dir(p.files.dir), 0o700),
			disk.MkdirAll(p.files.dir, 0o700)); err != nil {
			return fmt.Errorf("cannot create the sessions' folder: %w", err)
		}
	}
	if err := p.tmux.locate(); err != nil {
		return err
	}
	if p.files.observe {
		return nil
	}
	var err error
	if p.startSocket, err = openStartSocket(p.files.dir); err != nil {
		return fmt.Errorf("cannot open the socket for starting agents: %w", err)
	}
	p.reg.Async(func() { p.startSocket.serve(p.ctx, p.reg.Async, p.log) })
	return nil
}

// Exits returns a channel that receives each exit immediately. Close closes the channel.
func (p *Provider) Exits() <-chan session.Exit { return p.reg.Exits() }

// Limits implements session.Limiter.
func (*Provider) Limits() session.Limits {
	return session.Limits{Lacks: []session.Ability{session.CountingOutput},
		Why: "tmux does not report the amount of output"}
}

// Close closes the provider. The sessions keep running.
func (p *Provider) Close() error {
	if !p.reg.Close() {
		return nil
	}
	idle := !p.files.observe && p.ctx.Err() == nil &&
		!slices.ContainsFunc(p.reg.All(), (*entry).alive)
	p.close()
	if p.startSocket != nil {
		p.startSocket.close()
	}
	for _, e := range p.reg.All() {
		e.mu.Lock()
		e.unwatch()
		e.mu.Unlock()
	}
	p.reg.Wait()
	if !idle {
		return nil
	}
	return p.tmux.dismiss(context.Background())
}

// Dismiss implements session.Dismisser.
func (p *Provider) Dismiss(ctx context.Context) error {
	if p.files.observe || p.startSocket.waiting() ||
		slices.ContainsFunc(p.reg.All(), (*entry).alive) {
		return nil
	}
	return p.tmux.dismiss(ctx)
}

// Check implements session.Checker.
func (p *Provider) Check(ctx context.Context) error {
	_, err := find(ctx)
	return err
}

// IsLocal implements session.Local.
func (*Provider) IsLocal(string) bool { return true }

var errOther = errors.New("tmux failed")

type failure struct {
	text string
	kind error
}

func (f *failure) Error() string { return f.text }
func (f *failure) Unwrap() error { return f.kind }

func fail(verb, name string, kind error, format string, args ...any) error {
	return &failure{fmt.Sprintf("cannot %s %q: ", verb, name) + fmt.Sprintf(format, args...), kind}
}

func missing(verb, name string) error {
	return fail(verb, name, session.ErrNotFound, "no session with this name is alive")
}
