package proc

import (
	"os"
	"syscall"
	"time"
)

// Sweep kills every process that match accepts, and what these start meanwhile, until none is left or the deadline has
// come. The calling process is never asked about. It returns how many it killed and the pids that would not die.
func Sweep(match func(pid int) bool, deadline time.Time) (killed int, left []int, err error) {
	self := os.Getpid()
	seen := make(map[int]bool)
	for {
		pids, err := All()
		if err != nil {
			return len(seen), nil, err
		}
		left = left[:0]
		for _, pid := range pids {
			if pid == self || !match(pid) {
				continue
			}
			if st, err := ReadStat(pid); err != nil || st.State == 'Z' || st.State == 'X' {
				continue
			}
			left = append(left, pid)
			if Signal(pid, syscall.SIGKILL, match) {
				seen[pid] = true
			}
		}
		if len(left) == 0 || time.Now().After(deadline) {
			return len(seen), left, nil
		}
		WaitAny(left, 5*time.Millisecond)
	}
}
