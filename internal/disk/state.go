package disk

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// These functions open gcity's files in .gc and .beads. Such a folder can come from a repository, and an agent can
// write to it. The functions follow no symbolic links in it, open only regular files, and do not block.

// UnsafeError means that a file or folder is not as gcity creates it.
type UnsafeError struct {
	Path   string
	Reason string // what was found, as a verb phrase
	Fix    string // command that moves the file or folder out of the way
}

func (e *UnsafeError) Error() string {
	return fmt.Sprintf("%s %s, so gcity does not use it; run `%s`", e.Path, e.Reason, e.Fix)
}

// OwnerError means that a folder of a city belongs to another user. That user could not use files that this process
// creates in it.
type OwnerError struct {
	Path  string
	Owner string // "user NAME" or "user UID"
}

func (e *OwnerError) Error() string {
	return fmt.Sprintf("%s belongs to %s: run this command as that user or, if the folder is "+
		"meant to be yours, change its owner", e.Path, e.Owner)
}

// CheckOwner returns an *OwnerError if OpenFile would return one when it creates a file at path. Missing folders are no
// error.
func CheckOwner(path string) error {
	base, below := split(path)
	for n := len(below) - 1; ; n-- {
		root, err := walk(base, below[:n])
		switch {
		case errors.Is(err, fs.ErrNotExist) && n > 0:
			continue
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			return err
		}
		at := filepath.Join(append([]string{base}, below[:n+1]...)...)
		d := &parent{root: root, name: below[n], path: at}
		return errors.Join(d.mayCreate(), d.Close())
	}
}

// Named converts an UnsafeError about a file that the user has named. The new error advises the user to choose a
// different file.
func Named(err error) error {
	if unsafe, ok := errors.AsType[*UnsafeError](err); ok {
		return fmt.Errorf("%s %s; choose a different file", unsafe.Path, unsafe.Reason)
	}
	return err
}

// OpenFile opens a regular file like os.OpenFile, but does not follow links or block. Writing requires a single hard
// link, and the user or root as the owner. It does not create files in another user's .gc; see OwnerError.
func OpenFile(path string, flag int, perm fs.FileMode) (*os.File, error) {
	if flag == os.O_RDONLY {
		if f := openQuickly(path); f != nil {
			return f, nil
		}
	}
	d, err := openParent(path)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	return d.open(flag, perm)
}

// Open opens a regular file for reading. See OpenFile.
func Open(path string) (*os.File, error) { return OpenFile(path, os.O_RDONLY, 0) }

// ReadFile returns the content of a regular file. See OpenFile.
func ReadFile(path string) ([]byte, error) {
	f, err := Open(path)
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(f)
	return data, errors.Join(err, f.Close())
}

// Save replaces the content of a file atomically and durably. An existing file must be a regular file.
func Save(path string, data []byte, perm fs.FileMode) error {
	return replace(path, data, perm, true)
}

// Replace is like Save, but does not sync the disk.
func Replace(path string, data []byte, perm fs.FileMode) error {
	return replace(path, data, perm, false)
}

func replace(path string, data []byte, perm fs.FileMode, durable bool) error {
	d, err := openParent(path)
	if err != nil {
		return err
	}
	defer d.Close()
	if info, err := d.root.Lstat(d.name); err == nil {
		if err := d.regular(info); err != nil {
			return err
		}
	} else if !errors.Is(err, fs.ErrNotExist) {
		return d.withPath(err)
	}
	if err := d.mayCreate(); err != nil {
		return err
	}
	temp := Temp(d.name)
	f, err := d.root.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL|syscall.O_NOFOLLOW, 0o600)
	if err != nil {
		return WriteError(d.path, err)
	}
	_, err = f.Write(data)
	err = errors.Join(err, f.Chmod(perm))
	if durable && err == nil {
		err = f.Sync()
	}
	err = errors.Join(err, f.Close())
	if err == nil {
		err = d.root.Rename(temp, d.name)
	}
	if err != nil {
		_ = d.root.Remove(temp)
		return WriteError(d.path, err)
	}
	if durable {
		return d.sync()
	}
	return nil
}

// MkdirAll creates a folder and its parents below .gc or .beads. It never creates the folders above, so a moved city
// does not reappear. A link is an error. Without .gc or .beads in path, it works like os.MkdirAll.
func MkdirAll(path string, perm fs.FileMode) error { return mkdirAll(path, perm, false) }

