package proc

import (
	"os"
	"os/signal"
	"runtime"

	"golang.org/x/sys/unix"
)

// NotifyJobControl relays SIGCONT to c, and SIGTSTP if a shell can continue this process. No shell continues the
// process group of a session leader. The kernel ignores SIGTSTP there, unless the process handles the signal.
func NotifyJobControl(c chan<- os.Signal) {
	signal.Notify(c, unix.SIGCONT)
	if leader, err := unix.Getsid(0); err == nil && leader != unix.Getpgrp() {
		signal.Notify(c, unix.SIGTSTP)
	}
}

// Suspend stops the calling process until a SIGCONT. It sends SIGSTOP, because the Go runtime ignores SIGTSTP after the
// first signal.Notify for it.
func Suspend() {
	// a signal for the calling thread stops the process before Tgkill returns
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	_ = unix.Tgkill(os.Getpid(), unix.Gettid(), unix.SIGSTOP) // cannot fail for the calling thread
}

// InBackground reports whether tty is this process's controlling terminal, but belongs to a different process group.
// The kernel then stops the process whenever it changes the terminal's modes, and not even SIGTERM ends it.
func InBackground(tty uintptr) bool {
	owner, err := unix.IoctlGetInt(int(tty), unix.TIOCGPGRP)
	// the owner is 0 if it is in a different PID namespace
	return err == nil && owner != 0 && owner != unix.Getpgrp()
}
