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
	// reserveSize is how many bytes are preallocated behind the end of the active file. No other file can take them,
	// so the log can still be written when the disk is full.
	reserveSize = 1 << 20
	// reserveLow is how much of the reserve may be used before it is filled up again.
	reserveLow = reserveSize / 2
)

// Room says where on a full disk an event may be written.
type Room int

const (
	// LeaveReserve is for events that can be sent again: a full disk refuses them.
	LeaveReserve Room = iota
	// UseReserve is for events that tell of what is done already.
	UseReserve
)

// reserve is the preallocated space behind the end of the active file.
type reserve struct {
	f     *os.File  // the file that it belongs to
	end   int64     // offset up to which space is allocated
	err   error     // the disk has no space for it, nil = the reserve is there
	retry time.Time // it is not tried again before
}

// refill keeps the reserve filled. It does nothing while enough is left. The lock is held.
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
	default: // this file system cannot preallocate
		*r = reserve{f: l.f, end: math.MaxInt64}
	}
}

// release gives the reserve of the active file back, which is about to become a segment.
func (l *Log) release() {
	if info, err := l.f.Stat(); err == nil && info.Size() == l.tail.end {
		// the size stays; on failure a segment takes a megabyte too much
		_ = l.f.Truncate(l.tail.end)
	}
}

// isFull reports whether an error means that there is no space left for the file.
func isFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) ||
		errors.Is(err, syscall.EFBIG)
}
