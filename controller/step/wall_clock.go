package step

import "time"

// WallClock detects changes of the wall clock.
type WallClock struct {
	set time.Time // latest time when it was set; initially the first call of WasSet
}

// WasSet reports whether the wall clock was set, or the computer has slept, since WasSet last returned true.
func (c *WallClock) WasSet(now time.Time) bool {
	first := c.set.IsZero()
	by := now.Round(0).Sub(c.set.Round(0)) - now.Sub(c.set)
	if !first && by.Abs() < time.Second {
		return false
	}
	c.set = now
	return !first
}
