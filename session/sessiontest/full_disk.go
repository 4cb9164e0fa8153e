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

// FillableDisk mounts a small disk at dir. fill creates files until the disk has no space for another one, and free
// removes one of them. It skips the test if it cannot mount the disk.
func FillableDisk(t *testing.T, dir string) (fill, free func()) {
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
	free = func() {
		n--
		if err := os.Remove(path()); err != nil {
			t.Fatal(err)
		}
	}
	return fill, free
}

// FullDisk checks that a start on a full disk fails with session.ErrExhausted, whichever file it cannot create, and
// that a stop succeeds.
func FullDisk(t *testing.T, open func(city string) session.Provider,
	spec func(city, name string) session.Spec) {
	t.Helper()
	city := t.TempDir()
	state := filepath.Join(city, ".gc")
	if err := os.Mkdir(state, 0o700); err != nil {
		t.Fatal(err)
	}
	fill, free := FillableDisk(t, state)
	p := open(city)
	fill()
	for failed := 0; ; failed++ {
		_, err := p.Start(t.Context(), spec(city, "a"))
		if err == nil && failed > 1 {
			break
		}
		if !errors.Is(err, session.ErrExhausted) {
			t.Fatalf("start %d: got %v, want an ErrExhausted", failed, err)
		}
		free()
	}
	fill()
	if err := p.Stop(t.Context(), "a", 0); err != nil {
		t.Fatal(err)
	}
	if x := NextExit(t, p); !x.Asked {
		t.Errorf("got the exit %+v, want a requested one", x)
	}
}
