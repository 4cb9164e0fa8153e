package holder

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"gcity/session/pty/internal/wire"
)

// The holder does not use package net, which would add 40 kB to every holder.

// conn is a connection. Writes are safe for concurrent use.
type conn struct {
	*os.File
	r      *wire.Reader
	viewer bool // writes have no time limit, because a viewer that does not read delays only itself

	mu   sync.Mutex // protects writes
	gone bool       // the peer has disconnected; protected by holder.mu
}

// newConn returns a connection that owns fd.
func newConn(fd int) (*conn, error) {
	if err := unix.SetNonblock(fd, true); err != nil {
		unix.Close(fd)
		return nil, err
	}
	c := &conn{File: os.NewFile(uintptr(fd), "socket")}
	c.r = wire.NewReader(c.File)
	return c, nil
}

// inherited returns the connection on standard input, which it replaces with /dev/null.
func inherited() (*conn, error) {
	if domain, err := unix.GetsockoptInt(0, unix.SOL_SOCKET, unix.SO_DOMAIN); err != nil {
		return nil, fmt.Errorf("standard input is not a socket: %w", err)
	} else if domain != unix.AF_UNIX {
		return nil, errors.New("standard input is not a unix socket")
	}
	fd, err := unix.FcntlInt(0, unix.F_DUPFD_CLOEXEC, 3)
	if err != nil {
		return nil, err
	}
	null, err := unix.Open("/dev/null", unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err == nil {
		err = unix.Dup2(null, 0)
		unix.Close(null)
	}
	if err != nil {
		unix.Close(fd)
		return nil, err
	}
	return newConn(fd)
}

const backlog = 4096

// listen returns a listening socket. It sets the mode before bind, which creates the file with that mode, so that other
// users can never connect.
func listen(name string) (*os.File, error) {
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	if err = unix.Fchmod(fd, 0o600); err == nil {
		err = unix.Bind(fd, &unix.SockaddrUnix{Name: name})
	}
	if err == nil {
		err = unix.Listen(fd, backlog)
	}
	if err != nil {
		unix.Close(fd)
		return nil, err
	}
	return os.NewFile(uintptr(fd), name), nil
}

// how long a holder that cannot accept a connection waits before it tries again
const acceptFirst, acceptLast = 5 * time.Millisecond, time.Second

func (h *holder) accept(ln *os.File) {
	pause := acceptFirst
	for {
		fd, open, err := acceptFrom(ln)
		if !open {
			return // leave has closed the socket, or settle has replaced it
		}
		if err != nil { // for example EMFILE
			if pause == acceptFirst {
				h.logError("cannot accept a connection; trying again", err)
			}
			select {
			case <-time.After(pause):
			case <-h.done:
			}
			pause = min(2*pause, acceptLast)
			continue
		}
		pause = acceptFirst
		if err := sameUser(fd); err != nil {
			h.logError("rejected a connection", err)
			unix.Close(fd)
			continue
		}
		c, err := newConn(fd)
		if err != nil {
			h.logError("cannot use a connection", err)
			continue
		}
		h.wg.Go(func() { h.serve(c) })
	}
}

// acceptFrom waits for a connection. open is false if the socket was closed.
func acceptFrom(ln *os.File) (fd int, open bool, err error) {
	raw, err := ln.SyscallConn()
	if err != nil {
		return -1, false, err
	}
	closedErr := raw.Read(func(l uintptr) bool {
		for {
			fd, _, err = unix.Accept4(int(l), unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK)
			if err != unix.EINTR && err != unix.ECONNABORTED {
				return err != unix.EAGAIN
			}
		}
	})
	return fd, closedErr == nil, err
}

// sameUser rejects other users, except root. The folder's permissions already keep them out.
func sameUser(fd int) error {
	cred, err := unix.GetsockoptUcred(fd, unix.SOL_SOCKET, unix.SO_PEERCRED)
	if err != nil {
		return err
	}
	if int(cred.Uid) != os.Getuid() && cred.Uid != 0 {
		return fmt.Errorf("pid %d belongs to user %d", cred.Pid, cred.Uid)
	}
	return nil
}

func (c *conn) closeWrite() error {
	raw, err := c.SyscallConn()
	if err != nil {
		return err
	}
	ctlErr := raw.Control(func(fd uintptr) { err = unix.Shutdown(int(fd), unix.SHUT_WR) })
	return errors.Join(ctlErr, err)
}

func (c *conn) abandoned() bool {
	raw, err := c.SyscallConn()
	if err != nil {
		return true
	}
	var n int
	fds := []unix.PollFd{{}}
	err = raw.Control(func(fd uintptr) {
		fds[0].Fd = int32(fd)
		n, _ = unix.Poll(fds, 0) // an interrupted poll counts as connected
	})
	return err != nil || n > 0 && fds[0].Revents&unix.POLLHUP != 0
}

func (c *conn) request() (req wire.Request, err error) {
	m, err := c.r.Next()
	if err != nil {
		return req, err
	}
	if m.Kind != wire.Ask && m.Kind != wire.Begin {
		return req, fmt.Errorf("received a message of kind %q instead of a request", m.Kind)
	}
	return wire.DecodeRequest(m)
}

// writeTimeout is how long a write waits for a slow client, unless it is a viewer, before the client is disconnected.
const writeTimeout = 5 * time.Second

func (c *conn) send(kind wire.Kind, data []byte) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	deadline := time.Time{}
	if !c.viewer {
		deadline = time.Now().Add(writeTimeout)
	}
	c.SetWriteDeadline(deadline)
	return wire.Write(c, kind, data)
}

func (c *conn) sendRaw(messages []byte) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.SetWriteDeadline(time.Now().Add(writeTimeout))
	_, err := c.Write(messages)
	return err
}

func (c *conn) sendJSON(kind wire.Kind, v wire.Encoder) error {
	return c.send(kind, v.AppendJSON(nil))
}

// fail sends err as a Failure. It returns an error only if the write fails.
func (c *conn) fail(err error) error {
	f, ok := err.(*wire.Failure)
	if !ok {
		f = &wire.Failure{Message: err.Error()}
	}
	return c.sendJSON(wire.Failed, f)
}
