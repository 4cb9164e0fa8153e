package host

import (
	"golang.org/x/sys/unix"

	"gcity/city"
)

// OpenFiles returns the maximum number of open files for the controller, or 0 if it is unknown. If running is nil, it
// returns this process's limit, which a controller started by this process inherits.
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
