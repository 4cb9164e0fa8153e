package proc

import (
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Descendants returns the running processes below root, parents before children. It can miss processes that start
// during the call, and processes that it cannot examine.
func Descendants(root int) []int {
	found, _ := descendants(root)
	return found
}

// descendants returns an error if it could not examine all processes, for example without a free file descriptor.
func descendants(root int) (found []int, err error) {
	queue := []int{root}
	for len(queue) > 0 {
		children, ok := childrenOf(queue[0])
		if !ok {
			return scanDescendants(root)
		}
		queue = queue[1:]
		for _, pid := range children {
			st, readErr := ReadStat(pid)
			if Exhausted(readErr) {
				err = readErr
			}
			if readErr == nil && !st.Exited() {
				found = append(found, pid)
				queue = append(queue, pid)
			}
		}
	}
	return found, err
}

// childrenOf returns false if the kernel does not list children.
func childrenOf(pid int) (children []int, ok bool) {
	task := "/proc/" + strconv.Itoa(pid) + "/task"
	d, err := os.Open(task)
	if err != nil {
		return nil, Gone(err)
	}
	defer d.Close()
	threads, err := d.Readdirnames(-1)
	if err != nil {
		return nil, Gone(err)
	}
	for _, tid := range threads {
		data, err := slurp(task + "/" + tid + "/children")
		if err != nil {
			if _, exists := os.Stat(task + "/" + tid); exists == nil {
				return nil, false
			}
			continue
		}
		for _, field := range strings.Fields(string(data)) {
			if child, err := strconv.Atoi(field); err == nil {
				children = append(children, child)
			}
		}
	}
	return children, true
}

// slurp reads a file with a third of the system calls of os.ReadFile.
func slurp(path string) ([]byte, error) {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	defer unix.Close(fd)
	data := make([]byte, 0, 512)
	for {
		n, err := unix.Read(fd, data[len(data):cap(data)])
		if n > 0 {
			data = data[:len(data)+n]
		}
		switch {
		case err == unix.EINTR:
		case err != nil:
			return nil, err
		case n == 0:
			return data, nil
		case len(data) == cap(data):
			data = append(data, 0)[:len(data)]
		}
	}
}

// scanDescendants is descendants for kernels without /proc/<pid>/task/<tid>/children.
func scanDescendants(root int) (found []int, err error) {
	pids, err := All()
	if err != nil {
		return nil, err
	}
	children := make(map[int][]int)
	for _, pid := range pids {
		st, readErr := ReadStat(pid)
		if Exhausted(readErr) {
			err = readErr
		}
		if readErr == nil && !st.Exited() {
			children[st.PPID] = append(children[st.PPID], pid)
		}
	}
	found = append(found, children[root]...)
	for i := 0; i < len(found); i++ {
		found = append(found, children[found[i]]...)
	}
	return found, err
}

func below(root int) func(pid int) bool {
	return func(pid int) bool {
		for range 1000 {
			st, err := ReadStat(pid)
			if err != nil || st.PPID <= 1 {
				return false
			}
			if st.PPID == root {
				return true
			}
			pid = st.PPID
		}
		return false
	}
}

// SignalTree sends a signal to every running descendant of root.
func SignalTree(root int, sig syscall.Signal) {
	for _, pid := range Descendants(root) {
		Signal(pid, sig, below(root))
	}
}

// KillTree kills every descendant of root, which must be a subreaper that keeps reaping. It returns false if a process
// may still be alive at the deadline.
func KillTree(root int, deadline time.Time) bool {
	pause := 500 * time.Microsecond
	left, err := descendants(root)
	for len(left) > 0 || err != nil {
		SignalTree(root, syscall.SIGKILL)
		late := time.Now().After(deadline)
		if left, err = descendants(root); late {
			return err == nil && len(left) == 0
		}
		if len(left) > 0 || err != nil {
			waitFirst(left, pause)
		}
		pause = min(2*pause, 20*time.Millisecond)
		left, err = descendants(root)
	}
	return true
}

// waitFirst waits at most d for the end of the first process. If it cannot watch that process, it waits for d.
func waitFirst(pids []int, d time.Duration) {
	var fds []unix.PollFd
	if len(pids) > 0 {
		fd, err := unix.PidfdOpen(pids[0], 0)
		if err == nil {
			defer unix.Close(fd)
			fds = []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
		} else if !Exhausted(err) {
			return
		}
	}
	// EINTR only shortens the wait
	_, _ = unix.Ppoll(fds, timespec(d), nil)
}

// WaitPid waits at most d and reports whether the process with this pid has exited. The caller must know that the pid
// was not reused. Without a free file descriptor, WaitPid returns false immediately.
func WaitPid(pid int, d time.Duration) bool {
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return !Exhausted(err)
	}
	defer unix.Close(fd)
	deadline := time.Now().Add(d)
	for {
		n, err := unix.Ppoll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}},
			timespec(time.Until(deadline)), nil)
		if n > 0 {
			return true
		}
		if err != unix.EINTR || time.Now().After(deadline) {
			return false
		}
	}
}

func timespec(d time.Duration) *unix.Timespec {
	return new(unix.NsecToTimespec(int64(max(d, 0))))
}
