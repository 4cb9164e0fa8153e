package pty

import (
	"os"
	"syscall"
	"testing"

	"gcity/session/pty/internal/wire"
)

// Other users cannot connect to a holder's socket, whatever the umask and the permissions of its parent folders.
func TestHolderSocketIsPrivate(t *testing.T) {
	old := syscall.Umask(0)
	defer syscall.Umask(old)
	city := t.TempDir()
	p := newProvider(t, city)
	start(t, p, spec(city, "a", "exec cat"))
	info, err := os.Stat(p.files.path("a", wire.SocketFile))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
}
