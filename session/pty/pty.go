// Package pty is the built-in session provider. Every session has its own process, the holder, which owns the
// agent's terminal and outlives the controller. The provider starts holders, finds running ones and talks to them
// over the socket in each session's folder.
//
// # Concurrency
//
// A Provider may be used from several goroutines. It keeps one held connection per holder, with a goroutine that
// reads it. All goroutines end with Close. An operation that changes the process of a name (a start, the cleanup
// after a lost holder) takes the turn of that name, so sessions never wait for each other.
package pty

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"gcity/internal/disk"
	"gcity/internal/proc"
	"gcity/internal/recovery"
	"gcity/session"
	"gcity/session/pty/internal/holder"
	"gcity/session/pty/internal/wire"
)

// Hold is the whole program "gcity hold". It holds one session and returns the exit code of the process. Call it
// from the main goroutine before anything else is initialised.
func Hold() int { return holder.Main(os.Args[2:]) }

// Options says where a city's sessions live.
type Options struct {
	City string // absolute path of the city's folder
	Dir  string // folder of the sessions, created if missing; "" = .gc/sessions in City
	// a path to City that stays valid in this process after a move; "" = City
	At     string
	Binary string // run as "<Binary> hold <folder>" for each session; it must call Hold
	// the program gcity-hold, run instead of Binary where possible, or nil
	Image  []byte
	Logger *slog.Logger // nil disables logging

	// Observe is for a caller that only looks at a city that may have a controller. It changes nothing: neither the
	// folder of a start in progress nor the files of a lost holder. It makes no holder create its folder again, and
	// no holder waits for a next life because of it. It does not find sessions if their folder was deleted.
	Observe bool

	// Plain gives the sessions pipes instead of terminals. They have no attach and no keys, and Send writes a line
	// to standard input. Line feeds in their output get a carriage return, as on a terminal. See package
	// subprocess.
	Plain bool

	// Group returns the control group in which sessions start; "" or a nil Group mean this process's own.
	Group func() string

	// Broken is called with a panic in a goroutine of the provider, which then no longer works and must be opened
	// again. If nil, the program ends with the panic.
	Broken func(error)
}

// Provider runs sessions on their own terminals. It implements every optional interface of package session.
type Provider struct {
	files    folders
	launcher launcher
	log      *slog.Logger
	plain    bool
	clock    wire.Clock

	answerLimit time.Duration // fields for tests; see the constants of these names
	silentEvery time.Duration

	exits  chan session.Exit
	spawns chan struct{} // limits how many holders start at the same time
	ctx    context.Context
	close  context.CancelFunc
	wg     recovery.Group

	mu       sync.Mutex
	sessions map[string]*entry
	scanned  time.Time // modification time of files.at at the last look
	closed   bool

	nextListen atomic.Int64 // index of the entry that listen reads first
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
	_ session.Local        = (*Provider)(nil)
)

// exitsKept is how many exits wait for a reader of Exits. List finds the others.
const exitsKept = 1024

// adoptTimeout limits how long New looks for existing sessions.
const adoptTimeout = 10 * time.Second

// New returns a provider that has adopted every session of the city that is alive or has an unacknowledged end.
func New(o Options) (*Provider, error) {
	if !filepath.IsAbs(o.City) {
		return nil, fmt.Errorf("the city's folder %q is not an absolute path", o.City)
	}
	if o.Dir == "" {
		o.Dir = filepath.Join(o.City, ".gc", "sessions")
	}
	at := o.Dir
	if below, ok := strings.CutPrefix(o.Dir, o.City); ok && o.At != "" {
		at = o.At + below
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if err := errors.Join(disk.MkdirAll(filepath.Dir(at), 0o700), disk.MkdirAll(at, 0o700)); err !=
		nil {
		return nil, fmt.Errorf("cannot create the folder of the sessions: %w", err)
	}
	boot, err := proc.BootID()
	if err != nil {
		return nil, fmt.Errorf("cannot read the boot ID: %w", err)
	}
	errlog, err := disk.OpenFile(filepath.Join(at, "holders.log"),
		os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		o.Logger.Warn("cannot open the log of the holders; their messages are lost",
			"error", err)
		if errlog, err = os.OpenFile(os.DevNull, os.O_WRONLY, 0); err != nil {
			return nil, err
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	p := &Provider{
		files: folders{city: o.City, dir: o.Dir, at: at, boot: boot, observe: o.Observe,
			log: o.Logger},
		launcher: launcher{
			program: program{image: o.Image, dir: o.Dir, binary: o.Binary, log: o.Logger},
			env:     []string{"GOMAXPROCS=1"}, errlog: errlog, group: o.Group, log: o.Logger,
		},
		log: o.Logger, plain: o.Plain, clock: wire.NewClock(),
		answerLimit: answerLimit, silentEvery: silentEvery,
		exits:    make(chan session.Exit, exitsKept),
		spawns:   make(chan struct{}, 2*runtime.NumCPU()),
		ctx:      ctx,
		close:    cancel,
		sessions: make(map[string]*entry),
		wg:       recovery.Group{OnPanic: recovery.Fatal(o.Broken)},
	}
	adopt, cancelAdopt := context.WithTimeout(ctx, adoptTimeout)
	defer cancelAdopt()
	if err := errors.Join(p.files.restoreSockets(adopt), p.scan(adopt)); err != nil {
		p.Close()
		return nil, err
	}
	return p, nil
}

// Exits returns a channel that receives every end at once. Close closes it.
func (p *Provider) Exits() <-chan session.Exit { return p.exits }

// Close closes the provider and leaves the sessions running. Holders that only wait for a next life exit.
func (p *Provider) Close() error {
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		return nil
	}
	p.closed = true
	entries := p.entries()
	p.mu.Unlock()
	p.close()
	for _, e := range entries {
		e.hangUp()
	}
	p.wg.Wait()
	close(p.exits)
	p.launcher.program.close()
	return p.launcher.errlog.Close()
}

// async runs f in a goroutine that Close waits for. After Close it does nothing.
func (p *Provider) async(f func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.closed {
		p.wg.Go(f)
	}
}

// entries lists all known sessions. The caller holds p.mu.
func (p *Provider) entries() []*entry {
	list := make([]*entry, 0, len(p.sessions))
	for _, e := range p.sessions {
		list = append(list, e)
	}
	return list
}

// find returns the entry of a name, or nil.
func (p *Provider) find(name string) *entry {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.sessions[name]
}

// entry returns the entry of a name and creates it if necessary.
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

// IsLocal implements session.Local.
func (*Provider) IsLocal(string) bool { return true }

// reportExit sends an exit to Exits, or leaves it to List if the channel is full.
func (p *Provider) reportExit(x session.Exit) {
	select {
	case p.exits <- x:
	default:
		p.log.Warn("the channel of exits is full; the next patrol reports this exit", "session",
			x.Name)
	}
}

var errClosed = fmt.Errorf("the session provider is closed: %w", io.ErrClosedPipe)
