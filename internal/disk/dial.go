package disk

import (
	"context"
	"errors"
	"net"
	"syscall"
	"time"
)

// dialAgain is the time after which a full socket is tried again.
const dialAgain = 50 * time.Millisecond

// DialSocket connects to the socket that belongs at path: see SocketPath. While the queue of its connections is
// full, it tries again.
func DialSocket(ctx context.Context, path string) (net.Conn, error) {
	var d net.Dialer
	for {
		conn, err := d.DialContext(ctx, "unix", FindSocket(path))
		if !errors.Is(err, syscall.EAGAIN) {
			return conn, err
		}
		t := time.NewTimer(dialAgain)
		select {
		case <-t.C:
		case <-ctx.Done():
			t.Stop()
			return nil, err
		}
	}
}

// Spare keeps a connection for its first use. Create it with NewSpare.
type Spare struct{ conn chan spare }

type spare struct {
	net.Conn
	at time.Time
}

// spareLimit bounds the age of a connection that is used. Servers close those that are idle for long.
const spareLimit = time.Second

// NewSpare returns a Spare without a connection.
func NewSpare() Spare { return Spare{make(chan spare, 1)} }

// Put keeps a connection. It is called once.
func (s Spare) Put(conn net.Conn) { s.conn <- spare{conn, time.Now()} }

// Take returns the connection that is kept. It returns nil without one, and closes one that is too old.
func (s Spare) Take() net.Conn {
	select {
	case c := <-s.conn:
		if time.Since(c.at) < spareLimit {
			return c.Conn
		}
		_ = c.Close() // nothing was written
	default:
	}
	return nil
}

// Close closes the connection that is kept.
func (s Spare) Close() {
	if c := s.Take(); c != nil {
		_ = c.Close() // nothing was written
	}
}
