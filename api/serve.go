package api

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"gcity/city"
)

// Serve answers for a city until ctx ends, then gives requests in flight 5 s, and returns nil when nothing of it runs
// any more. It closes l. Another end is an error.
func Serve(ctx context.Context, l net.Listener, c city.Control, o Options) error {
	life, end := context.WithCancel(ctx)
	defer end()
	s := newServer(life, c, o)
	requests, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	conns := newConns()
	hs := &http.Server{
		Handler:           s,
		ReadHeaderTimeout: headTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeader,
		BaseContext:       func(net.Listener) context.Context { return requests },
		ConnState:         conns.changed,
		ErrorLog:          slog.NewLogLogger(s.o.Log.Handler(), slog.LevelDebug),
	}
	failed := make(chan error, 1)
	var wg sync.WaitGroup
	wg.Go(func() { failed <- hs.Serve(l) })
	var err error
	select {
	case <-ctx.Done():
	case e := <-failed:
		err = fmt.Errorf("the city's socket failed: %w", e)
		end()
	}
	_ = l.Close()
	conns.drain(grace)
	cancel()
	if e := hs.Close(); e != nil && err == nil && !errors.Is(e, net.ErrClosed) {
		err = e
	}
	wg.Wait()
	conns.wait()
	s.taken.Wait()
	return err
}

// conns knows the connections of a server. (Server.Shutdown would wait for those that have not said anything yet.)
type conns struct {
	mu      sync.Mutex
	open    map[net.Conn]http.ConnState
	changes chan struct{} // closed and renewed by every change
}

func newConns() *conns {
	return &conns{open: map[net.Conn]http.ConnState{}, changes: make(chan struct{})}
}

func (c *conns) changed(conn net.Conn, state http.ConnState) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch state {
	case http.StateClosed, http.StateHijacked:
		delete(c.open, conn)
	case http.StateNew:
		if len(c.open) >= maxConns {
			_ = conn.Close() // its goroutine ends at once
		}
		c.open[conn] = state
	default:
		c.open[conn] = state
	}
	close(c.changes)
	c.changes = make(chan struct{})
}

// count gives the connections that answer a request, and all.
func (c *conns) count() (active, all int, change <-chan struct{}) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, state := range c.open {
		if state == http.StateActive {
			active++
		}
	}
	return active, len(c.open), c.changes
}

// drain waits until no request is being answered, for a bounded time.
func (c *conns) drain(atMost time.Duration) {
	late := time.NewTimer(atMost)
	defer late.Stop()
	for {
		active, _, change := c.count()
		if active == 0 {
			return
		}
		select {
		case <-change:
		case <-late.C:
			return
		}
	}
}

// wait returns when all connections are closed, which somebody has to do.
func (c *conns) wait() {
	for {
		_, all, change := c.count()
		if all == 0 {
			return
		}
		<-change
	}
}
