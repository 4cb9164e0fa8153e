package proc

import (
	"errors"
	"slices"

	"golang.org/x/sys/unix"
)

// Exhausted reports whether err means that disk space or memory is exhausted, or that a limit on open files or
// processes is reached.
func Exhausted(err error) bool {
	return slices.ContainsFunc([]unix.Errno{unix.ENOSPC, unix.EDQUOT, unix.EMFILE, unix.ENFILE,
		unix.ENOMEM, unix.EAGAIN}, func(no unix.Errno) bool { return errors.Is(err, no) })
}
