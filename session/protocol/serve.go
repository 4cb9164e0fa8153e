package protocol

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"time"

	"gcity/internal/recovery"
)

// Serve is the main function of a helper. It serves the inherited socket until ctx ends or standard input is closed,
// and leaves the sessions running.
func Serve(
	ctx context.Context,
	open func(ctx context.Context, r OpenRequest) (Opened, error),
) error {
	l, err := inherited()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var wg recovery.Group
	wg.Go(func() {
		// gcity has closed standard input or has exited
		_, _ = io.Copy(io.Discard, os.Stdin)
		cancel()
	})
	s := NewServer(open)
	defer s.Close()
	return ServeOn(ctx, l, s)
}

// ServeOn serves requests on l until ctx ends. Then it closes l.
func ServeOn(ctx context.Context, l net.Listener, h http.Handler) error {
	server := &http.Server{
		Handler: h, ReadHeaderTimeout: 10 * time.Second,
		BaseContext: func(net.Listener) context.Context { return ctx },
	}
	var wg recovery.Group
	wg.Go(func() {
		<-ctx.Done()
		server.Close()
	})
	if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

func inherited() (net.Listener, error) {
	fd, err := strconv.Atoi(os.Getenv(SocketEnv))
	if err != nil || fd < 3 {
		return nil, fmt.Errorf(
			`this program is a session helper, which only gcity can start (with %s set); to use `+
				`it, set [session] provider = "plugin:PROGRAM" in city.toml`, SocketEnv)
	}
	f := os.NewFile(uintptr(fd), "session socket")
	if f == nil {
		return nil, fmt.Errorf("%s is %d, which is not an open file descriptor", SocketEnv, fd)
	}
	defer f.Close()
	l, err := net.FileListener(f)
	if err != nil {
		return nil, fmt.Errorf("cannot use the inherited session socket: %w", err)
	}
	return l, nil
}