// MkdirState is like MkdirAll, but also creates a missing .gc or .beads above path. The caller must ensure that the
// city's folder was not moved.
func MkdirState(path string, perm fs.FileMode) error { return mkdirAll(path, perm, true) }

func mkdirAll(path string, perm fs.FileMode, state bool) error {
	base, below := split(path)
	if len(below) == 1 && !isState(below[0]) {
		return os.MkdirAll(path, perm)
	}
	root, err := os.OpenRoot(base)
	if err != nil {
		return err
	}
	for i, name := range below {
		// MkdirAll must not create a .gc or .beads above path
		if !isState(name) || i == len(below)-1 || state {
			at := filepath.Join(append([]string{base}, below[:i+1]...)...)
			d := &parent{root: root, name: name, path: at}
			if err := d.mkdir(perm); err != nil {
				return errors.Join(err, d.Close())
			}
		}
		if root, err = enter(root, base, below[:i+1]); err != nil {
			return err
		}
	}
	return root.Close()
}

// Remove removes a file, a link or an empty folder, as os.Remove does.
func Remove(path string) error {
	return in(path, func(d *parent) error { return d.root.Remove(d.name) })
}

// RemoveAny removes a file as Remove does. It succeeds if the file does not exist.
func RemoveAny(path string) error {
	if err := Remove(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// RemoveAll removes a file, a link, or a folder with its content. It does not follow links.
func RemoveAll(path string) error {
	return in(path, func(d *parent) error { return d.root.RemoveAll(d.name) })
}

// Rename renames a file within its folder.
func Rename(path, name string) error {
	return in(path, func(d *parent) error { return d.root.Rename(d.name, name) })
}

// Lstat describes the file at a path and does not follow a link.
func Lstat(path string) (info fs.FileInfo, err error) {
	err = in(path, func(d *parent) error {
		info, err = d.root.Lstat(d.name)
		return err
	})
	return info, err
}

// StatFile describes a regular file, and returns an error for anything else.
func StatFile(path string) (info fs.FileInfo, err error) {
	err = in(path, func(d *parent) error {
		if info, err = d.root.Lstat(d.name); err != nil {
			return err
		}
		return d.regular(info)
	})
	if err != nil {
		return nil, err
	}
	return info, nil
}

// CheckFile describes a regular file that OpenFile could open for writing. Use it for files that a library opens.
func CheckFile(path string) (info fs.FileInfo, err error) {
	err = in(path, func(d *parent) error {
		if info, err = d.root.Lstat(d.name); err != nil {
			return err
		}
		return d.fit(info, true)
	})
	if err != nil {
		return nil, err
	}
	return info, nil
}

// ReadDir returns the entries of a folder, sorted by name.
func ReadDir(path string) (entries []fs.DirEntry, err error) {
	base, below := split(path)
	root, err := walk(base, below)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	f, err := root.Open(".")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	entries, err = f.ReadDir(-1)
	slices.SortFunc(entries, func(a, b fs.DirEntry) int {
		return strings.Compare(a.Name(), b.Name())
	})
	return entries, err
}

// SyncDir makes the names in a folder durable, if the file system supports this.
func SyncDir(path string) error { return in(filepath.Join(path, "x"), (*parent).sync) }

// SyncFile makes the content of a file durable.
func SyncFile(path string) error {
	f, err := Open(path)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// Link atomically replaces path with a symbolic link to target.
func Link(target, path string) error {
	return in(path, func(d *parent) error {
		if err := d.mayCreate(); err != nil {
			return err
		}
		temp := Temp(d.name)
		if err := d.root.Symlink(target, temp); err != nil {
			return err
		}
		err := d.root.Rename(temp, d.name)
		if err != nil {
			_ = d.root.Remove(temp)
		}
		return err
	})
}

const maxAside = 100

// SetAside appends the first unused suffix of .bad-1, .bad-2 and so on to the name of a file or folder, and returns the
// new path.
func SetAside(path string) (to string, err error) {
	err = in(path, func(d *parent) error {
		for n := 1; n <= maxAside; n++ {
			name := fmt.Sprintf("%s.bad-%d", d.name, n)
			if _, err := d.root.Lstat(name); !errors.Is(err, fs.ErrNotExist) {
				continue
			}
			to = filepath.Join(filepath.Dir(path), name)
			return d.root.Rename(d.name, name)
		}
		return fmt.Errorf("%d files named %s.bad-N already exist; remove some of them", maxAside,
			d.path)
	})
	return to, err
}
