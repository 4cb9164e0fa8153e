package api

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"

	"gcity/internal/disk"
)

// Listen binds the socket that belongs at path (see disk.SocketPath for long ones), for this user alone: mode 0600, and
// connections of another uid are closed when they are accepted. A socket that is there already is removed: whoever
// calls holds the city's lock. Anything else that is there is refused, as is a folder that another user owns.
func Listen(path string) (net.Listener, error) {
	bound, err := disk.SocketPath(path)
	if err != nil {
		return nil, err
	}
	if err := ownFolder(filepath.Dir(bound)); err != nil {
		return nil, err
	}
	switch info, err := os.Lstat(bound); {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return nil, err
	case info.Mode().Type() != fs.ModeSocket:
		return nil, fmt.Errorf("%s is in the way and is no socket: move it away", bound)
	default:
		if err := os.Remove(bound); err != nil {
			return nil, err
		}
	}
	// On Linux a socket file gets the mode of the unbound socket: so it is never open to others, not for a moment.
	lc := net.ListenConfig{Control: func(_, _ string, raw syscall.RawConn) error {
		var err error
		if e := raw.Control(func(fd uintptr) { err = unix.Fchmod(int(fd), 0o600) }); e != nil {
			return e
		}
		return err
	}}
	l, err := lc.Listen(context.Background(), "unix", bound)
	if err != nil {
		return nil, fmt.Errorf("cannot listen on %s: %w", bound, err)
	}
	return &ownListener{l, uint32(os.Getuid())}, nil
}

func ownFolder(dir string) error {
	info, err := os.Stat(dir)
	if err != nil {
		return err
	}
	if st, ok := info.Sys().(*syscall.Stat_t); !ok || st.Uid != uint32(os.Getuid()) {
		return fmt.Errorf("%s belongs to another user: a city's socket is not put there", dir)
	}
	return nil
}

// ownListener accepts one user's connections.
type ownListener struct {
	net.Listener
	uid uint32
}

func (l *ownListener) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if uid, err := peer(c); err == nil && uid == l.uid {
			return c, nil
		}
		_ = c.Close()
	}
}

// peer is the uid of the process that connected.
func peer(c net.Conn) (uid uint32, err error) {
	u, ok := c.(*net.UnixConn)
	if !ok {
		return 0, errors.New("not a unix socket")
	}
	raw, err := u.SyscallConn()
	if err != nil {
		return 0, err
	}
	var cred *unix.Ucred
	if e := raw.Control(func(fd uintptr) { cred, err = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED) }); e != nil {
		return 0, e
	}
	if err != nil {
		return 0, err
	}
	return cred.Uid, nil
}
