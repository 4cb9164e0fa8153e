package disk

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// openBeneath opens a file or folder below .gc or .beads with few system calls, and rejects paths with links. After an
// error, the caller must use walk, which works with every kernel.
func openBeneath(path string, flags int) (fd int, err error) {
	base, below := split(path)
	at, err := unix.Open(base, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1, err
	}
	defer unix.Close(at)
	name := filepath.Join(below...)
	if flags&unix.O_PATH == 0 { // opening a device can have side effects
		var st unix.Stat_t
		if err := unix.Fstatat(at, name, &st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
			return -1, err
		}
		if st.Mode&unix.S_IFMT != unix.S_IFREG {
			return -1, unix.EINVAL
		}
	}
	return unix.Openat2(at, name, &unix.OpenHow{
		Flags:   uint64(flags | unix.O_CLOEXEC | unix.O_NOFOLLOW),
		Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS,
	})
}

// openQuickly returns nil if the caller must use openParent.
func openQuickly(path string) *os.File {
	fd, err := openBeneath(path, unix.O_RDONLY|noFollow)
	if err != nil {
		return nil
	}
	var st unix.Stat_t
	if unix.Fstat(fd, &st) != nil || st.Mode&unix.S_IFMT != unix.S_IFREG {
		_ = unix.Close(fd)
		return nil
	}
	return os.NewFile(uintptr(fd), path)
}

// CheckDir returns an error if the path is not a folder that this package can use. A missing folder is not an error.
func CheckDir(path string) error {
	fd, err := openBeneath(path, unix.O_PATH|unix.O_DIRECTORY)
	if err == unix.ENOENT {
		return nil
	}
	if err == nil {
		return unix.Close(fd)
	}
	root, err := walk(split(path))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return root.Close()
}
