package sqlite

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// The error for a failed write explains what to do.
func TestRemedy(t *testing.T) {
	for _, c := range []struct {
		err  error
		want string
	}{
		{&os.PathError{Op: "mkdir", Path: "x", Err: syscall.ENOSPC},
			"free some space and try again"},
		{syscall.EDQUOT, "free some space and try again"},
		{errors.New("odd"), "check the permissions of "},
	} {
		if got := remedy(t.TempDir(), c.err); !strings.Contains(got, c.want) {
			t.Errorf("%v: %s", c.err, got)
		}
	}
	if dir := t.TempDir(); os.Getuid() == 0 { // only root can give files to another user
		wal := filepath.Join(dir, File+"-wal")
		if err := errors.Join(os.WriteFile(wal, nil, 0o600), os.Chown(wal, 65534, -1)); err != nil {
			t.Fatal(err)
		}
		if got := remedy(dir, errors.New("odd")); !strings.Contains(got, "another user owns "+wal) {
			t.Error(got)
		}
	}
	if err := syscall.Access("/proc/sys", 2); errors.Is(err, syscall.EROFS) {
		if got := remedy("/proc/sys", errors.New("odd")); !strings.Contains(got,
			"read-only: mount it read-write") {
			t.Error(got)
		}
	}
}

// The error for another user's store names the current user. A store that cannot be created leaves no files.
func TestForeignFolder(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can become another user")
	}
	at, err := os.MkdirTemp("/tmp", "beads-foreign-")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(at)
	s := open(t, at)
	create(t, s, "a")
	if err := errors.Join(s.Close(), os.Chmod(at, 0o755), os.Chmod(s.folder, 0o755),
		os.Chmod(s.path, 0o644)); err != nil {
		t.Fatal(err)
	}
	self, err := os.ReadFile(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	bin := at + "/test"
	if err := os.WriteFile(bin, self, 0o755); err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"user 65534 cannot write to " + s.folder + ": change its owner",
		"user 65534 cannot write to " + at + ": change its owner", "run `chmod u+rwx " + at + "`"} {
		if i == 2 {
			if err := errors.Join(os.Chown(at, 65534, 65534), os.Chmod(at, 0o500)); err != nil {
				t.Fatal(err)
			}
		}
		c := exec.CommandContext(t.Context(), bin, at, "w", "1")
		c.Env = append(os.Environ(), "GCITY_BEADS_CHILD=create")
		c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534,
			Gid: 65534}}
		out, err := c.CombinedOutput()
		if err == nil || !strings.Contains(string(out), want) {
			t.Errorf("%v: %s\nwant %s", err, out, want)
		}
		if err := os.RemoveAll(s.folder); err != nil {
			t.Fatal(err)
		}
	}
}
