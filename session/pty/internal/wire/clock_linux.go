package wire

import (
	"time"

	"golang.org/x/sys/unix"
)

// Clock converts times of this process to CLOCK_MONOTONIC and back. All processes of one boot share that clock, so
// an interval between two of them does not follow the wall clock (law L13).
type Clock struct {
	at   time.Time
	mono int64
}

// NewClock reads both clocks once.
func NewClock() Clock {
	var ts unix.Timespec
	// It cannot fail with this clock and a valid pointer.
	_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts)
	return Clock{time.Now(), ts.Nano()}
}

// Mono returns a time in nanoseconds of CLOCK_MONOTONIC.
func (c Clock) Mono(t time.Time) int64 { return c.mono + int64(t.Sub(c.at)) }

// Time is the inverse of Mono; 0 is the zero time.
func (c Clock) Time(mono int64) time.Time {
	if mono == 0 {
		return time.Time{}
	}
	return c.at.Add(time.Duration(mono - c.mono))
}
