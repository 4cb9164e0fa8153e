package wire

import (
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// Clock converts this process's times to CLOCK_MONOTONIC and back. All processes share that clock, and changes of the
// wall clock do not affect it (L13).
type Clock struct {
	at   atomic.Pointer[time.Time]
	mono int64
}

// NewClock reads both clocks, and retries if the thread is interrupted between the two.
func NewClock() *Clock {
	const exact = 20 * time.Microsecond
	c, least := &Clock{}, time.Hour
	for range 4 {
		before := time.Now()
		mono := nanoseconds(unix.CLOCK_MONOTONIC)
		gap := time.Since(before)
		if gap < least {
			least, c.mono = gap, mono
			c.at.Store(new(before.Add(gap / 2)))
		}
		if gap < exact {
			break
		}
	}
	return c
}

// Mono returns t in CLOCK_MONOTONIC nanoseconds.
func (c *Clock) Mono(t time.Time) int64 { return c.mono + int64(t.Sub(*c.at.Load())) }

// Time is the inverse of Mono. For 0, it returns the zero time. The result is the same for each call until the wall
// clock is set or the computer sleeps.
func (c *Clock) Time(mono int64) time.Time {
	if mono == 0 {
		return time.Time{}
	}
	at, now := *c.at.Load(), time.Now()
	// a difference below a second is not corrected, because the two readings of each time are not exactly simultaneous
	if current := now.Add(-now.Sub(at)); current.Round(0).Sub(at.Round(0)).Abs() >= time.Second {
		at = current
		c.at.Store(&at)
	}
	return at.Add(time.Duration(mono - c.mono))
}

// TimeSinceBoot returns the time that is boot nanoseconds after the boot, including the time the computer was asleep.
func TimeSinceBoot(boot int64) time.Time {
	return time.Now().Add(time.Duration(boot - nanoseconds(unix.CLOCK_BOOTTIME)))
}

func nanoseconds(clock int32) int64 {
	var ts unix.Timespec
	// cannot fail for a clock of the kernel and a valid pointer
	_ = unix.ClockGettime(clock, &ts)
	return ts.Nano()
}
