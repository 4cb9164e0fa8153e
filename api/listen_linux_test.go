package api

import (
	"errors"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"gcity/api/client"
	"gcity/api/socket"
	"gcity/api/wire"
	"gcity/internal/disk"
	"gcity/internal/eventually"
)

// The controller renews a removed socket. Clients stay connected.
func TestRemovedSocketIsRenewed(t *testing.T) {
	// The path is too long for a socket, so the socket is bound at a shorter path.
	path := filepath.Join(t.TempDir(), strings.Repeat("long/", 30), "s")
	t.Setenv("XDG_RUNTIME_DIR", t.TempDir())
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	l, err := socket.Listen(path)
	if err != nil {
		t.Fatal(err)
	}
	accepted, ended := make(chan net.Conn, 2), make(chan error, 1)
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				ended <- err
				return
			}
			accepted <- c
		}
	}()
	reach := func() (near, far net.Conn) {
		t.Helper()
		near, err := net.Dial("unix", disk.FindSocket(path))
		if err != nil {
			t.Fatal(err)
		}
		far = eventually.Receive(t, "a connection", accepted)
		t.Cleanup(func() { near.Close(); far.Close() })
		return near, far
	}
	near, far := reach()
	if renewed, err := l.Renew(); renewed || err != nil {
		t.Fatalf("Renew with an intact socket: got %v, %v", renewed, err)
	}
	for _, gone := range []string{disk.FindSocket(path), path + ".path"} {
		if err := os.Remove(gone); err != nil {
			t.Fatal(err)
		}
	}
	if renewed, err := l.Renew(); !renewed || err != nil {
		t.Fatalf("renewed %v, %v", renewed, err)
	}
	reach()
	if _, err := near.Write([]byte("x")); err != nil {
		t.Error(err)
	}
	if _, err := far.Read(make([]byte, 1)); err != nil {
		t.Error(err)
	}
	bound := disk.FindSocket(path)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if err := eventually.Receive(t, "the end of Accept", ended); !errors.Is(err, net.ErrClosed) {
		t.Error(err)
	}
	if _, err := os.Lstat(bound); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the socket still exists: %v", err)
	}
	if renewed, err := l.Renew(); renewed || err != nil {
		t.Errorf("Renew of a closed socket: got %v, %v", renewed, err)
	}
	if _, err := os.Lstat(bound); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the socket of a closed listener was created again: %v", err)
	}
}

func TestListen(t *testing.T) {
	path := filepath.Join(t.TempDir(), "city.sock")
	l, err := socket.Listen(path)
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Lstat(path)
	if err != nil || info.Mode() != os.ModeSocket|0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	// an earlier controller was killed and has left its socket
	l.Close()
	stale, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	stale.SetUnlinkOnClose(false)
	stale.Close()
	if _, err := client.Dial(path); !errors.Is(err, client.ErrNotRunning) {
		t.Errorf("a stale socket: got %v", err)
	}
	l, err = socket.Listen(path)
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	if _, err := os.Lstat(path); !os.IsNotExist(err) {
		t.Errorf("the socket still exists: %v", err)
	}
}

func TestListenLongPath(t *testing.T) {
	run, err := os.MkdirTemp("", "run") // t.TempDir is too long for the path of a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(run) })
	t.Setenv("XDG_RUNTIME_DIR", run)
	dir := filepath.Join(t.TempDir(), strings.Repeat("d", 120))
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "city.sock")
	l, err := socket.Listen(path)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	c, err := client.Dial(path)
	if err != nil {
		t.Fatal(err)
	}
	c.Close()
}

// A file that is not a socket is moved aside. It is never removed or followed.
func TestListenMovesOtherFilesAside(t *testing.T) {
	for kind, put := range map[string]func(path, file string) error{
		"file":   func(path, file string) error { return os.Link(file, path) },
		"link":   func(path, file string) error { return os.Symlink(file, path) },
		"folder": func(path, _ string) error { return os.Mkdir(path, 0o700) },
	} {
		dir := t.TempDir()
		file, path := filepath.Join(dir, "file"), filepath.Join(dir, "city.sock")
		if err := errors.Join(os.WriteFile(file, []byte("precious"), 0o600), put(path, file)); err != nil {
			t.Fatal(err)
		}
		l, err := socket.Listen(path)
		if err != nil {
			t.Fatalf("%s: %v", kind, err)
		}
		if l.MovedPath() != path+".bad-1" {
			t.Errorf("%s: moved to %q", kind, l.MovedPath())
		}
		if err := errors.Join(os.Remove(path), put(path, file)); err != nil {
			t.Fatal(err)
		}
		if renewed, err := l.Renew(); !renewed || err != nil || l.MovedPath() != path+".bad-2" {
			t.Errorf("%s: got renewed %v, %v, moved to %q", kind, renewed, err, l.MovedPath())
		}
		c, err := client.Dial(path)
		if err != nil {
			t.Errorf("%s: %v", kind, err)
		} else {
			c.Close()
		}
		for _, aside := range []string{path + ".bad-1", path + ".bad-2"} {
			if _, err := os.Lstat(aside); err != nil {
				t.Errorf("%s: %v", kind, err)
			}
		}
		if b, err := os.ReadFile(file); string(b) != "precious" {
			t.Errorf("%s: %q, %v", kind, b, err)
		}
		l.Close()
	}
	if l, err := socket.Listen(filepath.Join(t.TempDir(), "none", "x.sock")); err == nil {
		l.Close()
		t.Error("a folder was created")
	}
}

