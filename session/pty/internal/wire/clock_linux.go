package wire

import (
	"time"

	"golang.org/x/sys/unix"
)

// Clock converts this process's times to CLOCK_MONOTONIC and back. All processes share that clock, and changes of the
// wall clock do not affect it (L13).
type Clock struct {
	at   time.Time
	mono int64
}

// NewClock reads both clocks, and retries if the thread is interrupted between the two.
func NewClock() (c Clock) {
	const exact = 20 * time.Microsecond
	least := time.Hour
	for range 4 {
		var ts unix.Timespec
		before := time.Now()
		// cannot fail for this clock and a valid pointer
		_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts)
		gap := time.Since(before)
		if gap < least {
			least, c = gap, Clock{before.Add(gap / 2), ts.Nano()}
		}
		if gap < exact {
			break
		}
	}
	return c
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
