package tmux

import (
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"

	"gcity/internal/eventually"
)

// failingListener fails to accept the first connection.
type failingListener struct {
	*net.UnixListener
	failed bool
}

func (l *failingListener) AcceptUnix() (*net.UnixConn, error) {
	if !l.failed {
		l.failed = true
		return nil, os.NewSyscallError("accept4", syscall.EMFILE)
	}
	return l.UnixListener.AcceptUnix()
}

// The start socket still accepts connections after an accept has failed.
func TestAcceptFails(t *testing.T) {
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: filepath.Join(t.TempDir(), "s"), Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	d := &startSocket{listener: &failingListener{UnixListener: l}, path: l.Addr().String(), expected: map[string]chan *net.UnixConn{}}
	var wg sync.WaitGroup
	wg.Go(func() {
		d.serve(t.Context(), func(f func()) bool { wg.Go(f); return true }, slog.New(slog.DiscardHandler))
	})
	defer wg.Wait()
	defer d.close()
	arrival, cancel := d.expect("id")
	defer cancel()
	conn, err := net.Dial("unix", d.path)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := conn.Write([]byte("id\n")); err != nil {
		t.Fatal(err)
	}
	eventually.Receive(t, "the connection", arrival).Close()
}
