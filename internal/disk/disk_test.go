package disk

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestWriteFileKeepsLinkAndPermissions(t *testing.T) {
	for name, write := range map[string]func(string, []byte, os.FileMode) error{"durable": WriteFile} {
		dir := t.TempDir()
		real := filepath.Join(dir, "real")
		link := filepath.Join(dir, "link")
		if err := os.WriteFile(real, []byte("old"), 0o640); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(real, link); err != nil {
			t.Fatal(err)
		}
		if err := write(link, []byte("new"), 0o600); err != nil {
			t.Fatal(name, err)
		}
		if got, _ := os.ReadFile(real); string(got) != "new" {
			t.Errorf("%s: got %q in the link's target", name, got)
		}
		if info, _ := os.Lstat(link); info.Mode()&os.ModeSymlink == 0 {
			t.Errorf("%s: the link was replaced with a file", name)
		}
		if info, _ := os.Stat(real); info.Mode().Perm() != 0o640 {
			t.Errorf("%s: got permissions %v", name, info.Mode().Perm())
		}
	}
}

// OwnFolder does not change an existing folder, because it may belong to the user.
func TestOwnFolder(t *testing.T) {
	dir := t.TempDir()
	made, there := filepath.Join(dir, "made"), filepath.Join(dir, "there")
	if err := os.Mkdir(there, 0o755); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := errors.Join(OwnFolder(made), OwnFolder(there)); err != nil {
			t.Fatal(err)
		}
	}
	for path, want := range map[string]os.FileMode{made: os.ModeDir | 0o700, there: os.ModeDir | 0o755, filepath.Join(made, ".gitignore"): 0o600} {
		if info, err := os.Stat(path); err != nil || info.Mode() != want {
			t.Errorf("%s: %v, %v", path, info, err)
		}
	}
	if _, err := os.Stat(filepath.Join(there, ".gitignore")); err == nil {
		t.Error("a .gitignore was written to an existing folder")
	}
	if OwnFolder(filepath.Join(dir, "none", "made")) == nil {
		t.Error("the missing parent was created")
	}
}