// The owner of the socket's folder is found even if the server has bound the socket at a different path.
func TestOwnPeerOfAnotherUser(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can run as another user")
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "s")
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	// the address contains a folder that no longer exists when the client connects
	other := filepath.Join(dir, "other")
	if err := errors.Join(os.Mkdir(other, 0o700),
		unix.Bind(fd, &unix.SockaddrUnix{Name: other + "/../s"}), os.Remove(other),
		os.Chown(dir, 65534, -1)); err != nil {
		t.Fatal(err)
	}
	listening := make(chan error, 1)
	go func() {
		runtime.LockOSThread() // never unlocked, so the thread ends with this goroutine
		if _, _, e := syscall.RawSyscall(syscall.SYS_SETRESUID, 65534, 65534, 65534); e != 0 {
			listening <- e
			return
		}
		listening <- unix.Listen(fd, 1)
	}()
	if err := <-listening; err != nil {
		t.Fatal(err)
	}
	conn, err := net.Dial("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := socket.OwnPeer(conn, path); err == nil || !strings.Contains(err.Error(), "run this command as that user") {
		t.Errorf("got %v, want advice to run the command as the socket's user", err)
	}
}

// A connection from another user is rejected, whatever the socket's mode.
func TestAnotherUser(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can run as another user")
	}
	dir, err := os.MkdirTemp("", "api")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	path := filepath.Join(dir, "s")
	l, err := socket.Listen(path)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for _, p := range []string{dir, path} {
		if err := os.Chmod(p, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	accepted := make(chan net.Conn, 2)
	go func() {
		defer close(accepted)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			accepted <- c
		}
	}()
	stranger := make(chan error, 1)
	go func() {
		runtime.LockOSThread() // never unlocked, so the thread ends with this goroutine
		if _, _, e := syscall.RawSyscall(syscall.SYS_SETRESUID, 65534, 65534, 65534); e != 0 {
			stranger <- e
			return
		}
		stranger <- connectAndRead(path)
	}()
	if err := <-stranger; err != nil {
		t.Errorf("the other user's connection: got %v, want an immediate end", err)
	}
	// with sudo, the error must not advise users to stop their own controller
	t.Setenv("SUDO_UID", "65534")
	for uid, want := range map[uint32]string{65534: "run this command without sudo",
		65533: "stop it and remove the socket"} {
		if err := socket.Trusted(uid, path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("uid %d: got %v, want %q", uid, err, want)
		}
	}
	// nor may the error advise root to stop another user's controller
	if err := os.Chown(filepath.Dir(path), 65533, -1); err != nil {
		t.Fatal(err)
	}
	if err := socket.Trusted(65533, path); err == nil || !strings.Contains(err.Error(), "run this command as that user") {
		t.Errorf("got %v, want advice to run the command as the socket's user", err)
	}
	mine, err := net.Dial("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer mine.Close()
	(<-accepted).Close()
	l.Close()
	for c := range accepted {
		t.Error("a connection from another user was accepted")
		c.Close()
	}
}

// connectAndRead connects in the current thread. It returns nil if the peer closes the connection.
func connectAndRead(path string) error {
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	if err := unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &unix.Timeval{Sec: 20}); err != nil {
		return err
	}
	if err := unix.Connect(fd, &unix.SockaddrUnix{Name: path}); err != nil {
		return err
	}
	n, err := unix.Read(fd, make([]byte, 1))
	if err == nil && n > 0 {
		return errors.New("received a response")
	}
	return err
}

func TestTerminalEnds(t *testing.T) {
	for _, c := range []struct {
		name, sent string
		want       string
	}{
		{"session", "d\x00\x00\x00\x02hie\x00\x00\x00\x00", "EOF"},
		{"error", "e\x00\x00\x00\x26" + `{"code":"unavailable","message":"gone"}`[:38], "the terminal's end message is invalid: unexpected end of JSON input"},
		{"connection", "d\x00\x00\x00\x02hi", "unexpected EOF"},
		{"in a frame", "d\x00\x00\x00\x05hi", "unexpected EOF"},
		{"in a head", "d\x00\x00", "unexpected EOF"},
		{"too long", "d\x00\x01\x00\x01", "a frame of 65537 bytes exceeds the limit of 65536"},
		{"unknown", "?\x00\x00\x00\x00", "the city sent a frame of unknown type '?'"},
	} {
		near, far := net.Pipe()
		go func() {
			_, _ = io.WriteString(far, c.sent)
			far.Close()
		}()
		term := &client.Terminal{Conn: near, F: wire.Framer{R: near, W: near}, Leave: func() bool { return true }}
		_ = near.SetDeadline(time.Now().Add(eventually.Timeout))
		var err error
		for buf := make([]byte, 1); err == nil; {
			_, err = term.Read(buf)
		}
		if err.Error() != c.want {
			t.Errorf("%s: got %v, want %s", c.name, err, c.want)
		}
		if _, again := term.Read(make([]byte, 1)); !errors.Is(again, err) {
			t.Errorf("%s: then %v", c.name, again)
		}
		if err := term.Close(); err != nil {
			t.Error(err)
		}
	}
}
