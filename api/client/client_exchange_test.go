package client

import (
	"context"
	"errors"
	"net"
	"net/http"
	"path/filepath"
	"sync/atomic"
	"testing"

	"gcity/city"
)

func serve(t *testing.T, h http.Handler) (path string, idle chan net.Conn, accepted *atomic.Int32) {
	t.Helper()
	path, idle, accepted = filepath.Join(t.TempDir(), "s"), make(chan net.Conn, 16), new(atomic.Int32)
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	srv := &http.Server{Handler: h, ConnState: func(conn net.Conn, s http.ConnState) {
		switch s {
		case http.StateNew:
			accepted.Add(1)
		case http.StateIdle:
			idle <- conn
		}
	}}
	done := make(chan error, 1)
	go func() { done <- srv.Serve(l) }()
	t.Cleanup(func() { srv.Close(); <-done })
	return path, idle, accepted
}

func dialed(t *testing.T, path string) *Client {
	t.Helper()
	c, err := Dial(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// Consecutive requests use the connection that Dial opened, even after an error response.
func TestExchangesShareAConnection(t *testing.T) {
	path, _, accepted := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/v0/snapshot" {
			_, _ = w.Write([]byte(`{"name":"demo"}` + "\n"))
			return
		}
		w.WriteHeader(http.StatusNotFound)
		_, _ = w.Write([]byte(`{"code":"not-found","message":"unknown"}`))
	}))
	c := dialed(t, path)
	for range 3 {
		if s, err := c.Snapshot(t.Context()); err != nil || s.Name != "demo" {
			t.Fatalf("Snapshot: %+v, %v", s, err)
		}
		var problem *city.Error
		if _, err := c.Inspect(t.Context(), "a"); !errors.As(err, &problem) || problem.Message != "unknown" {
			t.Fatalf("Inspect: %v", err)
		}
	}
	if n := accepted.Load(); n != 1 {
		t.Errorf("got %d connections, want 1", n)
	}
}

// A request succeeds on a new connection if the server has closed the idle connection.
func TestExchangeAfterServerClosed(t *testing.T) {
	path, idle, accepted := serve(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte("{}"))
	}))
	c := dialed(t, path)
	for range 2 {
		if _, err := c.Snapshot(t.Context()); err != nil {
			t.Fatal(err)
		}
		_ = (<-idle).Close()
	}
	if n := accepted.Load(); n != 2 {
		t.Errorf("got %d connections, want 2", n)
	}
}

// If the controller closes the connection without a response, the client retries the request once.
func TestExchangeWithoutResponse(t *testing.T) {
	for _, aborted := range []int32{1, 2} {
		var requests atomic.Int32
		path, _, _ := serve(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			if requests.Add(1) <= aborted {
				panic(http.ErrAbortHandler)
			}
			_, _ = w.Write([]byte("{}"))
		}))
		_, err := dialed(t, path).Snapshot(t.Context())
		if aborted == 1 && err != nil || aborted == 2 && !errors.Is(err, ErrEnded) {
			t.Errorf("Snapshot with %d aborted requests: %v", aborted, err)
		}
		if n := requests.Load(); n != 2 {
			t.Errorf("got %d requests, want 2", n)
		}
	}
}

// A pending request ends when its context is canceled or its client is closed.
func TestPendingExchangeIsCanceled(t *testing.T) {
	for _, begun := range []bool{false, true} {
		for _, byClose := range []bool{false, true} {
			arrived := make(chan bool)
			path, _, _ := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if begun {
					_, _ = w.Write([]byte(`{"name":`))
					_ = http.NewResponseController(w).Flush()
				}
				arrived <- true
				<-r.Context().Done()
			}))
			c := dialed(t, path)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			failed := make(chan error, 1)
			go func() { _, err := c.Snapshot(ctx); failed <- err }()
			<-arrived
			if byClose {
				_ = c.Close()
			} else {
				cancel()
			}
			err := <-failed
			if err == nil || !byClose && !errors.Is(err, context.Canceled) {
				t.Errorf("in progress %v, by Close %v: got %v", begun, byClose, err)
			}
		}
	}
}