func TestReplaceLeavesNothingBehind(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	for _, content := range []string{"one", "two"} {
		if err := Replace(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if got, _ := os.ReadFile(path); string(got) != content {
			t.Fatalf("read %q, want %q", got, content)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "sub"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := Replace(filepath.Join(dir, "sub"), []byte("x"), 0o600); err == nil {
		t.Error("a folder was replaced with a file")
	}
	entries, _ := os.ReadDir(dir)
	if len(entries) != 2 {
		t.Errorf("temporary files remain: %v", entries)
	}
}

// The check runs after the new content was written. If it fails, the old content stays and the temporary file is removed.
func TestWriteFileIf(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	if err := os.WriteFile(path, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	refused := errors.New("refused")
	for _, answer := range []error{refused, nil} {
		err := WriteFileIf(path, []byte("new"), 0o600, func() error {
			written, _ := filepath.Glob(filepath.Join(dir, ".f*"))
			if len(written) != 1 {
				t.Fatalf("got temporary files %q, want one", written)
			}
			if got, _ := os.ReadFile(written[0]); string(got) != "new" {
				t.Errorf("the temporary file contains %q", got)
			}
			if got, _ := os.ReadFile(path); string(got) != "old" {
				t.Errorf("the file contains %q before it is replaced", got)
			}
			return answer
		})
		if !errors.Is(err, answer) {
			t.Errorf("got %v, want %v", err, answer)
		}
		want := "new"
		if answer != nil {
			want = "old"
		}
		if got, _ := os.ReadFile(path); string(got) != want {
			t.Errorf("got %q, want %q", got, want)
		}
		if entries, _ := os.ReadDir(dir); len(entries) != 1 {
			t.Errorf("temporary files remain: %v", entries)
		}
	}
}

func TestLockIsExclusive(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	first, err := TryLock(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := TryLock(path); !errors.Is(err, ErrLocked) {
		t.Fatalf("a second lock: got %v", err)
	}
	if !first.AtPath() {
		t.Error("AtPath() = false for a held lock")
	}
	if err := first.Release(); err != nil {
		t.Fatal(err)
	}
	second, err := TryLock(path)
	if err != nil {
		t.Fatalf("after the release: got %v", err)
	}
	defer second.Release()
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if second.AtPath() {
		t.Error("AtPath() = true for a removed lock")
	}
}

func TestAwaitLock(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	first, err := AwaitLock(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := AwaitLock(ended, path); !errors.Is(err, ErrLocked) {
		t.Fatalf("after the end of the context: got %v", err)
	}
	done := make(chan error)
	go func() {
		second, err := AwaitLock(t.Context(), path)
		done <- errors.Join(err, release(second))
	}()
	if err := first.Release(); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
}

func TestLongSocketPaths(t *testing.T) {
	t.Setenv("XDG_RUNTIME_DIR", t.TempDir())
	dir := filepath.Join(t.TempDir(), strings.Repeat("d", 120))
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "controller.sock")
	bound, err := SocketPath(path)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("unix", bound)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	c, err := net.Dial("unix", FindSocket(path))
	if err != nil {
		t.Fatal(err)
	}
	c.Close()
}

func TestForeignRuntimeFolder(t *testing.T) {
	base := t.TempDir()
	t.Setenv("XDG_RUNTIME_DIR", base)
	if err := os.Mkdir(filepath.Join(base, "gcity"), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Join(base, "gcity"), 0o777); err != nil {
		t.Fatal(err)
	}
	if _, err := SocketPath("/" + strings.Repeat("x", 200)); err == nil {
		t.Error("a folder that every user can write to was accepted")
	}
}

// A pipe stands for a device, because only root can create devices.
func TestWriteFileReplacesOnlyRegularFiles(t *testing.T) {
	dir := t.TempDir()
	pipe, link, dangling := filepath.Join(dir, "pipe"), filepath.Join(dir, "link"), filepath.Join(dir, "dangling")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	in, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	defer out.Close()
	for at, to := range map[string]string{link: fmt.Sprintf("/proc/self/fd/%d", out.Fd()), dangling: "missing"} {
		if err := os.Symlink(to, at); err != nil {
			t.Fatal(err)
		}
	}
	for _, path := range []string{pipe, link, dangling} {
		before, err := os.Lstat(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := WriteFile(path, []byte("new"), 0o600); err == nil ||
			!strings.Contains(err.Error(), "must be a regular file") {
			t.Errorf("%s: got error %v", path, err)
		}
		if after, err := os.Lstat(path); err != nil || !os.SameFile(before, after) {
			t.Errorf("%s was replaced (%v)", path, err)
		}
	}
}

// A socket that has never existed is missing, even if its path is too long for an address.
func TestDialLongPathWithoutSocket(t *testing.T) {
	path := filepath.Join(t.TempDir(), strings.Repeat("d", 120), ".gc", "controller.sock")
	for range 2 {
		if c, err := DialSocket(t.Context(), path); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("got %v, %v, want %v", c, err, fs.ErrNotExist)
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
	}
}

// Several processes can ask at the same time whether a folder is held, without seeing each other's locks.
func TestIsHeld(t *testing.T) {
	dir := t.TempDir()
	if IsHeld(dir) || IsHeld(filepath.Join(dir, "missing")) {
		t.Error("a folder without a holder is held")
	}
	asking, err := os.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer asking.Close()
	if err := flock(asking, syscall.LOCK_SH); err != nil {
		t.Fatal(err)
	}
	if IsHeld(dir) {
		t.Error("a concurrent IsHeld counts as a holder")
	}
	if err := asking.Close(); err != nil {
		t.Fatal(err)
	}
	held, err := Hold(dir)
	if err != nil {
		t.Fatal(err)
	}
	if !IsHeld(dir) {
		t.Error("the holder is not found")
	}
	if err := held.Close(); err != nil {
		t.Fatal(err)
	}
	if IsHeld(dir) {
		t.Error("the folder is still held")
	}
}
