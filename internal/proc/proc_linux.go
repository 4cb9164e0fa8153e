// Package proc looks at processes through /proc and ends them through pidfds, so that a signal never reaches a stranger
// that was given a pid anew.
package proc

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Lives reports whether the process that had this pid and start time still runs. A zombie does not.
func Lives(pid int, start uint64) bool {
	st, err := ReadStat(pid)
	return err == nil && st.Start == start && st.State != 'Z' && st.State != 'X'
}

// BootID tells one boot of the machine from another.
func BootID() (string, error) {
	data, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return strings.TrimSpace(string(data)), err
}

// All returns the pids of all processes.
func All() ([]int, error) {
	d, err := os.Open("/proc")
	if err != nil {
		return nil, err
	}
	defer d.Close()
	names, err := d.Readdirnames(-1)
	pids := make([]int, 0, len(names))
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids, err
}

// Environ returns a process's environment as it was at its last exec, each "K=V" ended by a NUL; nil if it cannot be
// read, which is so for the processes of others. In the middle of an exec a process shows none for a moment: that moment
// is waited for, up to a few milliseconds, so that nobody is overlooked because of it.
func Environ(pid int) []byte {
	for pause := 50 * time.Microsecond; ; pause *= 2 {
		data, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ")
		if err != nil {
			return nil
		}
		if len(data) > 0 || pause > 2*time.Millisecond || !mayExec(pid) {
			return data
		}
		unix.Nanosleep(timespec(pause), nil) // EINTR only shortens it
	}
}

// mayExec reports whether a process that shows no environment may be one in the middle of an exec: the dead have none,
// nor have the kernel's own.
func mayExec(pid int) bool {
	const kthreadd = 2
	st, err := ReadStat(pid)
	return err == nil && st.State != 'Z' && st.State != 'X' && pid != kthreadd && st.PPID != kthreadd
}

// HasEnv reports whether an environment contains the entry "K=V", or with prefix set one that begins so.
func HasEnv(environ []byte, entry string, prefix bool) bool {
	for len(environ) > 0 {
		var kv []byte
		kv, environ, _ = bytes.Cut(environ, []byte{0})
		if string(kv) == entry || prefix && bytes.HasPrefix(kv, []byte(entry)) {
			return true
		}
	}
	return false
}

// Args returns a process's command line; nil if it cannot be read.
func Args(pid int) []string {
	data, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/cmdline")
	if err != nil || len(data) == 0 {
		return nil
	}
	return strings.Split(strings.TrimSuffix(string(data), "\x00"), "\x00")
}

// HoldsFile reports whether a process has the file of this device and inode open.
func HoldsFile(pid int, dev, ino uint64) bool {
	dir := "/proc/" + strconv.Itoa(pid) + "/fd"
	d, err := os.Open(dir)
	if err != nil {
		return false
	}
	defer d.Close()
	names, err := d.Readdirnames(-1)
	if err != nil {
		return false
	}
	for _, name := range names {
		var st unix.Stat_t
		if unix.Stat(dir+"/"+name, &st) == nil && st.Dev == dev && st.Ino == ino {
			return true
		}
	}
	return false
}

// Signal sends a signal to the process behind pid if still says, once that process is pinned, that it is the one that
// is meant. It reports whether the signal was sent.
func Signal(pid int, sig syscall.Signal, still func(pid int) bool) bool {
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return false
	}
	defer unix.Close(fd)
	return still(pid) && unix.PidfdSendSignal(fd, sig, nil, 0) == nil
}

// Gone reports whether an error of this package means that the process is no more.
func Gone(err error) bool { return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ESRCH) }

// Reap takes the exit of a child that has ended.
func Reap(pid int) error {
	for {
		_, err := unix.Wait4(pid, nil, 0, nil)
		if err != unix.EINTR {
			return err
		}
	}
}
