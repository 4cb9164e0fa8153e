package pty

import (
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"gcity/session/pty/internal/wire"
)

// A holder that could not accept a connection accepts it later.
func TestHolderAcceptsAfterFailure(t *testing.T) {
	t.Parallel()
	p := newProvider(t, t.TempDir())
	start(t, p, spec(p.files.city, "a", "exec cat"))
	holder := holderOf(t, p, "a")
	var limit unix.Rlimit
	if err := unix.Prlimit(holder, unix.RLIMIT_NOFILE, nil, &limit); err != nil {
		t.Fatal(err)
	}
	if err := unix.Prlimit(holder, unix.RLIMIT_NOFILE, &unix.Rlimit{Max: limit.Max}, nil); err != nil {
		t.Fatal(err)
	}
	conn, err := dial(p.files.path("a", ""), wire.SocketFile)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	until(t, "a failed accept", func() bool {
		log, err := os.ReadFile(p.files.at + "/holders.log")
		return err == nil && strings.Contains(string(log), "cannot accept a connection")
	})
	if err := unix.Prlimit(holder, unix.RLIMIT_NOFILE, &limit, nil); err != nil {
		t.Fatal(err)
	}
	until(t, "a response from the holder", func() bool {
		_, err := hello(t.Context(), conn, true)
		return err == nil
	})
}
