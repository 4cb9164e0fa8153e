package wire

import (
	"time"

	"golang.org/x/sys/unix"
)

// Clock converts this process's times to CLOCK_MONOTONIC and back. All processes share that clock, so intervals do not
// depend on the wall clock (L13).
type Clock struct {
	at   time.Time
	mono int64
}

// NewClock reads both clocks. The Clock does not read them again.
func NewClock() Clock {
	var ts unix.Timespec
	// cannot fail for this clock and a valid pointer
	_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts)
	return Clock{time.Now(), ts.Nano()}
}

// Mono returns t in CLOCK_MONOTONIC nanoseconds.
func (c Clock) Mono(t time.Time) int64 { return c.mono + int64(t.Sub(c.at)) }

// Time is the inverse of Mono. For 0, it returns the zero time.
func (c Clock) Time(mono int64) time.Time {
	if mono == 0 {
		return time.Time{}
	}
	return c.at.Add(time.Duration(mono - c.mono))
}
