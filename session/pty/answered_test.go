package pty

import (
	"encoding/json"
	"errors"
	"net"
	"os"
	"testing"

	"golang.org/x/sys/unix"

	"gcity/session/pty/internal/wire"
)

func connected(t *testing.T) (ours, holders *net.UnixConn) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	var ends [2]*net.UnixConn
	for i, fd := range fds {
		file := os.NewFile(uintptr(fd), "holder")
		conn, err := net.FileConn(file)
		if err := errors.Join(err, file.Close()); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { conn.Close() })
		ends[i] = conn.(*net.UnixConn)
	}
	return ends[0], ends[1]
}

func heldLock(t *testing.T) []byte {
	held, err := json.Marshal(wire.Failure{Cause: wire.Held, Message: "the lock is held"})
	if err != nil {
		t.Fatal(err)
	}
	return held
}

// A holder that rejects a start exits right after its response. The response still counts.
func TestResponseOfExitingHolder(t *testing.T) {
	p, held := newProvider(t, t.TempDir()), heldLock(t)
	conn, _ := connected(t)
	for range 50 {
		l := newLink(conn, 0, false)
		l.replies <- wire.Message{Kind: wire.Failed, Data: held}
		close(l.gone)
		if err := p.begin(t.Context(), newEntry("a"), l, &life{}); !errors.Is(err, errHeld) {
			t.Fatal(err)
		}
	}
}

// A holder can fail and exit before it receives the request. Its response still counts.
func TestResponseBeforeTheRequest(t *testing.T) {
	p, held := newProvider(t, t.TempDir()), heldLock(t)
	conn, holders := connected(t)
	if err := errors.Join(wire.Write(holders, wire.Failed, held), holders.Close()); err != nil {
		t.Fatal(err)
	}
	e, l := newEntry("a"), newLink(conn, 0, false)
	go p.read(e, l)
	if err := p.begin(t.Context(), e, l, &life{}); !errors.Is(err, errHeld) {
		t.Fatal(err)
	}
}
