package disk

import (
	"context"
	"errors"
	"net"
	"syscall"
	"time"
)

const dialRetry = 50 * time.Millisecond

// DialSocket connects to the socket for path; see SocketPath. It retries while the socket's connection queue is full.
func DialSocket(ctx context.Context, path string) (net.Conn, error) {
	var d net.Dialer
	for {
		at, err := findSocket(path)
		if err != nil {
			return nil, err
		}
		// connecting to a unix socket does not block here, and passing ctx would start a timer
		conn, err := d.Dial("unix", at)
		if !errors.Is(err, syscall.EAGAIN) {
			return conn, err
		}
		t := time.NewTimer(dialRetry)
		select {
		case <-t.C:
		case <-ctx.Done():
			t.Stop()
			return nil, err
		}
	}
}

// IdleConn keeps one connection for later use. Create it with NewIdleConn.
type IdleConn struct{ conn chan idleConn }

type idleConn struct {
	net.Conn
	at time.Time
}

// idleLimit is the maximum age of a kept connection, because servers close idle connections.
const idleLimit = time.Second

// NewIdleConn returns an empty IdleConn.
func NewIdleConn() IdleConn { return IdleConn{make(chan idleConn, 1)} }

// Put stores a connection. It must be called only while no connection is stored.
func (s IdleConn) Put(conn net.Conn) { s.conn <- idleConn{conn, time.Now()} }

// Take removes and returns the stored connection, or nil if there was no recent one.
func (s IdleConn) Take() net.Conn {
	select {
	case c := <-s.conn:
		if time.Since(c.at) < idleLimit {
			return c.Conn
		}
		_ = c.Close() // safe to ignore: nothing was written
	default:
	}
	return nil
}

// Close closes the stored connection.
func (s IdleConn) Close() {
	if c := s.Take(); c != nil {
		_ = c.Close() // safe to ignore: nothing was written
	}
}
