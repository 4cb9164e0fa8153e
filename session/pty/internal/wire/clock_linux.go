package wire

import (
	"time"

	"golang.org/x/sys/unix"
)

// Clock converts times of this process to CLOCK_MONOTONIC and back. CLOCK_MONOTONIC is the same for all processes
// until the next boot. So an interval between times of two processes does not depend on the wall clock (L13).
type Clock struct {
	at   time.Time
	mono int64
}

// NewClock reads both clocks once.
func NewClock() Clock {
	var ts unix.Timespec
	// cannot fail for this clock and a valid pointer
	_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts)
	return Clock{time.Now(), ts.Nano()}
}

// Mono returns a time in nanoseconds of CLOCK_MONOTONIC.
func (c Clock) Mono(t time.Time) int64 { return c.mono + int64(t.Sub(c.at)) }

// Time is the inverse of Mono. It returns the zero time for 0.
func (c Clock) Time(mono int64) time.Time {
	if mono == 0 {
		return time.Time{}
	}
	return c.at.Add(time.Duration(mono - c.mono))
}
