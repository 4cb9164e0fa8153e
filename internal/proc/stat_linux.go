package proc

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"time"
)

// Stat is what is needed of /proc/<pid>/stat.
type Stat struct {
	State byte // 'R', 'S', 'T', 'Z', …
	PPID  int  // of the process, not of a thread
	// process group, session, and the foreground group of its terminal; 0 = none
	Group, Session, Foreground int
	// clock ticks since boot; with the boot's id it tells two users of one pid apart
	Start uint64
	// of all its threads, and of the ended children that it waited for, and so on below these
	CPU time.Duration
	RSS int64 // bytes, as the kernel counts them: roughly

	// The addresses between which its environment is; both are 0 in the middle of an exec, and for the processes of
	// others.
	EnvStart, EnvEnd uint64

	// Where its program is; 0 in an exec until the environment is complete, for those that the kernel tells nothing
	// of it, 1 for the processes of others.
	Code uint64
}

// tick is the kernel's unit of processor time in /proc, the same on all machines that Go runs on.
const tick = 10 * time.Millisecond

// The fields of /proc/<pid>/stat behind the command's name.
const (
	fieldPPID       = 1
	fieldGroup      = 2
	fieldSession    = 3
	fieldForeground = 5
	fieldUTime      = 11 // the first of four: user and system, its own and its children's
	fieldCSTime     = 14
	fieldStart      = 19
	fieldRSS        = 21 // in pages
	fieldCode       = 23
	fieldEnv        = 47 // the first of two addresses
	fieldEnvEnd     = 48
)

// ReadStat reads a process's state. The error is fs.ErrNotExist (or ESRCH) if there is no such process.
func ReadStat(pid int) (Stat, error) {
	data, err := slurp("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return Stat{}, err
	}
	s, ok := parseStat(data)
	if !ok {
		return s, fmt.Errorf("/proc/%d/stat: cannot understand %q", pid, data)
	}
	return s, nil
}

// parseStat reads /proc/<pid>/stat. It allocates nothing: it is done for every process of the machine.
func parseStat(data []byte) (s Stat, ok bool) {
	// The command's name is in parentheses and may itself contain any of them: fields count from the last one.
	end := bytes.LastIndexByte(data, ')')
	if end < 0 || len(data) < end+3 {
		return s, false
	}
	data = data[end+2:]
	s.State = data[0]
	for i := 0; i <= fieldEnvEnd; i++ {
		var field []byte
		field, data, _ = bytes.Cut(data, []byte{' '})
		n, ok := number(field) // 0 if it is none
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

// number reads decimal digits, at most as many as never overflow.
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
