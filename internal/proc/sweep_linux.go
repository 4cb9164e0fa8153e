package proc

import (
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Sweep kills the processes for which match returns true, until none is left or the deadline has passed. It returns the
// number of killed processes and the pids that are still alive.
func Sweep(match func(pid int) bool, deadline time.Time) (killed int, left []int, err error) {
	return sweep(All, match, deadline)
}

// SweepSince is like Sweep, but only for processes that started after firstPID, which must have started recently.
func SweepSince(firstPID int, match func(pid int) bool, deadline time.Time) (killed int, left []int,
	err error) {
	return sweep(func() ([]int, error) { return since(firstPID) }, match, deadline)
}

func sweep(list func() ([]int, error), match func(pid int) bool, deadline time.Time) (killed int,
	left []int, err error) {
	self := os.Getpid()
	seen := make(map[int]bool)
	for {
		pids, err := list()
		if err != nil {
			return len(seen), nil, err
		}
		left = left[:0]
		for _, pid := range pids {
			if pid == self || !match(pid) {
				continue
			}
			if st, err := ReadStat(pid); err != nil || st.Exited() {
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
		waitFirst(left, 5*time.Millisecond)
	}
}

// fewPIDs is the maximum number of pids to try one by one. For more pids, listing all processes is cheaper.
const fewPIDs = 256

// since returns the pids of processes that started after firstPID, and possibly other pids.
func since(firstPID int) ([]int, error) {
	newest, ok := newestPID()
	if !ok || newest < firstPID || newest > firstPID+fewPIDs {
		return All()
	}
	pids := make([]int, 0, newest-firstPID)
	for pid := firstPID + 1; pid <= newest; pid++ {
		pids = append(pids, pid)
	}
	return pids, nil
}

// newestPID fails if a container has mounted an outdated file over /proc/loadavg.
func newestPID() (pid int, ok bool) {
	fd, err := unix.Open("/proc/loadavg", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return 0, false
	}
	defer unix.Close(fd)
	var fs unix.Statfs_t
	if err := unix.Fstatfs(fd, &fs); err != nil || int64(fs.Type) != unix.PROC_SUPER_MAGIC {
		return 0, false
	}
	var buf [128]byte
	n, err := unix.Read(fd, buf[:])
	if err != nil {
		return 0, false
	}
	fields := strings.Fields(string(buf[:n]))
	if len(fields) == 0 {
		return 0, false
	}
	pid, err = strconv.Atoi(fields[len(fields)-1])
	return pid, err == nil
}
