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
