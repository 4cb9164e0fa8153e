// Package pod implements the program in an agent's pod. It owns the agent's terminal and serves the session protocol to
// the helper through a tunnel. It needs no other program in the container.
package pod

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/hashicorp/yamux"

	"gcity/internal/disk"
	"gcity/k8s/tunnel"
	"gcity/session/protocol"
	"gcity/session/pty"
)

const graceUnset = 30 * time.Second // the default of Kubernetes

// Serve runs the main process of a container. It serves the helper and observers until the container must stop.
func Serve(log *slog.Logger) error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	h := newHouse(log)
	for _, socket := range []string{tunnel.Socket, tunnel.ObserverSocket} {
		_ = os.Remove(socket)
		l, err := net.Listen("unix", socket)
		if err != nil {
			return fmt.Errorf("cannot listen for the helper: %w", err)
		}
		defer l.Close()
		serve := h.serveHelper
		if socket == tunnel.ObserverSocket {
			serve = h.serveObserver
		}
		go accept(l, log, serve) // runs until the listener is closed
	}
	<-ctx.Done()
	h.stopAgents()
	return nil
}

// accept serves connections until the listener is closed. After another error, for example if too many files are open,
// it tries again.
func accept(l net.Listener, log *slog.Logger, serve func(net.Conn)) {
	const minPause, maxPause = 5 * time.Millisecond, time.Second
	pause := minPause
	for {
		conn, err := l.Accept()
		switch {
		case errors.Is(err, net.ErrClosed):
			return
		case err != nil:
			log.Warn("cannot accept a connection", "error", err)
			time.Sleep(pause)
			pause = min(2*pause, maxPause)
		default:
			pause = minPause
			go serve(conn) // runs until the connection is closed
		}
	}
}

type house struct {
	log     *slog.Logger
	handler http.Handler

	mu     sync.Mutex
	p      *provider
	city   net.Listener // listens on the city's socket for commands of agents in the pod
	helper *yamux.Session
}

func newHouse(log *slog.Logger) *house {
	h := &house{log: log}
	mux := http.NewServeMux()
	mux.Handle("/", protocol.NewServer(h.open))
	mux.HandleFunc("POST "+tunnel.FilesPath, h.files)
	h.handler = mux
	return h
}

// serveHelper serves the connection of a helper. A new helper replaces the previous one, and receives the commands of
// the agent.
func (h *house) serveHelper(conn net.Conn) {
	h.serveTunnel(conn, func(s *yamux.Session) {
		h.mu.Lock()
		before := h.helper
		h.helper = s
		h.mu.Unlock()
		if before != nil {
			before.Close()
		}
	})
}

// serveObserver serves the connection of a helper that only observes, for example for gcity doctor. The connection of
// the controller's helper stays open.
func (h *house) serveObserver(conn net.Conn) { h.serveTunnel(conn, func(*yamux.Session) {}) }

func (h *house) serveTunnel(conn net.Conn, opened func(*yamux.Session)) {
	defer conn.Close()
	s, err := tunnel.Server(conn)
	if err != nil {
		return
	}
	defer s.Close()
	opened(s)
	server := &http.Server{Handler: h.handler, ReadHeaderTimeout: time.Minute}
	if err := server.Serve(s); err != nil && !errors.Is(err, io.EOF) {
		h.log.Info("the helper has disconnected", "error", err)
	}
}

// open opens the provider for the helper's city. The city's folder has the same path as on the controller's machine.
func (h *house) open(_ context.Context, r protocol.OpenRequest) (protocol.Opened, error) {
	if err := os.MkdirAll(filepath.Join(r.City, ".gc"), 0o700); err != nil {
		return protocol.Opened{}, fmt.Errorf(
			"cannot create the city's folder in the container: %w",
			err,
		)
	}
	p, err := pty.New(pty.Options{City: r.City, Binary: tunnel.Binary, Logger: h.log})
	if err != nil {
		return protocol.Opened{}, err
	}
	own := newProvider(p)
	h.mu.Lock()
	h.p = own
	h.mu.Unlock()
	if err := markCity(r.City); err != nil {
		h.log.Warn("the agent's commands will not find the city", "error", err)
	}
	if err := h.offerCity(filepath.Join(r.City, ".gc", "controller.sock")); err != nil {
		h.log.Warn("the agent's commands will not reach the controller", "error", err)
	}
	return protocol.Opened{Name: "pod", Provider: own, Close: func() { p.Close() }}, nil
}

