// Package plugin implements a session provider that runs a helper program. Each controller starts the helper and calls
// it through the session protocol (package protocol). If the helper exits, it is restarted. Its sessions keep running.
//
// # Concurrency
//
// A Provider is safe for concurrent use. It has goroutines for the helper's process, for the helper's output, and for
// the client. Close stops all of them.
package plugin

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"gcity/internal/disk"
	"gcity/internal/recovery"
	"gcity/session"
	"gcity/session/protocol"
)

const (
	// Opening does not need the network.
	openLimit  = 5 * time.Second
	leaveLimit = 5 * time.Second // how long a helper has to exit
	retryFirst = 100 * time.Millisecond
	retryLast  = 10 * time.Second
	healthy    = time.Minute // after a longer run, the wait is retryFirst again
)

// Options configures a Provider.
type Options struct {
	Program string // absolute path of the helper
	City    string // absolute path
	// folder of the socket, created if necessary; each helper of a city needs its own
	Dir      string
	Settings json.RawMessage // see protocol.OpenRequest
	// the controller's environment; shell.ScriptEnv selects the helper's variables
	Environ []string
	// MayRun returns an error if the helper must not be started. It may be nil.
	MayRun func(context.Context) error
	// read-only, because another process runs the city
	Observe bool
	Logger  *slog.Logger // nil disables logging

	// Broken is called with a panic from one of the provider's goroutines. If Broken is nil, the panic ends the
	// program.
	Broken func(error)
}

// Provider runs a helper and forwards calls to it.
type Provider struct {
	*protocol.Client

	o        Options
	listener *os.File // each helper process inherits the socket
	socket   string
	temp     string // temporary folder of the socket; "" = the socket is in o.Dir
	stop     context.CancelFunc
	wg       recovery.Group

	mu    sync.Mutex
	exits int       // number of exits and failed starts of the helper
	group int       // the helper's process group; 0 if the helper is not running
	down  error     // nil if the helper is running
	retry time.Time // when the helper restarts, if it is not running
}

// New starts the helper and sends it the open call.
func New(o Options) (*Provider, error) {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if err := executable(o.Program); err != nil {
		return nil, err
	}
	p := &Provider{o: o}
	p.wg.OnPanic = recovery.Fatal(o.Broken)
	if err := p.listen(); err != nil {
		p.removeTemp()
		return nil, err
	}
	life, stop := context.WithCancel(context.Background())
	p.stop = stop
	started := make(chan struct{})
	p.wg.Go(func() { p.keep(life, started) })
	<-started
	exits := p.exitCount()
	ctx, cancel := context.WithTimeout(context.Background(), openLimit)
	defer cancel()
	client, err := protocol.NewClient(ctx, protocol.ClientOptions{
		Dial: p.dial, Logger: o.Logger, Broken: o.Broken,
		Open: protocol.OpenRequest{City: o.City, Observe: o.Observe, Settings: o.Settings},
	})
	if err != nil {
		err = p.explain(err)
		p.leave()
		return nil, fmt.Errorf("cannot use the session helper %s: %w", o.Program, err)
	}
	p.mu.Lock()
	p.Client = client
	p.mu.Unlock()
	if p.exitCount() > exits { // setDown did not know the client yet
		client.Lost()
	}
	return p, nil
}

func (p *Provider) exitCount() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.exits
}

// Close makes the helper exit. The sessions keep running.
func (p *Provider) Close() {
	p.Client.Close()
	p.leave()
}

func (p *Provider) leave() {
	p.stop()
	p.wg.Wait()
	p.listener.Close()
	_ = disk.Remove(p.socket) // if this fails, the next provider removes the file
	p.removeTemp()
}

func (p *Provider) removeTemp() {
	if p.temp != "" {
		_ = disk.Remove(p.temp) // if this fails, an empty folder remains
	}
}

func (p *Provider) listen() error {
	dir, err := p.o.Dir, disk.MkdirAll(p.o.Dir, 0o700)
	if p.o.Observe && errors.Is(err, fs.ErrNotExist) {
		// the city has never run, and an observer does not create its .gc
		dir = filepath.Join(os.TempDir(), "gcity-helper-"+rand.Text())
		p.temp, err = dir, disk.MkdirAll(dir, 0o700)
	}
	if err != nil {
		return fmt.Errorf("cannot create the session helper's folder: %w", err)
	}
	path, err := disk.SocketPath(filepath.Join(dir, fmt.Sprintf("%d.sock", os.Getpid())))
	if err != nil {
		return err
	}
	if err := disk.RemoveAny(path); err != nil {
		return err
	}
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		return fmt.Errorf("cannot listen for the session helper: %w", err)
	}
	defer l.Close()
	l.SetUnlinkOnClose(false)
	p.listener, err = l.File()
	p.socket = path
	return err
}

// If the helper is not running, dial fails immediately and says why.
func (p *Provider) dial(ctx context.Context) (net.Conn, error) {
	if err := p.whyDown(); err != nil {
		return nil, err
	}
	var d net.Dialer
	return d.DialContext(ctx, "unix", p.socket)
}

func (p *Provider) whyDown() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.down == nil {
		return nil
	}
	wait := max(0, time.Until(p.retry)).Round(time.Millisecond)
	return fmt.Errorf("%w; it restarts in %s", p.down, wait)
}

func (p *Provider) explain(err error) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return cmp.Or(p.down, err)
}

// Forwards implements session.Forwarder. A script that runs the actual helper is in the same process group.
func (p *Provider) Forwards(pid int) bool {
	group, err := unix.Getpgid(pid)
	p.mu.Lock()
	defer p.mu.Unlock()
	return err == nil && p.group != 0 && group == p.group
}

// Check implements session.Checker.
func (p *Provider) Check(ctx context.Context) error {
	if err := executable(p.o.Program); err != nil {
		return err
	}
	return p.Client.Check(ctx)
}

func executable(path string) error {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		err = fmt.Errorf("session helper %s not found; install it, or correct the path", path)
	case err != nil:
		err = fmt.Errorf("cannot use the session helper: %w", err)
	case info.IsDir() || unix.Access(path, unix.X_OK) != nil:
		err = fmt.Errorf("the session helper %s is not executable: run chmod +x %s", path, path)
	default:
		return nil
	}
	return session.Missing(err)
}
