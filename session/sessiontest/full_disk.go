package sessiontest

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"gcity/session"
)

// FillableDisk mounts a small disk at dir. fill creates files until the disk has no space for another one. The test is
// skipped if it may not mount.
func FillableDisk(t *testing.T, dir string) (fill func()) {
	t.Helper()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "nr_inodes=100"); err != nil {
		t.Skipf("cannot mount a small disk: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	n := 0
	path := func() string { return filepath.Join(dir, fmt.Sprint("ballast-", n)) }
	fill = func() {
		var err error
		for ; err == nil; n++ {
			err = os.WriteFile(path(), nil, 0o600)
		}
		if n--; !errors.Is(err, syscall.ENOSPC) {
			t.Fatal(err)
		}
	}
	return fill
}

// FullDisk checks that a session can be stopped while the disk is full.
func FullDisk(t *testing.T, open func(city string) session.Provider,
	spec func(city, name string) session.Spec) {
	t.Helper()
	city := t.TempDir()
	state := filepath.Join(city, ".gc")
	if err := os.Mkdir(state, 0o700); err != nil {
		t.Fatal(err)
	}
	fill := FillableDisk(t, state)
	p := open(city)
	Start(t, p, spec(city, "a"))
	fill()
	if err := p.Stop(t.Context(), "a", 0); err != nil {
		t.Fatal(err)
	}
	if x := NextExit(t, p); !x.Asked {
		t.Errorf("got the exit %+v, want a requested one", x)
	}
}
