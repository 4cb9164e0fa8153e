package proc

import (
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// ErrLocked means that another process holds the lock.
var ErrLocked = errors.New("locked by another process")

// Lock takes an exclusive flock on a file and retries until the deadline. It creates the file if necessary. Child
// processes can inherit the lock.
func Lock(path string, deadline time.Time) (fd int, err error) {
	for {
		fd, err := unix.Open(path, unix.O_RDWR|unix.O_CREAT|unix.O_CLOEXEC|unix.O_NOFOLLOW|
			unix.O_NONBLOCK, 0o600)
		if err != nil {
			return -1, &os.PathError{Op: "open", Path: path, Err: err}
		}
		err = unix.Flock(fd, unix.LOCK_EX|unix.LOCK_NB)
		if err == nil && SameFile(fd, path) {
			return fd, nil
		}
		unix.Close(fd)
		if err != nil && err != unix.EWOULDBLOCK && err != unix.EINTR {
			return -1, fmt.Errorf("cannot lock %s: %w", path, err)
		}
		if time.Now().After(deadline) {
			return -1, fmt.Errorf("%s: %w", path, ErrLocked)
		}
		_ = unix.Nanosleep(timespec(time.Millisecond), nil)
	}
}

// IsLocked returns true if a process holds a flock on a file, shared or exclusive, and if that cannot be determined.
func IsLocked(path string) bool {
	fd, err := unix.Open(path, unix.O_RDWR|unix.O_CLOEXEC|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return true
	}
	defer unix.Close(fd)
	return unix.Flock(fd, unix.LOCK_EX|unix.LOCK_NB) != nil
}

// SameFile reports whether path refers to the file that is open as fd.
func SameFile(fd int, path string) bool {
	var a, b unix.Stat_t
	return unix.Fstat(fd, &a) == nil && unix.Stat(path, &b) == nil && a.Dev == b.Dev &&
		a.Ino == b.Ino
}

// Inode returns the device and inode numbers of the file at path; see HoldsFile.
func Inode(path string) (dev, ino uint64, err error) {
	var st unix.Stat_t
	if err := unix.Stat(path, &st); err != nil {
		return 0, 0, &os.PathError{Op: "stat", Path: path, Err: err}
	}
	return st.Dev, st.Ino, nil
}

// Raise moves a descriptor to the lowest free number from min on, and makes it inheritable. If the limit on descriptors
// prevents this, Raise tries the numbers from 64 on, and then from 10 on. It always closes fd.
func Raise(fd, min int) (int, error) {
	defer unix.Close(fd)
	for _, from := range []int{min, 64, 10} {
		high, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD, from)
		if err != unix.EINVAL && err != unix.EMFILE {
			return high, err
		}
	}
	return -1, unix.EMFILE
}

// Close closes a file descriptor.
func Close(fd int) { unix.Close(fd) }
