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

// execPatience is how long an exec may take. A machine that is busy, or reads the program from a disk, stretches the
// moment at will.
const execPatience = time.Second

// Environ returns a process's environment as it was at its last exec, each "K=V" ended by a NUL; nil if it cannot be
// read, which is so for the processes of others. In the middle of an exec a process shows none: that moment is waited
// for, so that nobody is overlooked because of it.
func Environ(pid int) []byte {
	began := time.Now()
	for pause := 50 * time.Microsecond; ; pause = min(2*pause, 5*time.Millisecond) {
		data, err := readEnviron(pid)
		if err != nil {
			return nil
		}
		if len(data) > 0 || time.Since(began) > execPatience || !mayHide(pid) {
			return data
		}
		_ = unix.Nanosleep(timespec(pause), nil) // EINTR only shortens it
	}
}

// readEnviron reads an environment in one call of the system: between two the process may become another program,
// and the second would find the end.
func readEnviron(pid int) ([]byte, error) {
	const most = 8 << 20 // a fourth of the largest stack that is usual, and more than an exec takes
	for size := 16 << 10; ; size *= 8 {
		fd, err := unix.Open("/proc/"+strconv.Itoa(pid)+"/environ", unix.O_RDONLY|unix.O_CLOEXEC, 0)
		if err != nil {
			return nil, err
		}
		data := make([]byte, size)
		n, err := unix.Read(fd, data)
		for err == unix.EINTR {
			n, err = unix.Read(fd, data)
		}
		unix.Close(fd)
		if err != nil {
			return nil, err
		}
		if n < size || size >= most {
			return data[:n], nil
		}
	}
}

// mayHide reports whether a process that shows no environment may have one all the same.
func mayHide(pid int) bool {
	st, err := ReadStat(pid)
	return err == nil && st.mayHide(pid)
}

// mayHide: it has not got its environment yet, or it has become another program between the opening of the file and the
// reading, which reads nothing then. One that was given an empty environment has a place for it of no length, but
// so has one that is just getting its own, which may stand still there: only its program has no place then. The
// dead and the kernel's own have none and never will.
func (st Stat) mayHide(pid int) bool {
	const kthreadd = 2
	none := st.State == 'Z' || st.State == 'X' || pid == kthreadd || st.PPID == kthreadd
	return !none && (st.EnvEnd == 0 || st.EnvEnd != st.EnvStart || st.Code == 0)
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
