package client

import (
	"context"
	"errors"
	"net"
	"net/http"
	"path/filepath"
	"testing"
	"time"
)

// If a controller exits between two requests, the client reports that.
func TestControllerEndsBetweenRequests(t *testing.T) {
	path := filepath.Join(t.TempDir(), "controller.sock")
	idle := make(chan net.Conn, 1)
	for range 200 {
		l, err := net.Listen("unix", path)
		if err != nil {
			t.Fatal(err)
		}
		srv := &http.Server{
			Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				_, _ = w.Write([]byte("{}"))
			}),
			ConnState: func(c net.Conn, s http.ConnState) {
				if s == http.StateIdle {
					idle <- c
				}
			},
		}
		go srv.Serve(l)
		c, err := Dial(path)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		post := request{method: http.MethodPost, path: "/v0/reload", body: []byte("{}")}
		if err := c.call(ctx, post, &struct{}{}); err != nil {
			t.Fatal(err)
		}
		<-idle
		go srv.Close()
		err = c.call(ctx, post, &struct{}{})
		if err != nil && !errors.Is(err, ErrEnded) && !errors.Is(err, ErrNotRunning) {
			t.Errorf("got %v, want ErrEnded or ErrNotRunning", err)
		}
		select {
		case <-idle:
		default:
		}
		c.Close()
		srv.Close()
		cancel()
	}
}
