// Package wallclock helps tests simulate changes of the wall clock.
package wallclock

import (
	"testing"
	"time"
	"unsafe"
)

// Shift returns a time with the monotonic reading of t and a wall-clock time that is later by d, in whole seconds. With
// such times, a test simulates that the wall clock was set, or that the computer slept. Package time always changes
// both parts of a time.
func Shift(tb testing.TB, t time.Time, d time.Duration) time.Time {
	tb.Helper()
	shifted := t
	const second = 1 << 30 // in the field time.Time.wall of a time that has a monotonic reading
	*(*uint64)(unsafe.Pointer(&shifted)) += uint64(int64(d/time.Second) * second)
	if !shifted.Equal(t) || !shifted.Round(0).Equal(t.Round(0).Add(d)) {
		tb.Fatalf("%v cannot be shifted by %v: got %v", t, d, shifted)
	}
	return shifted
}
