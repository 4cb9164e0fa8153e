// Package pty is the embedded session provider: every session has a process of its own, its holder, which owns the
// agent's terminal and outlives the controller. The provider starts holders, finds again those that run, and talks to
// them over the socket in each session's folder.
//
// # Concurrency
//
// A Provider may be used from several goroutines. It keeps one held connection per holder, with a goroutine that reads
// what the holder tells; all goroutines end with Close. What changes the process behind a name (a start, the
// clearing up after a lost holder) takes that name's turn, so that sessions never wait for each other.
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

// Hold is the whole of "gcity hold": it holds one session and returns the process's exit code. It is to be called
// before anything else is initialised, from the main goroutine.
func Hold() int { return holder.Main(os.Args[2:]) }

// Options says where a city's sessions live.
type Options struct {
	City string // absolute path of the city's folder
	Dir  string // folder of the sessions, made if missing; "" = .gc/sessions in City
	// a path that leads to City wherever it is moved, in this process; "" = City
	At     string
	Binary string // run as "<Binary> hold <folder>" for each session; it must call Hold
	// the program gcity-hold, run instead of Binary where that works; nil = there is none
	Image  []byte
	Logger *slog.Logger // nil = silent

	// Observe is for whoever looks at a city that a controller may be running: nothing is changed behind its back,
	// be it the folder of a start under way or what a lost holder left. No holder is told to make its folder anew,
	// and none that waits for a next life waits because of an observer. Sessions whose folder is gone are not
	// found.
	Observe bool

	// Plain gives the sessions pipes instead of terminals: no attaching, no keys, and a Send is a line on standard
	// input. Line feeds of their output get a carriage return, as a terminal would give them. See package
	// subprocess.
	Plain bool

	// Group returns the control group in which sessions start, "" for this process's own. Nil: always its own.
	Group func() string

	// Broken hears of a panic in a goroutine of the provider's, which does what it is for no more: open it anew.
	// Nil: the program ends with it.
	Broken func(error)
}

// Provider runs sessions on terminals of their own. It implements every optional interface of package session.
type Provider struct {
	files    folders
	launcher launcher
	log      *slog.Logger
	plain    bool
	clock    wire.Clock

	answerLimit time.Duration // see the constants of these names
	silentEvery time.Duration

	exits  chan session.Exit
	spawns chan struct{} // bounds how many holders are brought up at once
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
)

// exitsKept is how many exits wait for a reader of Exits; those beyond are found by List.
const exitsKept = 1024

// adoptTimeout bounds how long New looks for the sessions of a predecessor.
const adoptTimeout = 10 * time.Second

// New makes the provider and adopts every session of the city that is alive or whose end nobody has acknowledged.
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
		return nil, fmt.Errorf("cannot make the folder of the sessions: %w", err)
	}
	boot, err := proc.BootID()
	if err != nil {
		return nil, fmt.Errorf("cannot tell this boot from another: %w", err)
	}
	errlog, err := disk.OpenFile(filepath.Join(at, "holders.log"),
		os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		o.Logger.Warn("the log of the holders cannot be opened: what they complain of is lost",
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
	if err := errors.Join(p.files.rouse(adopt), p.scan(adopt)); err != nil {
		p.Close()
		return nil, err
	}
	return p, nil
}

// Exits tells of every end at once. It is closed by Close.
func (p *Provider) Exits() <-chan session.Exit { return p.exits }

// Close ends the provider and leaves the sessions alone, except that holders which only wait for a next life go away.
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

// async runs f in a goroutine that Close waits for; not at all after Close.
func (p *Provider) async(f func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.closed {
		p.wg.Go(f)
	}
}

// entries lists all known sessions. Under p.mu.
func (p *Provider) entries() []*entry {
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

var errClosed = fmt.Errorf("the session provider is closed: %w", io.ErrClosedPipe)
