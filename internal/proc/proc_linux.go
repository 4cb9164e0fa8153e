// Package proc reads the state of processes from /proc. It signals processes through pidfds, so that a signal never
// reaches a different process with a reused pid.
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

// Lives reports whether the process with this pid and start time is running. A zombie does not count as running.
func Lives(pid int, start uint64) bool {
	st, err := ReadStat(pid)
	return err == nil && st.Start == start && !st.Exited()
}

// Ended reports whether the process with this pid and start time has exited. A zombie counts as exited. If the process
// cannot be examined, both Lives and Ended return false.
func Ended(pid int, start uint64) bool {
	st, err := ReadStat(pid)
	if err != nil {
		return Gone(err)
	}
	return st.Start != start || st.Exited()
}

// BootID returns the ID of the machine's current boot.
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

// SharesPIDs reports whether a process is in this process's PID namespace.
func SharesPIDs(pid int) bool {
	its, err := os.Readlink("/proc/" + strconv.Itoa(pid) + "/ns/pid")
	if err != nil {
		return false
	}
	own, err := os.Readlink("/proc/self/ns/pid")
	return err == nil && its == own
}

const execPatience = time.Second

// Environ returns the environment from a process's last exec, as "K=V" entries with a final NUL. It returns nil if it
// cannot read the environment.
func Environ(pid int) []byte {
	began := time.Now()
	for pause := 50 * time.Microsecond; ; pause = min(2*pause, 5*time.Millisecond) {
		data, err := readEnviron(pid)
		if err != nil && !Gone(err) || len(data) > 0 || time.Since(began) > execPatience {
			return data
		}
		st, statErr := ReadStat(pid)
		if statErr == nil && st.State == 'Z' && !st.Exited() {
			if tid := otherThread(pid); tid != pid {
				pid = tid
				continue
			}
		}
		if err != nil || statErr != nil || !st.mayHide(pid) {
			return data
		}
		_ = unix.Nanosleep(timespec(pause), nil) // EINTR only shortens the sleep
	}
}

// readEnviron reads the environment in one call, because an exec between two reads would look like the end of the file.
func readEnviron(pid int) ([]byte, error) {
	const most = 8 << 20 // more than the kernel allows
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

// otherThread returns the ID of a thread that is not the main thread, or pid if it finds none. A main thread that has
// exited shows no environment.
func otherThread(pid int) int {
	threads, _ := os.ReadDir("/proc/" + strconv.Itoa(pid) + "/task")
	for _, thread := range threads {
		if tid, err := strconv.Atoi(thread.Name()); err == nil && tid != pid {
			return tid
		}
	}
	return pid
}

// mayHide reports whether the environment might only look empty, because of an exec. If it is really empty, its address
// range has length zero and the code address is not zero.
func (st Stat) mayHide(pid int) bool {
	const kthreadd = 2
	none := st.State == 'Z' || st.State == 'X' || pid == kthreadd || st.PPID == kthreadd
	return !none && (st.EnvEnd == 0 || st.EnvEnd != st.EnvStart || st.Code == 0)
}

// HasEnv reports whether an environment contains entry ("K=V"). If prefix is true, entry may be a prefix.
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

// Args returns a process's command line, or nil if it cannot be read.
func Args(pid int) []string {
	data, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/cmdline")
	if err != nil || len(data) == 0 {
		return nil
	}
	return strings.Split(strings.TrimSuffix(string(data), "\x00"), "\x00")
}

// HoldsFile reports whether a process has the file with this device and inode open for writing, or holds a flock on it.
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
		if unix.Stat(dir+"/"+name, &st) == nil && st.Dev == dev && st.Ino == ino &&
			writesOrLocks(pid, name) {
			return true
		}
	}
	return false
}

// LockHolder returns the PID of a process that has locked path, or 0 if it finds none. It looks at the process guess
// first. That process can be unrelated, for example if its PID comes from a restored backup.
func LockHolder(path string, guess int) int {
	dev, ino, err := Inode(path)
	pids, allErr := All()
	if err != nil || allErr != nil {
		return 0
	}
	for _, pid := range append([]int{guess}, pids...) {
		if HoldsFile(pid, dev, ino) {
			return pid
		}
	}
	return 0
}

// writesOrLocks reports whether fd is open for writing or holds a flock. If the kernel does not provide this
// information, it reports whether fd is open.
func writesOrLocks(pid int, fd string) bool {
	data, err := slurp("/proc/" + strconv.Itoa(pid) + "/fdinfo/" + fd)
	if err != nil {
		_, err := os.Stat("/proc/" + strconv.Itoa(pid) + "/fd/" + fd)
		return err == nil
	}
	_, flags, _ := strings.Cut(string(data), "flags:")
	flags, _, _ = strings.Cut(strings.TrimSpace(flags), "\n")
	mode, err := strconv.ParseUint(flags, 8, 32)
	return err != nil || mode&unix.O_ACCMODE != unix.O_RDONLY ||
		strings.Contains(string(data), "FLOCK")
}

// Signal opens a pidfd, and sends sig if check then returns true. It reports whether it has sent the signal.
func Signal(pid int, sig syscall.Signal, check func(pid int) bool) bool {
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return false
	}
	defer unix.Close(fd)
	return check(pid) && unix.PidfdSendSignal(fd, sig, nil, 0) == nil
}

// Gone reports whether err means that the process no longer exists. The error must come from this package.
func Gone(err error) bool { return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ESRCH) }

// Reap waits for a child to exit and reaps it.
func Reap(pid int) error {
	for {
		_, err := unix.Wait4(pid, nil, 0, nil)
		if err != unix.EINTR {
			return err
		}
	}
}
