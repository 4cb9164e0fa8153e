package proc

import (
	"os"
	"runtime"

	"golang.org/x/sys/unix"
)

// Suspend stops the calling process until a SIGCONT. It sends SIGSTOP, because the Go runtime ignores SIGTSTP after the
// first signal.Notify for it.
func Suspend() {
	// a signal for the calling thread stops the process before Tgkill returns
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	_ = unix.Tgkill(os.Getpid(), unix.Gettid(), unix.SIGSTOP) // cannot fail for the calling thread
}
