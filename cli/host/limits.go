package host

import (
	"golang.org/x/sys/unix"

	"gcity/city"
)

// OpenFiles returns the maximum number of open files for the running controller or, if running is nil, for a
// controller that this process would start. It returns 0 if the number is unknown. The Go runtime raises each
// process's limit to the maximum, but starts child processes with the original limit.
func OpenFiles(running *city.Snapshot) uint64 {
	pid := 0
	if running != nil {
		pid = running.PID
	}
	var lim unix.Rlimit
	if err := unix.Prlimit(pid, unix.RLIMIT_NOFILE, nil, &lim); err != nil {
		return 0
	}
	return lim.Cur
}
