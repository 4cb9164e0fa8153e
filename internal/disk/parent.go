package disk

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

type parent struct {
	root *os.Root
	name string
	path string
}

func (d *parent) Close() error { return d.root.Close() }

func isState(name string) bool { return name == ".gc" || name == ".beads" }

// split divides a path before its last .gc or .beads. The user chose the first part, and gcity chose the second.
func split(path string) (base string, below []string) {
	path = filepath.Clean(path)
	dir, name := filepath.Split(path)
	below = []string{name}
	for at := path; ; {
		up, last := filepath.Split(at)
		up = filepath.Clean(up)
		if isState(last) {
			rel, err := filepath.Rel(up, path)
			if err == nil {
				return up, strings.Split(rel, string(filepath.Separator))
			}
		}
		if up == at || last == "" || up == "." {
			return filepath.Clean(dir), below
		}
		at = up
	}
}

// walk opens a folder below base and rejects links.
func walk(base string, below []string) (*os.Root, error) {
	root, err := os.OpenRoot(base)
	for i := 0; err == nil && i < len(below); i++ {
		root, err = enter(root, base, below[:i+1])
	}
	return root, err
}

// enter opens a folder in root, and closes root.
func enter(root *os.Root, base string, names []string) (*os.Root, error) {
	defer root.Close()
	name := names[len(names)-1]
	d := &parent{root: root, name: name, path: filepath.Join(append([]string{base}, names...)...)}
	info, err := root.Lstat(name)
	if err != nil {
		return nil, d.withPath(err)
	}
	if !info.IsDir() {
		return nil, d.unsafe(d.is(info) + ", but it must be a folder")
	}
	below, err := root.OpenRoot(name)
	if err != nil {
		return nil, d.withPath(err)
	}
	now, err := below.Stat(".")
	if err == nil && !os.SameFile(info, now) {
		err = d.unsafe("was replaced while it was being opened")
	}
	if err != nil {
		return nil, errors.Join(err, below.Close())
	}
	return below, nil
}

func openParent(path string) (*parent, error) {
	base, below := split(path)
	last := len(below) - 1
	root, err := walk(base, below[:last])
	if err != nil {
		return nil, err
	}
	return &parent{root: root, name: below[last], path: path}, nil
}

func in(path string, do func(*parent) error) error {
	d, err := openParent(path)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.withPath(do(d))
}

const noFollow = syscall.O_NOFOLLOW | syscall.O_NONBLOCK | syscall.O_NOCTTY

const openTries = 16

// open checks which file it has opened, because os.Root follows links to files in the same folder.
func (d *parent) open(flag int, perm fs.FileMode) (*os.File, error) {
	for range openTries {
		was, err := d.root.Lstat(d.name)
		switch {
		case err == nil && flag&os.O_EXCL == 0:
			if err := d.regular(was); err != nil {
				return nil, err
			}
		case err != nil && (!errors.Is(err, fs.ErrNotExist) || flag&os.O_CREATE == 0):
			return nil, d.withPath(err)
		case err != nil:
			if err := d.mayCreate(); err != nil {
				return nil, err
			}
		}
		f, err := d.root.OpenFile(d.name, flag&^os.O_TRUNC|noFollow, perm)
		if err != nil {
			return nil, d.withPath(err)
		}
		replaced, err := d.check(f, flag)
		if err == nil && !replaced {
			return f, nil
		}
		if err = errors.Join(err, f.Close()); err != nil {
			return nil, d.withPath(err)
		}
	}
	return nil, fmt.Errorf("%s is replaced too often to be opened", Real(d.path))
}

// check returns replaced if the caller must open the file again, and an error if f must not be used. Otherwise, it
// truncates f if flag contains O_TRUNC.
func (d *parent) check(f *os.File, flag int) (replaced bool, err error) {
	info, err := f.Stat()
	if err != nil {
		return false, err
	}
	now, err := d.root.Lstat(d.name)
	if flag&os.O_EXCL == 0 && (err != nil || !os.SameFile(now, info)) {
		return true, nil
	}
	if err := d.fit(info, flag&(os.O_WRONLY|os.O_RDWR) != 0); err != nil {
		return false, err
	}
	if flag&os.O_TRUNC != 0 {
		return false, f.Truncate(0)
	}
	return false, nil
}

