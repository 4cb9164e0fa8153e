// Package socket listens on the unix socket of a city or a supervisor, and checks which user a peer belongs to.
package socket

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"

	"gcity/internal/disk"
)

// Socket is a listener on a city's socket for a single user. Only one goroutine may call Accept.
type Socket struct {
	path string
	uid  uint32

	mu     sync.Mutex // not held during calls that can block
	bound  *net.UnixListener
	aside  string // new path of the file that was in the socket's place; "" = no file was moved
	closed bool

	renewals sync.Mutex
}

// Listen binds the socket for path (see disk.SocketPath for long paths). Only this user can connect. The caller must
// hold the city's lock, because Listen removes an existing socket. It moves any other file aside; see MovedPath. It
// fails if the folder belongs to another user.
func Listen(path string) (*Socket, error) {
	s := &Socket{path: path, uid: uint32(os.Getuid())}
	var err error
	s.bound, s.aside, err = bind(path)
	if err != nil {
		return nil, err
	}
	return s, nil
}

// MovedPath returns the new path of the file that was in the socket's place, or "".
func (s *Socket) MovedPath() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.aside
}

func boundPath(path string) (string, error) {
	known := disk.Real(path)
	bound, err := disk.SocketPath(known)
	if err == nil && bound == known {
		return path, nil
	}
	return bound, err
}

func bind(path string) (_ *net.UnixListener, aside string, _ error) {
	bound, err := boundPath(path)
	if err != nil {
		return nil, "", err
	}
	if err := ownFolder(filepath.Dir(bound)); err != nil {
		return nil, "", err
	}
	switch info, err := disk.Lstat(bound); {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return nil, "", err
	case info.Mode().Type() != fs.ModeSocket:
		if aside, err = disk.SetAside(bound); err != nil {
			return nil, "", fmt.Errorf("%s is not a socket, and cannot be moved away: %w",
				disk.Real(bound), err)
		}
	default:
		if err := disk.Remove(bound); err != nil {
			return nil, "", err
		}
	}
	// On Linux, the mode of an unbound socket becomes the mode of its file, so other users are never able to connect.
	lc := net.ListenConfig{Control: func(_, _ string, raw syscall.RawConn) error {
		var err error
		if e := raw.Control(func(fd uintptr) { err = unix.Fchmod(int(fd), 0o600) }); e != nil {
			return e
		}
		return err
	}}
	l, err := lc.Listen(context.Background(), "unix", bound)
	if err != nil {
		return nil, "", fmt.Errorf("cannot listen on %s: %w", disk.Real(bound), err)
	}
	return l.(*net.UnixListener), disk.Real(aside), nil
}

// Renew binds the socket again if it was removed or replaced. Clients stay connected. The caller must hold the city's
// lock.
func (s *Socket) Renew() (renewed bool, err error) {
	if !s.renewals.TryLock() {
		return false, nil // skip this check while another one hangs
	}
	defer s.renewals.Unlock()
	info, err := disk.Lstat(s.Addr().String())
	there := err == nil && info.Mode().Type() == fs.ModeSocket
	if s.ended() || there || err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	fresh, aside, err := bind(s.path)
	if err != nil {
		return false, err
	}
	s.mu.Lock()
	old := fresh
	if !s.closed {
		old, s.bound = s.bound, fresh
		old.SetUnlinkOnClose(false)
		s.aside = aside
	}
	s.mu.Unlock()
	return old != fresh, old.Close()
}

func (s *Socket) ended() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.closed
}

func (s *Socket) listener() *net.UnixListener {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.bound
}

// Accept waits for the next connection from the socket's user.
func (s *Socket) Accept() (net.Conn, error) {
	for {
		l := s.listener()
		c, err := l.Accept()
		if err != nil {
			if s.listener() != l {
				continue // Renew has replaced the listener
			}
			return nil, err
		}
		if cred, err := Credentials(c); err == nil && cred.Uid == s.uid {
			return c, nil
		}
		_ = c.Close()
	}
}

// Close ends Accept and removes the socket.
func (s *Socket) Close() error {
	s.mu.Lock()
	s.closed = true
	l := s.bound
	s.mu.Unlock()
	return l.Close()
}

// Addr returns the address of the socket.
func (s *Socket) Addr() net.Addr { return s.listener().Addr() }

func ownFolder(dir string) error {
	info, err := os.Stat(dir)
	if err != nil {
		return err
	}
	if st, ok := info.Sys().(*syscall.Stat_t); !ok || st.Uid != uint32(os.Getuid()) {
		return fmt.Errorf("%s belongs to another user, so a city's socket cannot be created in it",
			dir)
	}
	return nil
}

// OwnPeer returns the pid of the process that listens on the socket at path, and an error if the process belongs to
// another user.
func OwnPeer(c net.Conn, path string) (pid int32, err error) {
	cred, err := Credentials(c)
	if err != nil {
		return 0, err
	}
	// the address that the listener reports can be relative to its own folder
	return cred.Pid, Trusted(cred.Uid, path)
}

// Trusted returns an error unless uid, the user of the process that listens on the socket at path, is this user.
func Trusted(uid uint32, path string) error {
	if uid == uint32(os.Getuid()) {
		return nil
	}
	if os.Geteuid() == 0 && os.Getenv("SUDO_UID") == strconv.FormatUint(uint64(uid), 10) {
		return fmt.Errorf("the process that is listening on the socket runs as uid %d, and it "+
			"accepts only that user: run this command without sudo", uid)
	}
	if info, err := os.Stat(filepath.Dir(path)); err == nil {
		if st, ok := info.Sys().(*syscall.Stat_t); ok && st.Uid == uid {
			return fmt.Errorf("the process that is listening on the socket and the socket's "+
				"folder belong to another user (uid %d): run this command as that user", uid)
		}
	}
	return fmt.Errorf("a process of another user (uid %d) is listening on the socket: stop it and "+
		"remove the socket", uid)
}

// Credentials returns the kernel's information about the process at the other end of a unix socket.
func Credentials(c net.Conn) (cred *unix.Ucred, err error) {
	u, ok := c.(*net.UnixConn)
	if !ok {
		return nil, errors.New("not a unix socket")
	}
	raw, err := u.SyscallConn()
	if err != nil {
		return nil, err
	}
	if e := raw.Control(func(fd uintptr) {
		cred, err = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
	}); e != nil {
		return nil, e
	}
	return cred, err
}
