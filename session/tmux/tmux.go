// Package tmux is the session provider on tmux: every city has a tmux server of its own, every session is a tmux
// session with one pane, and the server outlives the controller. An operator can attach with tmux itself, beside
// gcity.
//
// What is on record of a session is in a folder of its own below .gc/tmux. Its record is written by the process that
// becomes the agent, under a lock that all processes of the agent inherit: so a pane belongs to us if, and only if, our
// record names it and its process.
//
// # Concurrency
//
// A Provider may be used from several goroutines. It keeps a goroutine per living session, asleep until the agent's
// process ends, one for the server and one that lets agents in at their start; all end with Close. What changes the
// process behind a name (a start, the clearing up after an end) takes that name's turn, so that sessions never wait for
// each other.
package tmux

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"gcity/internal/disk"
	"gcity/internal/proc"
	"gcity/internal/recovery"
	"gcity/session"
)

// Options says where a city's sessions live.
type Options struct {
	City   string       // absolute path of the city's folder
	Binary string       // run as "<Binary> pane <socket> <id>" in each pane; it must call Pane
	Logger *slog.Logger // nil = silent

	// Observe is for whoever looks at a city that a controller may be running: it starts nothing and clears nothing up.
	Observe bool

	// Broken hears of a panic in a goroutine of the provider's, which does what it is for no more: open it anew.
	// Nil: the program ends with it.
	Broken func(error)
}

// Provider runs sessions in tmux. It implements every optional interface of package session but session.Polite. It
// cannot tell how many bytes a session has printed, and its Activity is in whole seconds.
type Provider struct {
	files  folders
	tmux   *client
	door   *door // nil for an observer
	binary string
	log    *slog.Logger

	exits   chan session.Exit
	ctx     context.Context
	close   context.CancelFunc
	wg      recovery.Group
	looking chan struct{} // holds a token: one look at a time

	mu       sync.Mutex
	sessions map[string]*entry
	watched  int       // pid of the server whose end is waited for
	scanned  time.Time // modification time of files.dir at the last look
	closed   bool
}

var (
	_ session.Provider     = (*Provider)(nil)
	_ session.Notifier     = (*Provider)(nil)
	_ session.Attacher     = (*Provider)(nil)
	_ session.Watcher      = (*Provider)(nil)
	_ session.Keyer        = (*Provider)(nil)
	_ session.Marker       = (*Provider)(nil)
	_ session.Meter        = (*Provider)(nil)
	_ session.Clearer      = (*Provider)(nil)
	_ session.Capturer     = (*Provider)(nil)
	_ session.Acknowledger = (*Provider)(nil)
	_ session.Dismisser    = (*Provider)(nil)
	_ session.Looker       = (*Provider)(nil)
)

const (
	exitsKept    = 1024 // that wait for a reader of Exits; those beyond are found by List
	adoptTimeout = 20 * time.Second
	callTimeout  = 15 * time.Second // of calls whose context has no deadline
)

// New makes the provider and adopts every session of the city that is alive or whose end nobody has acknowledged. It
// fails if there is no tmux, or one that is too old.
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
		return nil, fmt.Errorf("cannot tell this boot from another: %w", err)
	}
	files := newFolders(o.City, boot, o.Observe, o.Logger)
	ctx, cancel := context.WithCancel(context.Background())
	p := &Provider{
		files: files, tmux: newClient(files, program), binary: o.Binary, log: o.Logger,
		exits: make(chan session.Exit, exitsKept), ctx: ctx, close: cancel,
		looking:  make(chan struct{}, 1),
		sessions: make(map[string]*entry),
		wg:       recovery.Group{OnPanic: recovery.Fatal(o.Broken)},
	}
	p.looking <- struct{}{}
	if err := p.open(); err != nil {
		p.Close()
		return nil, err
	}
	adopt, cancelAdopt := context.WithTimeout(ctx, adoptTimeout)
	defer cancelAdopt()
	suspects, err := p.refresh(adopt)
	if err == nil {
		err = p.tidy(adopt)
	}
	if err != nil {
		p.Close()
		return nil, err
	}
	var wg recovery.Group
	for _, e := range suspects {
		rec, _ := e.life()
		// the first List reports what ended while nobody looked
		wg.Go(func() { p.bury(e, rec.ID, false) })
	}
	wg.Wait()
	return p, nil
}

