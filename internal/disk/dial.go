package disk

import (
	"context"
	"errors"
	"net"
	"syscall"
	"time"
)

// dialAgain is the interval between attempts to connect to a socket with a full queue.
const dialAgain = 50 * time.Millisecond

// DialSocket connects to the socket for path; see SocketPath. While the socket's connection queue is full, it
// retries.
func DialSocket(ctx context.Context, path string) (net.Conn, error) {
	var d net.Dialer
	for {
		// connecting to a unix socket never blocks, and the deadline of ctx would start a timer
		conn, err := d.Dial("unix", FindSocket(path))
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

// Spare stores one connection for later use. Create it with NewSpare.
type Spare struct{ conn chan spare }

type spare struct {
	net.Conn
	at time.Time
}

// spareLimit is the maximum age of a stored connection, because servers close idle connections.
const spareLimit = time.Second

// NewSpare returns an empty Spare.
func NewSpare() Spare { return Spare{make(chan spare, 1)} }

// Put stores a connection. It must be called only while no connection is stored.
func (s Spare) Put(conn net.Conn) { s.conn <- spare{conn, time.Now()} }

// Take returns the stored connection, or nil if there is none. It closes a connection that is too old, and then
// also returns nil.
func (s Spare) Take() net.Conn {
	select {
	case c := <-s.conn:
		if time.Since(c.at) < spareLimit {
			return c.Conn
		}
		_ = c.Close() // an error loses nothing, because nothing was written
	default:
	}
	return nil
}

// Close closes the stored connection.
func (s Spare) Close() {
	if c := s.Take(); c != nil {
		_ = c.Close() // an error loses nothing, because nothing was written
	}
}
