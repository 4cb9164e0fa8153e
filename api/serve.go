package api

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"gcity/api/wire"
	"gcity/city"
	"gcity/describe"
)

// Serve handles requests for a city until ctx ends, and then waits for requests in progress. It closes l. It returns an
// error if a request does not end in time.
func Serve(ctx context.Context, l net.Listener, c city.Control, o Options) error {
	return serve(ctx, l, o, func(s *server) http.Handler { s.city = c; return s })
}

// ServeFleet is like Serve, for all cities in a directory.
func ServeFleet(ctx context.Context, l net.Listener, d city.Directory, o Options) error {
	return serve(ctx, l, o, func(s *server) http.Handler { return newFleet(s, d) })
}

func serve(ctx context.Context, l net.Listener, o Options,
	handler func(*server) http.Handler) error {
	life, end := context.WithCancel(ctx)
	defer end()
	s := newServer(life, nil, o)
	requests, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	conns := newConns()
	s.release = func(c net.Conn) { conns.changed(c, http.StateClosed) }
	answer := handler(s)
	if o.Guard != nil {
		answer = o.Guard.guarded(s, answer)
	}
	hs := &http.Server{
		Handler:           conns.counted(answer),
		ReadHeaderTimeout: headTimeout,
		IdleTimeout:       wire.IdleTimeout,
		MaxHeaderBytes:    maxHeader,
		// the general handler would respond to requests that the guard has not checked
		DisableGeneralOptionsHandler: true,

		BaseContext: func(net.Listener) context.Context { return requests },
		ConnContext: func(ctx context.Context, c net.Conn) context.Context {
			return context.WithValue(ctx, connKey{}, c)
		},
		ConnState: conns.changed,
		ErrorLog:  slog.NewLogLogger(s.o.Log.Handler(), slog.LevelDebug),
	}
	failed := make(chan error, 1)
	var wg sync.WaitGroup
	wg.Go(func() { failed <- hs.Serve(l) })
	var err error
	select {
	case <-ctx.Done():
	case e := <-failed:
		err = fmt.Errorf("the server no longer accepts connections: %w", e)
		end()
	}
	_ = l.Close()
	patient := grace
	if o.Last != nil {
		patient = o.Last.Left(grace)
	}
	if busy := conns.drain(patient); busy > 0 && o.Last != nil {
		select {
		case <-o.Last.Begun():
			o.Last.GiveUp("responding to %s", describe.Count(busy, "request"))
		default:
		}
	}
	cancel()
	if e := hs.Close(); e != nil && err == nil && !errors.Is(e, net.ErrClosed) {
		err = e
	}
	wg.Wait()
	if left := conns.wait(grace); left > 0 && err == nil {
		err = fmt.Errorf("%s did not finish", describe.Count(left, "request"))
	}
	return err
}

// conns replaces Server.Shutdown, which would wait for connections without a request.
type conns struct {
	mu      sync.Mutex
	open    map[net.Conn]*connection
	newest  uint64
	changes chan struct{} // closed and replaced on every change
}

type connection struct {
	number uint64
	state  http.ConnState
	asks   bool // a complete request has arrived and is being handled
	closed bool // the server has closed the connection, but it is not in StateClosed yet
}

type connKey struct{}

func newConns() *conns {
	return &conns{open: map[net.Conn]*connection{}, changes: make(chan struct{})}
}

func (c *conns) counted(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		conn, _ := r.Context().Value(connKey{}).(net.Conn)
		defer c.asks(conn, false)
		if r.ContentLength == 0 {
			c.asks(conn, true)
		} else {
			r.Body = &trackedBody{r.Body, func() { c.asks(conn, true) }}
		}
		next.ServeHTTP(w, r)
	})
}

type trackedBody struct {
	io.ReadCloser
	whole func()
}

func (a *trackedBody) Read(b []byte) (int, error) {
	n, err := a.ReadCloser.Read(b)
	if errors.Is(err, io.EOF) {
		a.whole()
	}
	return n, err
}

func (c *conns) asks(conn net.Conn, asks bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if k := c.open[conn]; k != nil {
		k.asks = asks
	}
}

func (c *conns) changed(conn net.Conn, state http.ConnState) {
	c.mu.Lock()
	defer c.mu.Unlock()
	k := c.open[conn]
	switch {
	case state == http.StateClosed:
		delete(c.open, conn)
	case k != nil:
		k.state = state
	default:
		c.makeRoom(conn)
		c.newest++
		c.open[conn] = &connection{number: c.newest, state: state}
	}
	close(c.changes)
	c.changes = make(chan struct{})
}

// makeRoom closes a connection if there are too many: the oldest one without a complete request, or else the new one.
// No client can lock out others.
func (c *conns) makeRoom(latest net.Conn) {
	if len(c.open) < maxConns {
		return
	}
	victim, oldest := latest, (*connection)(nil)
	for conn, k := range c.open {
		if !k.asks && !k.closed && (oldest == nil || k.number < oldest.number) {
			victim, oldest = conn, k
		}
	}
	if oldest != nil {
		oldest.closed = true
	}
	_ = victim.Close()
}

func (c *conns) count() (active, all int, change <-chan struct{}) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, k := range c.open {
		if k.state == http.StateActive {
			active++
		}
	}
	return active, len(c.open), c.changes
}

func (c *conns) drain(atMost time.Duration) (busy int) {
	return c.waitUntil(atMost, func() int { active, _, _ := c.count(); return active })
}

func (c *conns) wait(atMost time.Duration) (left int) {
	return c.waitUntil(atMost, func() int { _, all, _ := c.count(); return all })
}

func (c *conns) waitUntil(atMost time.Duration, left func() int) int {
	late := time.NewTimer(atMost)
	defer late.Stop()
	for {
		_, _, change := c.count()
		if left() == 0 {
			return 0
		}
		select {
		case <-change:
		case <-late.C:
			return left()
		}
	}
}
