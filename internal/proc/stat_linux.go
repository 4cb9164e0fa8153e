package proc

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// Stat contains some fields of /proc/<pid>/stat.
type Stat struct {
	State byte // of the main thread: 'R', 'S', 'T', 'Z', …
	PPID  int
	// process group, session, and the terminal's foreground group; 0 = none
	Group, Session, Foreground int
	// includes the main thread until the whole process has exited
	Threads int
	// in clock ticks since boot
	Start uint64
	// CPU time, including exited children
	CPU time.Duration
	RSS int64 // in bytes

	// address range of the environment; 0 during an exec, and for processes of other users
	EnvStart, EnvEnd uint64

	// address of the code; 0 during an exec, and 1 for processes of other users
	Code uint64
}

// tick is the unit of processor time in /proc on all platforms that Go supports.
const tick = 10 * time.Millisecond

// Indexes of fields in /proc/<pid>/stat, counted from the first field after the command name.
const (
	fieldPPID       = 1
	fieldGroup      = 2
	fieldSession    = 3
	fieldForeground = 5
	// first of four CPU times
	fieldUTime   = 11
	fieldCSTime  = 14
	fieldThreads = 17
	fieldStart   = 19
	fieldRSS     = 21 // in pages
	fieldCode    = 23
	// first of two fields: the start and end addresses of the environment
	fieldEnv    = 47
	fieldEnvEnd = 48
)

// Exited reports whether the process has exited. A zombie has exited, unless only its main thread is one.
func (st Stat) Exited() bool {
	return st.State == 'X' || st.State == 'Z' && st.Threads <= 1
}

// Killed reports whether a process has received SIGKILL or its main thread has exited. Such a process exits soon, but
// might still hold locks. It must be a Go program, because in other programs, threads can outlive the main thread.
func Killed(pid int) bool {
	data, err := slurp("/proc/" + strconv.Itoa(pid) + "/status")
	if err != nil {
		return Gone(err)
	}
	for line := range strings.Lines(string(data)) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), ":\t")
		switch name {
		case "State":
			if strings.HasPrefix(value, "Z") || strings.HasPrefix(value, "X") {
				return true
			}
		case "SigPnd", "ShdPnd": // of the main thread, and of the whole process
			pending, err := strconv.ParseUint(value, 16, 64)
			if err == nil && pending&(1<<(unix.SIGKILL-1)) != 0 {
				return true
			}
		}
	}
	return false
}

// Demand returns how long the threads of a process have run or waited for a processor in total. It is 0 if that is
// unknown. The time of threads that have exited is not included.
func Demand(pid int) (total time.Duration) {
	dir := "/proc/" + strconv.Itoa(pid) + "/task/"
	threads, _ := os.ReadDir(dir)
	for _, thread := range threads {
		data, _ := slurp(dir + thread.Name() + "/schedstat")
		var ran, waited time.Duration
		if n, _ := fmt.Sscan(string(data), &ran, &waited); n == 2 {
			total += ran + waited
		}
	}
	return total
}

// ReadStat reads a process's state. If the process does not exist, Gone returns true for the error.
func ReadStat(pid int) (Stat, error) {
	data, err := slurp("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return Stat{}, err
	}
	s, ok := parseStat(data)
	if !ok {
		return s, fmt.Errorf("/proc/%d/stat: cannot parse %q", pid, data)
	}
	return s, nil
}

// parseStat does not allocate, because it runs for every process on the machine.
func parseStat(data []byte) (s Stat, ok bool) {
	// The command name may contain parentheses.
	end := bytes.LastIndexByte(data, ')')
	if end < 0 || len(data) < end+3 {
		return s, false
	}
	data = data[end+2:]
	s.State = data[0]
	for i := 0; i <= fieldEnvEnd; i++ {
		var field []byte
		field, data, _ = bytes.Cut(data, []byte{' '})
		n, ok := number(field)
		switch {
		case i == fieldPPID:
			s.PPID = int(n)
		case i == fieldGroup:
			s.Group = int(n)
		case i == fieldSession:
			s.Session = int(n)
		case i == fieldForeground:
			s.Foreground = int(n)
		case i >= fieldUTime && i <= fieldCSTime:
			s.CPU += time.Duration(n) * tick
		case i == fieldThreads:
			s.Threads = int(n)
		case i == fieldStart:
			s.Start = n
		case i == fieldRSS:
			s.RSS = int64(n) * int64(os.Getpagesize())
		case i == fieldCode:
			s.Code = n
		case i == fieldEnv:
			s.EnvStart = n
		case i == fieldEnvEnd:
			s.EnvEnd = n
		}
		if !ok && (i == fieldPPID || i == fieldStart) {
			return Stat{}, false
		}
	}
	return s, true
}

// number parses at most 19 decimal digits, which cannot overflow.
func number(field []byte) (n uint64, ok bool) {
	if len(field) == 0 || len(field) > 19 {
		return 0, false
	}
	for _, c := range field {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = 10*n + uint64(c-'0')
	}
	return n, true
}
