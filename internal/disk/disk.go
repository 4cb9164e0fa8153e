// Package disk writes files so that a reader sees the old content or the new, takes locks that die with their process,
// and finds room for sockets whose path would be too long.
package disk

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/gofrs/flock"
	"github.com/google/renameio/v2"
)

// WriteFile replaces a file's content atomically and durably. An existing file keeps its permissions; perm is for a new
// one. A symbolic link stays a link: the file that it points to is replaced.
func WriteFile(path string, data []byte, perm fs.FileMode) error {
	target, err := filepath.EvalSymlinks(path)
	switch {
	case err == nil:
		path = target
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	return renameio.WriteFile(path, data, perm, renameio.WithExistingPermissions(), renameio.WithTempDir(filepath.Dir(path)))
}

// Replace is WriteFile without durability: the content survives any process, not a power cut. It costs no flush.
func Replace(path string, data []byte, perm fs.FileMode) error {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	err = errors.Join(err, f.Chmod(perm), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		os.Remove(f.Name())
	}
	return err
}

// MkdirIn makes a folder below root, with its parents, but never root itself: one that was moved or removed is not made
// anew by whoever still knows it by its old path.
func MkdirIn(root, path string, perm fs.FileMode) error {
	if _, err := os.Stat(root); err != nil {
		return err
	}
	return os.MkdirAll(path, perm)
}

// OwnFolder makes a folder that only its user may enter and that no repository takes in, because it ignores itself. One that
// is there already stays as it is. Its parent must exist.
func OwnFolder(path string) error {
	if err := os.Mkdir(path, 0o700); err != nil {
		if errors.Is(err, fs.ErrExist) {
			return nil
		}
		return err
	}
	if err := os.WriteFile(filepath.Join(path, ".gitignore"), []byte("*\n"), 0o600); err != nil {
		return errors.Join(err, os.Remove(path)) // or the next one would take it for somebody's
	}
	return nil
}

// ErrLocked means that another process, or another Lock in this one, holds the lock.
var ErrLocked = errors.New("locked by another process")

// Lock is an exclusive flock on a file. The kernel releases it when the process ends.
type Lock struct {
	f    *flock.Flock
	path string
}

// TryLock takes the lock without waiting. It creates the file (0600) if need be, and never removes it: a removed lock
// file is two locks.
func TryLock(path string) (*Lock, error) {
	f := flock.New(path, flock.SetPermissions(0o600))
	ok, err := f.TryLock()
	if err != nil {
		return nil, fmt.Errorf("cannot lock %s: %w", path, err)
	}
	if !ok {
		return nil, fmt.Errorf("%s: %w", path, ErrLocked)
	}
	return &Lock{f, path}, nil
}

// Still reports whether the path still names the file that is locked: else somebody has removed it, and another process
// can lock what is there now.
func (l *Lock) Still() bool {
	held, err := l.f.Stat()
	if err != nil {
		return false
	}
	there, err := os.Stat(l.path)
	return err == nil && os.SameFile(held, there)
}

// Release gives the lock back. Releasing twice is harmless.
func (l *Lock) Release() error { return l.f.Close() }

// Link makes path a symbolic link to target, in one step: whoever looks finds what was there before or the new link. What
// is there and is no link is replaced too, so look first.
func Link(target, path string) error { return renameio.Symlink(target, path) }
