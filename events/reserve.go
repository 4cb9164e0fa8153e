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
	// reserveSize is the number of bytes that are preallocated after the end of the active file. No other file can
	// use them, so the log can still be written when the disk is full.
	reserveSize = 1 << 20
	// reserveLow is how much of the reserve may be used before it is filled again.
	reserveLow = reserveSize / 2
)

// Room says whether an event may use the reserve when the disk is full.
type Room int

const (
	// LeaveReserve is for events that can be sent again: they are refused when the disk is full.
	LeaveReserve Room = iota
	// UseReserve is for events about something that has happened already.
	UseReserve
)

// reserve is the preallocated space after the end of the active file.
type reserve struct {
	f     *os.File  // the file that it belongs to
	end   int64     // offset of the end of the allocated space
	err   error     // the disk has no space for it, nil = the reserve is allocated
	retry time.Time // time of the next try
}

// refill allocates the reserve unless enough is left. The lock is held.
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

// release frees the reserve of the active file, which is about to become a segment.
func (l *Log) release() {
	if info, err := l.f.Stat(); err == nil && info.Size() == l.tail.end {
		// the size does not change; if it fails, the segment occupies a megabyte too much
		_ = l.f.Truncate(l.tail.end)
	}
}

// isFull reports whether an error means that the disk or quota is full.
func isFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) ||
		errors.Is(err, syscall.EFBIG)
}
