package proc

import (
	"os"

	"golang.org/x/sys/unix"
)

// Watched is a process to wait for without blocking a thread. It need not be a child process.
type Watched struct{ f *os.File }

// Watch opens a pidfd for the process with this pid and start time. It fails if the process has exited, or if the
// system does not support pidfds.
func Watch(pid int, start uint64) (*Watched, error) {
	fd, err := unix.PidfdOpen(pid, unix.PIDFD_NONBLOCK)
	if err != nil {
		return nil, os.NewSyscallError("pidfd_open", err)
	}
	if !Lives(pid, start) {
		unix.Close(fd)
		return nil, os.ErrProcessDone
	}
	return &Watched{os.NewFile(uintptr(fd), "process")}, nil
}

// Wait returns nil when the process has exited, and an error after Close.
func (w *Watched) Wait() error {
	raw, err := w.f.SyscallConn()
	if err != nil {
		return err
	}
	return raw.Read(func(fd uintptr) bool {
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, 0)
		return n > 0 || err != nil && err != unix.EINTR
	})
}

// Close stops watching the process and makes Wait return.
func (w *Watched) Close() error { return w.f.Close() }

// Marked returns a function that accepts processes that have entry ("K=V") in their environment or hold the file at
// path. If path is "", it does not look at open files.
func Marked(entry, path string) func(pid int) bool {
	dev, ino, err := Inode(path)
	locked := err == nil
	return func(pid int) bool {
		return HasEnv(Environ(pid), entry, false) || locked && HoldsFile(pid, dev, ino)
	}
}
