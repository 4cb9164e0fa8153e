package disk

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// The error of a write names the file, the reason and the next step, but not the temporary file.
func TestWriteError(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	if err := WriteError(path, syscall.EACCES); err.Error() != path+": permission denied" {
		t.Errorf("the folder is writable, so only the file can be the reason: got %v", err)
	}
	if os.Getuid() == 0 { // only root can give files to another user
		if err := errors.Join(os.WriteFile(path, nil, 0o600), os.Chown(path, 65534, -1)); err != nil {
			t.Fatal(err)
		}
		if err := WriteError(path, syscall.EACCES); !strings.HasSuffix(err.Error(), "run `sudo chown 0 "+path+"`") {
			t.Errorf("a file of another user: got %v", err)
		}
	}
	if err := os.Chmod(dir, 0o500); err != nil { //nolint:gosec // a folder
		t.Fatal(err)
	}
	for reason, want := range map[error]string{
		syscall.EROFS:  "read-only file system: mount it read-write, and try again",
		syscall.ENOSPC: "no space left on device: free some space, and try again",
		syscall.EACCES: "permission denied: your user cannot write to the folder " + dir + "; run `chmod u+wx " + dir + "`",
		syscall.EIO:    "input/output error",
	} {
		for _, err := range []error{&fs.PathError{Op: "open", Path: path + "123", Err: reason},
			&os.LinkError{Op: "rename", Old: path + "123", New: path, Err: reason}} {
			if got := WriteError(path, err); got.Error() != path+": "+want || !errors.Is(got, reason) {
				t.Errorf("got %v, want %s", got, want)
			}
		}
	}
	path = filepath.Join(dir, "missing", "f")
	if err := WriteFile(path, nil, 0o600); err == nil || err.Error() != path+": no such file or directory" {
		t.Errorf("got %v", err)
	}
}
