// Package disk writes files atomically, opens the files of .gc and .beads without following links or blocking
// (state.go), takes locks that the kernel releases when the process exits, and provides short paths for sockets.
package disk

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/google/renameio/v2"

	"gcity/internal/deadline"
)

// WriteFile replaces a file's content atomically and durably. An existing file must be a regular file, and keeps its
// permissions. WriteFile follows a symbolic link at path.
func WriteFile(path string, data []byte, perm fs.FileMode) error {
	return WriteFileIf(path, data, perm, func() error { return nil })
}

// WriteFileIf is like WriteFile, but calls check after it has written the new content and directly before it replaces
// the file. If check returns an error, the file stays unchanged and WriteFileIf returns the error.
func WriteFileIf(path string, data []byte, perm fs.FileMode, check func() error) error {
	path, err := Target(path)
	if err != nil {
		return err
	}
	f, err := renameio.NewPendingFile(path, renameio.WithPermissions(perm),
		renameio.WithExistingPermissions(), renameio.WithTempDir(filepath.Dir(path)))
	if err != nil {
		return WriteError(path, err)
	}
	defer func() { _ = f.Cleanup() }() // does nothing after the file was replaced
	if _, err = f.Write(data); err == nil {
		err = f.Sync()
	}
	if err != nil {
		return WriteError(path, err)
	}
	if err := check(); err != nil {
		return err
	}
	if err := f.CloseAtomicallyReplace(); err != nil {
		return WriteError(path, err)
	}
	return nil
}

// Target returns the path of the regular file that a write to path replaces. It follows a symbolic link at path. The
// file may be missing, unless path is a link.
func Target(path string) (string, error) {
	info, err := os.Stat(path) // unlike EvalSymlinks, it follows a link of /proc to a pipe
	if errors.Is(err, fs.ErrNotExist) {
		if info, err = os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
			return path, nil
		}
	}
	if err == nil {
		err = in(path, func(d *parent) error { return d.regular(info) })
	}
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(path)
}

// MkdirIn creates a folder below root, with its parents. It never creates root, so a moved root does not
// reappear.
func MkdirIn(root, path string, perm fs.FileMode) error {
	if _, err := os.Stat(root); err != nil {
		return err
	}
	return os.MkdirAll(path, perm)
}

// OwnFolder creates a folder that only the user can enter, with a .gitignore. It does not change an existing folder.
func OwnFolder(path string) error {
	return in(path, func(d *parent) error {
		err := d.root.Mkdir(d.name, 0o700)
		if errors.Is(err, fs.ErrExist) {
			var info fs.FileInfo
			if info, err = d.root.Lstat(d.name); err == nil && !info.IsDir() {
				err = d.unsafe(d.is(info) + ", but it must be a folder")
			}
			return err
		}
		if err != nil {
			return err
		}
		if err := d.root.WriteFile(filepath.Join(d.name, ".gitignore"), []byte("*\n"),
			0o600); err != nil {
			// otherwise, the next call would treat the folder as the user's and not add a .gitignore
			return errors.Join(err, d.root.Remove(d.name))
		}
		return nil
	})
}

// MakePrivate creates a folder below .gc with its parents, and sets its mode to 0700. It rejects links and other users'
// folders.
func MakePrivate(path string) error {
	if err := MkdirAll(path, 0o700); err != nil {
		return err
	}
	if err := Own(path); err != nil {
		return err
	}
	return in(path, func(d *parent) error {
		info, err := d.root.Lstat(d.name)
		if err != nil || info.Mode().Perm() == 0o700 {
			return err
		}
		if err := d.root.Chmod(d.name, 0o700); err != nil {
			return fmt.Errorf("%s is accessible to other users (%v), and its mode cannot be "+
				"changed: %w",
				Real(path), info.Mode().Perm(), WriteReason(Real(path), err))
		}
		return nil
	})
}

// ErrLocked means that another process, or another Lock in this process, holds the lock.
var ErrLocked = errors.New("locked by another process")

// Lock is an exclusive flock on a file. The kernel releases it when the process ends.
type Lock struct {
	f    *os.File
	path string
}

// TryLock takes the lock without waiting. It creates the file (0600) if necessary. gcity never removes the file,
// because two processes could then lock different files with the same name.
func TryLock(path string) (*Lock, error) {
	f, err := OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("cannot lock %w", WriteError(path, err))
	}
	err = flock(f, syscall.LOCK_EX)
	switch {
	case errors.Is(err, syscall.EWOULDBLOCK):
		return nil, errors.Join(fmt.Errorf("%s: %w", Real(path), ErrLocked), f.Close())
	case err != nil:
		return nil, errors.Join(fmt.Errorf("cannot lock %s: %w", Real(path), err), f.Close())
	}
	return &Lock{f, path}, nil
}

// AwaitLock is like TryLock, but retries until ctx ends. It also tries after the last wait, so a process that was
// suspended until then gets a lock that is free.
func AwaitLock(ctx context.Context, path string) (*Lock, error) {
	for {
		lock, err := TryLock(path)
		if !errors.Is(err, ErrLocked) || ctx.Err() != nil {
			return lock, err
		}
		deadline.Pause(ctx, lockPoll)
	}
}

// lockPoll is short, because a child of a killed process holds a copy of the lock until its exec.
const lockPoll = 10 * time.Millisecond

// AtPath reports whether the path still refers to the locked file.
func (l *Lock) AtPath() bool {
	held, err := l.f.Stat()
	if err != nil {
		return false
	}
	there, err := Lstat(l.path)
	return err == nil && os.SameFile(held, there)
}

// Moved returns a *MovedError if the locked file is now at another path. A removed file is not an error.
func (l *Lock) Moved() error {
	if l.AtPath() {
		return nil
	}
	if e := moved(l.f, Real(l.path)); e.To != "" {
		return e
	}
	return nil
}

// Release releases the lock. It may be called more than once.
func (l *Lock) Release() error {
	if err := l.f.Close(); !errors.Is(err, os.ErrClosed) {
		return err
	}
	return nil
}