// open makes what is needed on disk. An observer makes nothing.
func (p *Provider) open() error {
	if !p.files.observe {
		if err := errors.Join(disk.MkdirAll(filepath.Dir(p.files.dir), 0o700),
			disk.MkdirAll(p.files.dir, 0o700)); err != nil {
			return fmt.Errorf("cannot make the folder of the sessions: %w", err)
		}
	}
	if err := p.tmux.locate(); err != nil {
		return err
	}
	if p.files.observe {
		return nil
	}
	var err error
	if p.door, err = openDoor(p.files.dir); err != nil {
		return fmt.Errorf("cannot open the socket at which agents start: %w", err)
	}
	p.async(func() { p.door.attend(p.ctx, p.async) })
	return nil
}

// Exits tells of every end at once. It is closed by Close.
func (p *Provider) Exits() <-chan session.Exit { return p.exits }

// Limits implements session.Limiter.
func (*Provider) Limits() session.Limits {
	return session.Limits{Lacks: []session.Ability{session.Counting},
		Why: "tmux keeps no count of it"}
}

// Close ends the provider and leaves the sessions alone. A server that has no session any more goes away by itself.
func (p *Provider) Close() error {
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		return nil
	}
	p.closed = true
	p.mu.Unlock()
	idle := !p.files.observe && p.ctx.Err() == nil &&
		!slices.ContainsFunc(p.entries(), (*entry).alive)
	p.close()
	if p.door != nil {
		p.door.close()
	}
	for _, e := range p.entries() {
		e.unwatch()
	}
	p.wg.Wait()
	close(p.exits)
	if !idle {
		return nil
	}
	return p.tmux.dismiss(context.Background())
}

// Dismiss implements session.Dismisser. A start makes a new server.
func (p *Provider) Dismiss(ctx context.Context) error {
	if p.files.observe || p.door.waiting() || slices.ContainsFunc(p.entries(), (*entry).alive) {
		return nil
	}
	return p.tmux.dismiss(ctx)
}

// Check implements session.Checker: tmux is there still, and new enough.
func (p *Provider) Check(ctx context.Context) error {
	_, err := find(ctx)
	return err
}

// async runs f in a goroutine that Close waits for; not at all after Close, which it reports.
func (p *Provider) async(f func()) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.closed {
		p.wg.Go(f)
	}
	return !p.closed
}

// entries lists all known sessions.
func (p *Provider) entries() []*entry {
	p.mu.Lock()
	defer p.mu.Unlock()
	list := make([]*entry, 0, len(p.sessions))
	for _, e := range p.sessions {
		list = append(list, e)
	}
	return list
}

// find returns what is known of a name, nil if nothing.
func (p *Provider) find(name string) *entry {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.sessions[name]
}

// entry returns what is known of a name, made if need be.
func (p *Provider) entry(name string) *entry {
	p.mu.Lock()
	defer p.mu.Unlock()
	e := p.sessions[name]
	if e == nil {
		e = newEntry(name)
		p.sessions[name] = e
	}
	return e
}

// tell passes an exit on, or leaves it to List if nobody reads.
func (p *Provider) tell(x session.Exit) {
	select {
	case p.exits <- x:
	default:
		p.log.Warn("an exit waits for the next patrol: nobody reads them", "session", x.Name)
	}
}

var (
	errClosed = fmt.Errorf("the session provider is closed: %w", io.ErrClosedPipe)
	errOther  = errors.New("tmux failed")
)

// failure is an error for a person that callers can also decide on.
type failure struct {
	text string
	kind error
}

func (f *failure) Error() string { return f.text }
func (f *failure) Unwrap() error { return f.kind }

// fail says what cannot be done with a session, and why.
func fail(verb, name string, kind error, format string, args ...any) error {
	return &failure{fmt.Sprintf("cannot %s %q: ", verb, name) + fmt.Sprintf(format, args...), kind}
}

func missing(verb, name string) error {
	return fail(verb, name, session.ErrNotFound, "no session of this name is alive")
}
