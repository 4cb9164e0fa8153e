package host

import (
	"golang.org/x/sys/unix"

	"gcity/city"
)

// OpenFiles returns how many files the running controller may open, or a controller that this process would start;
// 0 if unknown. The Go runtime raises the limit of each process to the maximum, but starts child processes with the
// original one.
func OpenFiles(running *city.Snapshot) uint64 {
	pid := 0 // this process
	if running != nil {
		pid = running.PID
	}
	var lim unix.Rlimit
	if err := unix.Prlimit(pid, unix.RLIMIT_NOFILE, nil, &lim); err != nil {
		return 0
	}
	return lim.Cur
}
