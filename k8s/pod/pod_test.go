package pod

import (
	"context"
	"log/slog"
	"net"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/hashicorp/yamux"

	"gcity/internal/disk"
	"gcity/internal/eventually"
	"gcity/k8s/tunnel"
	"gcity/session/protocol"
)

// faulty is a listener whose first calls of Accept fail.
type faulty struct {
	net.Listener
	failures int
}

func (f *faulty) Accept() (net.Conn, error) {
	if f.failures > 0 {
		f.failures--
		return nil, syscall.EMFILE
	}
	return f.Listener.Accept()
}

// After a failed Accept, further connections are served.
func TestAcceptAfterAnError(t *testing.T) {
	l, err := net.Listen("unix", filepath.Join(t.TempDir(), "s"))
	if err != nil {
		t.Fatal(err)
	}
	served, ended := make(chan net.Conn, 1), make(chan struct{})
	go func() {
		defer close(ended)
		accept(&faulty{l, 2}, slog.New(slog.DiscardHandler), func(c net.Conn) { served <- c })
	}()
	conn, err := net.Dial("unix", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	defer eventually.Receive(t, "the connection", served).Close()
	l.Close()
	eventually.Receive(t, "the end", ended)
}

// connect opens a tunnel to a house, as gcity-pod does for a helper.
func connect(t *testing.T, serve func(net.Conn)) *yamux.Session {
	t.Helper()
	own, other := net.Pipe()
	done := make(chan struct{})
	go func() {
		defer close(done)
		serve(other)
	}()
	mux, err := tunnel.Client(own)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		mux.Close()
		<-done
	})
	return mux
}

// An observer can use the provider, and does not replace the controller's helper. A new helper does.
func TestObserver(t *testing.T) {
	city := t.TempDir()
	h := newHouse(slog.New(slog.NewTextHandler(t.Output(), nil)))
	t.Cleanup(func() {
		if h.p != nil {
			h.p.Close()
			h.city.Close()
		}
	})
	helper := connect(t, h.serveHelper)
	observer := connect(t, h.serveObserver)
	for name, mux := range map[string]*yamux.Session{"helper": helper, "observer": observer} {
		client, err := protocol.NewClient(t.Context(), protocol.ClientOptions{
			Dial: func(context.Context) (net.Conn, error) { return mux.Open() },
			Open: protocol.OpenRequest{City: city}, Logger: h.log,
		})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		defer client.Close()
		if all, err := client.List(t.Context()); err != nil || len(all) != 0 {
			t.Errorf("%s: %v, %v", name, all, err)
		}
	}
	agent, err := disk.DialSocket(t.Context(), filepath.Join(city, ".gc", "controller.sock"))
	if err != nil {
		t.Fatal(err)
	}
	defer agent.Close()
	opened := make(chan error, 1)
	go func() {
		_, err := helper.Accept()
		opened <- err
	}()
	if err := eventually.Receive(t, "the helper receives the agent's command", opened); err != nil {
		t.Error(err)
	}
	next := connect(t, h.serveHelper)
	eventually.Receive(t, "the next helper replaces the first one", helper.CloseChan())
	if next.IsClosed() || observer.IsClosed() {
		t.Error("a tunnel that is not replaced is closed")
	}
}
