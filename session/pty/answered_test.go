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

// A holder that rejects a start exits right after its response. The response still counts.
func TestResponseOfExitingHolder(t *testing.T) {
	city := t.TempDir()
	p := newProvider(t, city)
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fds[1])
	ours := os.NewFile(uintptr(fds[0]), "holder")
	conn, err := net.FileConn(ours)
	if err := errors.Join(err, ours.Close()); err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	held, err := json.Marshal(wire.Failure{Cause: wire.Held, Message: "the lock is held"})
	if err != nil {
		t.Fatal(err)
	}
	for range 50 {
		l := newLink(conn.(*net.UnixConn), 0, false)
		l.replies <- wire.Message{Kind: wire.Failed, Data: held}
		close(l.gone)
		if err := p.begin(t.Context(), newEntry("a"), l, &life{}); !errors.Is(err, errHeld) {
			t.Fatal(err)
		}
	}
}
