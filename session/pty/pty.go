// Package pty implements the built-in session provider. Each session has a separate process, the holder, which owns the
// agent's terminal and survives the controller. The provider starts holders, finds the ones that are already running,
// and calls them over the socket in each session's folder.
//
// # Concurrency
//
// A Provider is safe for concurrent use. It has a permanent connection to each holder, and a goroutine that reads from
// it. Close ends all goroutines. An operation that changes the process of a session name, such as a start or the
// cleanup after a lost holder, takes that name's lock. Sessions with different names therefore never wait for each
// other.
package pty

import (
	"context"
	"errors"
	"fmt"
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
	"gcity/session"
	"gcity/session/pty/internal/holder"
	"gcity/session/pty/internal/wire"
	"gcity/session/registry"
)

// Hold is the main function of "gcity hold". It must be called from the main goroutine before any other initialization.
func Hold() int { return holder.Main(os.Args[2:]) }

// Options configures a Provider.
type Options struct {
	City string // absolute path of the city's folder
	Dir  string // folder of the sessions, created if missing; "" for .gc/sessions in City
	// path of City that stays valid in this process if the folder is moved; "" = use City
	At string
	// program to run as "<Binary> hold <folder>" for each session; it must call Hold
	Binary string
	// content of gcity-hold, which replaces Binary where possible; nil if it is not available
	Image  []byte
	Logger *slog.Logger // nil disables logging

	// Observe is for a caller that only reads a city. The provider then changes and creates nothing, and does not keep
	// holders alive.
	Observe bool

	// Plain gives sessions pipes instead of terminals. See package subprocess.
	Plain bool

	// Group returns the control group in which sessions start. If Group is nil or returns "", sessions start in the
	// process's own control group.
	Group func() string

	// Broken is called with a panic from one of the provider's goroutines. After that, the provider must be opened
	// again. If Broken is nil, the panic ends the program.
	Broken func(error)
}

// Provider runs each session in its own terminal.
type Provider struct {
	files    folders
	launcher launcher
	log      *slog.Logger
	plain    bool
	clock    *wire.Clock

	responseLimit time.Duration // a copy of the constant, so that tests can change it
	silentEvery   time.Duration

	reg    *registry.Registry[entry]
	spawns chan struct{} // limits how many holders start at the same time
	ctx    context.Context
	close  context.CancelFunc

	mu      sync.Mutex
	scanned time.Time // modification time of files.at at the last scan

	nextCheck atomic.Int64
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
} = (*Provider)(nil)

const adoptTimeout = 10 * time.Second

// New returns a provider that has adopted all of the city's sessions that are alive or have an unacknowledged exit.
func New(o Options) (*Provider, error) {
	if !filepath.IsAbs(o.City) {
		return nil, fmt.Errorf("the city's folder %q is not an absolute path", o.City)
	}
	if o.Dir == "" {
		o.Dir = filepath.Join(o.City, ".gc", "sessions")
	}
	at := o.Dir
	if below, ok := strings.CutPrefix(o.Dir, o.City); ok && o.At != "" {
		at = filepath.Join(o.At, below) // below starts with a slash, unless the city is in /
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	boot, err := proc.BootID()
	if err != nil {
		return nil, fmt.Errorf("cannot read the boot ID: %w", err)
	}
	errlog, err := openFolder(at, &o)
	if err != nil {
		return nil, err
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
		responseLimit: responseLimit, silentEvery: silentEvery,
		reg:    registry.New(newEntry, o.Logger, o.Broken),
		spawns: make(chan struct{}, 2*runtime.NumCPU()),
		ctx:    ctx,
		close:  cancel,
	}
	orphans.reap()
	adopt, cancelAdopt := context.WithTimeout(ctx, adoptTimeout)
	defer cancelAdopt()
	if err := errors.Join(p.files.restoreSockets(adopt), p.scan(adopt)); err != nil {
		p.Close()
		return nil, err
	}
	return p, nil
}

// openFolder creates the sessions' folder, and opens the log for messages of holders.
func openFolder(at string, o *Options) (errlog *os.File, err error) {
	if o.Observe {
		return os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	}
	if err := errors.Join(disk.MkdirAll(filepath.Dir(at), 0o700), disk.MkdirAll(at, 0o700)); err !=
		nil {
		return nil, fmt.Errorf("cannot create the sessions' folder: %w", err)
	}
	errlog, err = disk.OpenFile(filepath.Join(at, "holders.log"),
		os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		o.Logger.Warn("cannot open the holders' log; their messages will be lost",
			"error", err)
		return os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	}
	return errlog, nil
}

// Exits returns a channel that receives each exit immediately. Close closes the channel.
func (p *Provider) Exits() <-chan session.Exit { return p.reg.Exits() }

// Close closes the provider. The sessions keep running. Holders without a live session exit.
func (p *Provider) Close() error {
	if !p.reg.Close() {
		return nil
	}
	p.close()
	for _, e := range p.reg.All() {
		e.hangUp()
	}
	p.reg.Wait()
	p.launcher.program.close()
	return p.launcher.errlog.Close()
}

// IsLocal implements session.Local.
func (*Provider) IsLocal(string) bool { return true }
