package api_test

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"gcity/api/client"
	"gcity/city"
)

// A controller that accepts connections but does not respond counts as unresponsive.
func TestUnresponsiveController(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for seconds")
	}
	t.Parallel()
	path := filepath.Join(t.TempDir(), "s")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close() // connections stay in the queue, because no goroutine accepts them
	c, err := client.Dial(path)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_, err = c.Snapshot(t.Context())
	var problem *city.Error
	if !errors.Is(err, client.ErrUnresponsive) || !errors.As(err, &problem) || problem.Code != city.Unavailable {
		t.Errorf("Snapshot: %v", err)
	}
	for _, err := range c.Snapshots(t.Context()) {
		if !errors.Is(err, client.ErrUnresponsive) {
			t.Errorf("Snapshots: %v", err)
		}
	}
	_, err = c.Do(t.Context(), city.Restart{Agent: "a"})
	if !errors.Is(err, client.ErrUnresponsive) || !strings.Contains(err.Error(), "may still carry out the request") {
		t.Errorf("a command: %v", err)
	}
}

// A controller with a full connection queue also counts as unresponsive.
func TestFullConnectionQueue(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "s")
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	if err := errors.Join(unix.Bind(fd, &unix.SockaddrUnix{Name: path}), unix.Listen(fd, 0)); err != nil {
		t.Fatal(err)
	}
	for {
		c, err := net.Dial("unix", path)
		if errors.Is(err, unix.EAGAIN) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
	}
	if _, err := client.Dial(path); !errors.Is(err, client.ErrUnresponsive) {
		t.Errorf("Dial: %v", err)
	}
}

// The client waits for a slow response as long as the controller responds to other requests.
//
// It is not parallel, because other tests keep this process so busy that pings get no response for seconds.
func TestSlowResponseIsAwaited(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for seconds")
	}
	path := filepath.Join(t.TempDir(), "s")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	pings := make(chan struct{}, 100)
	srv := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/v0" {
			pings <- struct{}{}
			w.WriteHeader(http.StatusNotFound)
			return
		}
		for range 3 {
			<-pings
		}
		fmt.Fprint(w, `{"name":"late"}`)
	})}
	done := make(chan error, 1)
	go func() { done <- srv.Serve(l) }()
	defer func() { srv.Close(); <-done }()
	c, err := client.Dial(path)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if s, err := c.Snapshot(t.Context()); err != nil || s.Name != "late" {
		t.Errorf("Snapshot: %+v, %v", s, err)
	}
}
