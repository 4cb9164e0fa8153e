// Package plugin is a session provider that is a helper program: gcity starts it once per controller and talks to
// it by the session protocol (package protocol). A helper that ends is started again; its sessions go on
// meanwhile.
//
// # Concurrency
//
// A Provider may be used from several goroutines. It has goroutines of its own: one for the helper's process, one
// for what the helper prints, and the client's. Close stops all of them.
package plugin

import (
	"cmp"
	"context"
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
	openLimit  = 5 * time.Second // for a helper's first answer; it needs no network for it
	leaveLimit = 5 * time.Second // for a helper that is let go of
	retryFirst = 100 * time.Millisecond
	retryLast  = 10 * time.Second
	healthy    = time.Minute // a helper that ran for so long is started again at once
)

// Options says which helper runs the sessions of which city.
type Options struct {
	Name     string          // of the provider in the configuration, for messages
	Program  string          // absolute path of the helper
	City     string          // absolute path of the city's folder
	Dir      string          // folder of the socket, made if missing; one for each helper of a city
	Settings json.RawMessage // as of protocol.OpenRequest
	Environ  []string        // of the controller; shell.ScriptEnv says what of it the helper gets
	Observe  bool            // another process runs the city: the helper changes nothing
	Logger   *slog.Logger    // nil = silent

	// Broken is called with a panic of one of the provider's goroutines. If it is nil, the program ends.
	Broken func(error)
}

// Provider is a running helper.
type Provider struct {
	*protocol.Client

	o        Options
	listener *os.File // the socket that each helper inherits
	socket   string
	stop     context.CancelFunc
	wg       recovery.Group

	mu     sync.Mutex
	down   error     // why no helper runs; nil = one does
	retry  time.Time // when the next one is started, while down
	opened bool      // New has succeeded: whatever ends now is started again
}

// New starts the helper and opens it.
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
		return nil, err
	}
	life, stop := context.WithCancel(context.Background())
	p.stop = stop
	started := make(chan struct{})
	p.wg.Go(func() { p.keep(life, started) })
	<-started
	ctx, cancel := context.WithTimeout(context.Background(), openLimit)
	defer cancel()
	client, err := protocol.NewClient(ctx, protocol.ClientOptions{
		Dial: p.dial, Logger: o.Logger, Broken: o.Broken,
		Open: protocol.OpenRequest{City: o.City, Observe: o.Observe, Settings: o.Settings},
	})
	if err != nil {
		err = p.explain(err)
		p.leave()
		return nil, fmt.Errorf("the session helper %s cannot be used: %w", o.Program, err)
	}
	p.mu.Lock()
	p.Client, p.opened = client, true
	p.mu.Unlock()
	return p, nil
}

// Close lets go of the helper. Sessions go on.
func (p *Provider) Close() {
	p.Client.Close()
	p.leave()
}

func (p *Provider) leave() {
	p.stop()
	p.wg.Wait()
	p.listener.Close()
	_ = disk.Remove(p.socket) // the next provider removes what is left
}

// listen makes the socket that helpers inherit.
func (p *Provider) listen() error {
	if err := disk.MkdirAll(p.o.Dir, 0o700); err != nil {
		return fmt.Errorf("cannot make the folder of the session helper: %w", err)
	}
	path, err := disk.SocketPath(filepath.Join(p.o.Dir, fmt.Sprintf("%d.sock", os.Getpid())))
	if err != nil {
		return err
	}
	if err := disk.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
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

// dial connects with the helper, or says at once why none runs.
func (p *Provider) dial(ctx context.Context) (net.Conn, error) {
	if err := p.absent(); err != nil {
		return nil, err
	}
	var d net.Dialer
	return d.DialContext(ctx, "unix", p.socket)
}

// absent is why no helper runs now.
func (p *Provider) absent() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.down == nil {
		return nil
	}
	wait := max(0, time.Until(p.retry)).Round(time.Millisecond)
	return fmt.Errorf("%w; it is started again in %s", p.down, wait)
}

// explain prefers the reason why the helper ended to the connection that was lost by that.
func (p *Provider) explain(err error) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return cmp.Or(p.down, err)
}

// Check implements session.Checker.
func (p *Provider) Check(ctx context.Context) error {
	if err := executable(p.o.Program); err != nil {
		return err
	}
	return p.Client.Check(ctx)
}

// executable says why a file cannot be a helper.
func executable(path string) error {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		err = fmt.Errorf("session helper %s not found: install it, or correct the path", path)
	case err != nil:
		err = fmt.Errorf("the session helper cannot be used: %w", err)
	case info.IsDir() || unix.Access(path, unix.X_OK) != nil:
		err = fmt.Errorf("the session helper %s is not executable: run chmod +x %s", path, path)
	default:
		return nil
	}
	return session.Missing(err)
}