// mayCreate returns an *OwnerError if the file would be created in a .gc of another user, or as a .gc in another user's
// folder. It accepts every .beads, because a rig's can belong to any user.
func (d *parent) mayCreate() error {
	if _, below := split(d.path); below[0] != ".gc" {
		return nil
	}
	return d.checkOwner()
}

// checkOwner returns an *OwnerError if the folder belongs to another user.
func (d *parent) checkOwner() error {
	info, err := d.root.Stat(".")
	if err != nil {
		return d.withPath(err)
	}
	if st, ok := info.Sys().(*syscall.Stat_t); ok && st.Uid != 0 && int(st.Uid) != os.Geteuid() {
		return &OwnerError{Path: Real(filepath.Dir(d.path)), Owner: userName(st.Uid)}
	}
	return nil
}

// mkdir creates a folder, or does nothing if it exists.
func (d *parent) mkdir(perm fs.FileMode) error {
	if _, err := d.root.Lstat(d.name); err == nil {
		return nil
	}
	if err := d.mayCreate(); err != nil {
		return err
	}
	if err := d.root.Mkdir(d.name, perm); err != nil && !errors.Is(err, fs.ErrExist) {
		return WriteError(d.path, err)
	}
	return nil
}

func (d *parent) regular(info fs.FileInfo) error {
	if info.Mode().IsRegular() {
		return nil
	}
	return d.unsafe(d.is(info) + ", but it must be a regular file")
}

// fit accepts only regular files. For writing, it also requires a single hard link, and the user or root as the owner.
func (d *parent) fit(info fs.FileInfo, write bool) error {
	if err := d.regular(info); err != nil || !write {
		return err
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return d.unsafe("has an unknown owner")
	}
	if st.Uid != 0 && int(st.Uid) != os.Geteuid() {
		if _, below := split(d.path); len(below) > 1 {
			if err := d.checkOwner(); err != nil {
				return err // the whole folder belongs to a user, so the file must not be moved away
			}
		}
		return d.unsafe("belongs to " + userName(st.Uid))
	}
	if st.Nlink > 1 {
		return d.unsafe(fmt.Sprintf("has %d names (hard links), so a write would also change "+
			"another file", st.Nlink))
	}
	return nil
}

// is describes a file with a verb phrase, such as "is a named pipe".
func (d *parent) is(info fs.FileInfo) string {
	var what string
	switch info.Mode().Type() {
	case fs.ModeSymlink:
		what = "is a symbolic link"
		if to, err := d.root.Readlink(d.name); err == nil {
			what += " to " + to
		}
	case fs.ModeDir:
		what = "is a folder"
	case fs.ModeNamedPipe:
		what = "is a named pipe"
	case fs.ModeSocket:
		what = "is a socket"
	case 0:
		what = "is a file"
	default:
		what = "is a device"
	}
	if st, ok := info.Sys().(*syscall.Stat_t); ok && int(st.Uid) != os.Geteuid() {
		what += " of " + userName(st.Uid)
	}
	return what
}

func (d *parent) unsafe(reason string) error {
	path := Real(d.path)
	return &UnsafeError{Path: path, Reason: reason,
		Fix: fmt.Sprintf("mv %s %s", quote(path), quote(path+".bad"))}
}

// withPath adds the path to an error of os.Root, which contains only a name.
func (d *parent) withPath(err error) error {
	if err == nil {
		return nil
	}
	if _, unsafe := errors.AsType[*UnsafeError](err); unsafe {
		return err
	}
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return &fs.PathError{Op: strings.TrimSuffix(p.Op, "at"), Path: Real(d.path), Err: p.Err}
	}
	if l, ok := errors.AsType[*os.LinkError](err); ok {
		return &fs.PathError{Op: strings.TrimSuffix(l.Op, "at"), Path: Real(d.path), Err: l.Err}
	}
	return err
}

func (d *parent) sync() error {
	f, err := d.root.Open(".")
	if err != nil {
		return d.withPath(err)
	}
	err = f.Sync()
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.ENOTSUP) {
		err = nil
	}
	return errors.Join(err, f.Close())
}

func userName(uid uint32) string {
	id := strconv.FormatUint(uint64(uid), 10)
	if u, err := user.LookupId(id); err == nil {
		return "user " + u.Username
	}
	return "user " + id
}

func quote(path string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' ||
			strings.ContainsRune("/._-+=:@,", r)
	}
	if path != "" && strings.IndexFunc(path, func(r rune) bool { return !plain(r) }) < 0 {
		return path
	}
	return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
}