func (h *house) offerCity(path string) error {
	path, err := disk.SocketPath(path)
	if err != nil {
		return err
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	l, err := net.Listen("unix", path)
	if err != nil {
		return err
	}
	h.city = l
	go accept(l, h.log, h.carry) // runs until the container ends
	return nil
}

func (h *house) carry(conn net.Conn) {
	defer conn.Close()
	h.mu.Lock()
	s := h.helper
	h.mu.Unlock()
	if s == nil {
		return
	}
	to, err := s.Open()
	if err != nil {
		return
	}
	Join(conn, to)
}

// Join copies in both directions until both have ended, and then closes both sides.
func Join(a, b io.ReadWriteCloser) {
	done := make(chan struct{}, 2)
	one := func(to, from io.ReadWriteCloser) {
		_, _ = io.Copy(to, from)
		if half, ok := to.(interface{ CloseWrite() error }); ok {
			_ = half.CloseWrite()
		} else {
			to.Close()
		}
		done <- struct{}{}
	}
	go one(a, b)
	go one(b, a)
	<-done
	<-done
	a.Close()
	b.Close()
}

func (h *house) stopAgents() {
	h.mu.Lock()
	p, helper := h.p, h.helper
	h.mu.Unlock()
	if p == nil {
		return
	}
	grace := podGrace()
	ctx, cancel := context.WithTimeout(context.Background(), grace)
	defer cancel()
	names := living(ctx, p)
	if len(names) == 0 {
		return
	}
	interrupt, last := tunnel.EndOfPod(grace)
	if helper != nil && !helper.IsClosed() { // time for the controller to ask the agent to finish
		awaitEnd(ctx, p, interrupt)
	}
	for _, name := range living(ctx, p) {
		_ = p.terminate(ctx, name, last)
	}
	time.Sleep(time.Second) // time for the helper to read the exit and the last output
}

func podGrace() time.Duration {
	seconds, err := strconv.Atoi(os.Getenv(tunnel.Grace))
	if err != nil {
		return graceUnset
	}
	return time.Duration(seconds) * time.Second
}

func living(ctx context.Context, p *provider) []string {
	all, err := p.List(ctx)
	if err != nil {
		return nil
	}
	var names []string
	for _, st := range all {
		if st.Alive {
			names = append(names, st.Name)
		}
	}
	return names
}

func awaitEnd(ctx context.Context, p *provider, limit time.Duration) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	poll := time.NewTicker(200 * time.Millisecond)
	defer poll.Stop()
	for len(living(ctx, p)) > 0 {
		select {
		case <-poll.C:
		case <-ctx.Done():
			return
		}
	}
}

func (h *house) files(w http.ResponseWriter, r *http.Request) {
	if err := unpack(r.URL.Query().Get("dir"), r.Body); err != nil {
		http.Error(w, err.Error(), http.StatusUnprocessableEntity)
	}
}

func unpack(dir string, from io.Reader) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("cannot create the working folder in the container: %w", err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	for in := tar.NewReader(from); ; {
		head, err := in.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			err = unpackOne(root, head, in)
		}
		if err != nil {
			return fmt.Errorf(
				"cannot write the files of the working folder in the container: %w",
				err,
			)
		}
	}
}

func unpackOne(root *os.Root, head *tar.Header, in io.Reader) error {
	name := strings.TrimSuffix(head.Name, "/")
	mode := fs.FileMode(head.Mode) & fs.ModePerm //nolint:gosec // G115: masked
	switch head.Typeflag {
	case tar.TypeDir:
		return root.MkdirAll(name, mode|0o700)
	case tar.TypeSymlink:
		_ = root.Remove(name)
		return root.Symlink(head.Linkname, name)
	}
	f, err := root.OpenFile(name, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, mode)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, in)
	return errors.Join(err, f.Close())
}

// Connect connects standard input and output to a socket of the process that runs Serve.
func Connect(socket string) error {
	conn, err := net.Dial("unix", socket)
	if err != nil {
		return err
	}
	done := make(chan struct{}, 2)
	go func() { _, _ = io.Copy(conn, os.Stdin); done <- struct{}{} }()
	go func() { _, _ = io.Copy(os.Stdout, conn); done <- struct{}{} }()
	<-done
	return nil
}

// Install copies the image's programs into a volume. The agent's container runs them from there.
func Install() error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(tunnel.Commands, 0o755); err != nil { //nolint:gosec // G301: for any user
		return err
	}
	programs := filepath.Join(filepath.Dir(self), "bin") // not in /gcity, the volume's mount point
	all, err := os.ReadDir(programs)
	// an image might contain nothing but this program
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, f := range all {
		if err := copyProgram(filepath.Join(programs, f.Name()),
			filepath.Join(tunnel.Commands, f.Name())); err != nil {
			return err
		}
		if f.Name() != filepath.Base(tunnel.Gcity) {
			continue
		}
		if err := os.Symlink(f.Name(), tunnel.Commands+"/gc"); err != nil &&
			!errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	return copyProgram(self, tunnel.Binary)
}

func copyProgram(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	// every user in the container must be able to run the program
	out, err := os.OpenFile(to, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o755) //nolint:gosec // G302
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}
