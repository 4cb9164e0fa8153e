package events

import (
	"errors"
	"fmt"
	"math"
	"os"
	"syscall"
	"time"
)

const (
	// reserveSize is how many bytes are preallocated after the active file, for writes to a full disk.
	reserveSize = 1 << 20
	// reserveLow is how much of the reserve is used before it is refilled.
	reserveLow = reserveSize / 2
)

// Room says whether an event may use the reserve when the disk is full.
type Room int

const (
	// LeaveReserve is for events that the caller can send again. They are rejected when the disk is full.
	LeaveReserve Room = iota
	// UseReserve is for events that report something that has already happened.
	UseReserve
)

// reserve is the preallocated space after the end of the active file.
type reserve struct {
	f     *os.File
	end   int64
	err   error
	retry time.Time
}

// refill extends the reserve if little is left. The caller must hold the lock.
func (l *Log) refill(now time.Time) {
	r := &l.reserve
	if r.f != l.f {
		*r = reserve{f: l.f}
	}
	if r.end-l.tail.end >= reserveSize-reserveLow || now.Before(r.retry) {
		return
	}
	switch err := preallocate(l.f, l.tail.end, reserveSize); {
	case err == nil:
		*r = reserve{f: l.f, end: l.tail.end + reserveSize}
	case isFull(err):
		r.err = fmt.Errorf("cannot reserve %d KiB for the event log: %w", reserveSize>>10, err)
		r.retry = now.Add(maxBackoff)
	default: // the file system does not support preallocation
		*r = reserve{f: l.f, end: math.MaxInt64}
	}
}

func (l *Log) release() {
	if info, err := l.f.Stat(); err == nil && info.Size() == l.tail.end {
		// free the preallocated space; the file's size does not change
		_ = l.f.Truncate(l.tail.end)
	}
}

func isFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) ||
		errors.Is(err, syscall.EFBIG)
}
