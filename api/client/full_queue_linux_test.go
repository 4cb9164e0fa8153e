package client

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// If the supervisor's socket accepts no connection, the error names the pid that the caller knows.
func TestPIDOfASupervisorWithAFullQueue(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	if err := errors.Join(unix.Bind(fd, &unix.SockaddrUnix{Name: path}), unix.Listen(fd, 0)); err != nil {
		t.Fatal(err)
	}
	for range 10 {
		f, err := DialFleet(path, 1<<30)
		if err == nil {
			defer f.Close()
			continue
		}
		if !errors.Is(err, ErrUnresponsive) || !strings.Contains(err.Error(), "`kill -9 1073741824`") {
			t.Errorf("got %v", err)
		}
		return
	}
	t.Error("the queue is not full")
}
