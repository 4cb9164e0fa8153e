package events

import (
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"

	"gcity/internal/disk"
)

var errBusy = errors.New("another process holds its lock")

// fileLock is an flock. The kernel releases it if the process dies.
type fileLock struct{ f *os.File }

// lockFile locks a file. It opens the file each time, because the file might have been recreated. If the lock is not
// free within wait, the error is errBusy.
func lockFile(path string, wait time.Duration) (fileLock, error) {
	f, err := disk.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return fileLock{}, fmt.Errorf("cannot open %s: %w", path, err)
	}
	fd := int(f.Fd())
	pause := 50 * time.Microsecond
	for deadline := time.Now().Add(wait); ; {
		err = syscall.Flock(fd, syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			return fileLock{f}, nil
		}
		if err != syscall.EINTR && err != syscall.EWOULDBLOCK {
			break
		}
		if !time.Now().Before(deadline) {
			err = errBusy
			break
		}
		time.Sleep(pause)
		pause = min(2*pause, time.Millisecond)
	}
	f.Close()
	return fileLock{}, fmt.Errorf("cannot lock %s: %w", path, err)
}

func (l fileLock) release() { l.f.Close() }

func preallocate(f *os.File, offset, n int64) error {
	const keepSize = 1 // FALLOC_FL_KEEP_SIZE
	return retryInterrupted(f, func(fd int) error {
		return syscall.Fallocate(fd, keepSize, offset, n)
	})
}

func datasync(f *os.File) error { return retryInterrupted(f, syscall.Fdatasync) }

func retryInterrupted(f *os.File, call func(fd int) error) error {
	c, err := f.SyscallConn()
	if err != nil {
		return err
	}
	var failed error
	err = c.Control(func(fd uintptr) {
		for failed = syscall.EINTR; failed == syscall.EINTR; {
			failed = call(int(fd))
		}
	})
	return errors.Join(err, failed)
}
