package sqlite

import (
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"gcity/beads"
	"gcity/internal/hungfs"
)

// A store on a read-only file system can be read and backed up. It becomes writable when the file system does.
func TestReadOnlyFileSystem(t *testing.T) {
	if !hungfs.InNamespace(t) {
		return
	}
	at := t.TempDir()
	if err := unix.Mount("tmpfs", at, "tmpfs", 0, ""); err != nil {
		t.Skipf("cannot mount a file system: %v", err)
	}
	defer func() { _ = unix.Unmount(at, unix.MNT_DETACH) }() // the namespace ends with this process
	before := open(t, at)
	made := create(t, before, "a")
	if err := before.Close(); err != nil {
		t.Fatal(err)
	}
	remount := func(flags uintptr) {
		t.Helper()
		if err := unix.Mount("", at, "", unix.MS_REMOUNT|flags, ""); err != nil {
			t.Fatal(err)
		}
	}
	remount(unix.MS_RDONLY)
	s := open(t, at)
	all, err := s.List(t.Context(), beads.Query{})
	if err != nil || len(all) != 1 || all[0].ID != made.ID {
		t.Errorf("got %v, %v", all, err)
	}
	if _, err := s.Backup(t.Context(), filepath.Join(t.TempDir(), "b.db")); err != nil {
		t.Error(err)
	}
	const want = "its file system is read-only: mount it read-write"
	if _, err := s.Create(t.Context(), beads.Bead{Title: "b"}); err == nil ||
		!strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want %q", err, want)
	}
	remount(0)
	create(t, s, "c")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// A store in a read-only bind mount, such as a container's, shows the changes that are made outside it.
func TestReadOnlyBindMount(t *testing.T) {
	if !hungfs.InNamespace(t) {
		return
	}
	outside, inside := t.TempDir(), t.TempDir()
	if err := unix.Mount("tmpfs", outside, "tmpfs", 0, ""); err != nil {
		t.Skipf("cannot mount a file system: %v", err)
	}
	defer func() { _ = unix.Unmount(outside, unix.MNT_DETACH) }() // the namespace ends with this process
	for _, flags := range []uintptr{unix.MS_BIND, unix.MS_BIND | unix.MS_REMOUNT | unix.MS_RDONLY} {
		if err := unix.Mount(outside, inside, "", flags, ""); err != nil {
			t.Fatal(err)
		}
	}
	defer func() { _ = unix.Unmount(inside, unix.MNT_DETACH) }()
	shown := open(t, inside)
	check := func(want int) {
		t.Helper()
		all, err := shown.List(t.Context(), beads.Query{})
		if err != nil || len(all) != want {
			t.Errorf("got %d beads, %v, want %d", len(all), err, want)
		}
	}
	write := func() {
		t.Helper()
		s := open(t, outside)
		create(t, s, "a")
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	write()
	check(1)
	write() // the write-ahead log appears and disappears between two reads
	check(2)
	writes := open(t, outside)
	create(t, writes, "b")
	check(3)
	create(t, writes, "c")
	check(4)
	if err := writes.Close(); err != nil {
		t.Fatal(err)
	}
	if err := shown.Close(); err != nil {
		t.Fatal(err)
	}
}
