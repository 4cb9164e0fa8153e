package protocol

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
)

// helper is a helper that only supports open and check.
type helper struct {
	net.Listener
	opened atomic.Bool
}

func startHelper(t *testing.T) *helper {
	t.Helper()
	l, err := net.Listen("unix", filepath.Join(t.TempDir(), "sock"))
	if err != nil {
		t.Fatal(err)
	}
	h := &helper{Listener: l}
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	wg.Go(func() {
		if err := ServeOn(ctx, l, h); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(func() { cancel(); wg.Wait() })
	return h
}

func (h *helper) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	w.Header().Set("Connection", "close")
	var response any = Response{}
	switch {
	case r.URL.Path == "/v1/open":
		h.opened.Store(true)
		response = OpenResponse{Protocol: Version}
	case !h.opened.Load():
		w.WriteHeader(http.StatusConflict)
		response = Response{Error: &Error{Message: "not opened"}}
	case r.URL.Path == "/v1/exits":
		<-r.Context().Done()
	}
	_ = json.NewEncoder(w).Encode(response)
}

// watchedConn calls received when data arrives.
type watchedConn struct {
	net.Conn
	received func()
}

func (c *watchedConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if n > 0 {
		c.received()
	}
	return n, err
}

// If a helper exits after it has sent its response to open, the client opens the next helper.
func TestHelperExitsDuringOpen(t *testing.T) {
	first, second := startHelper(t), startHelper(t)
	var current atomic.Pointer[helper]
	current.Store(first)
	var exit atomic.Pointer[func()]
	client, err := NewClient(t.Context(), ClientOptions{
		Dial: func(context.Context) (net.Conn, error) {
			conn, err := net.Dial("unix", current.Load().Addr().String())
			return &watchedConn{Conn: conn, received: func() {
				if f := exit.Swap(nil); f != nil {
					(*f)()
				}
			}}, err
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	client.Lost()
	exit.Store(new(func() {
		current.Store(second)
		client.Lost()
	}))
	if err := client.Check(t.Context()); err != nil {
		t.Errorf("Check: got %v", err)
	}
}
