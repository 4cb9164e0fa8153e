package machine

import "time"

type clock struct {
	stalledUntil time.Time // end of the program's latest stall; zero = no stall
	wallSet      time.Time // latest time when it was set; initially the first step
}

// wasSet reports whether the wall clock was set, or the computer has slept, since wasSet last returned true.
func (c *clock) wasSet(now time.Time) bool {
	first := c.wallSet.IsZero()
	by := now.Round(0).Sub(c.wallSet.Round(0)) - now.Sub(c.wallSet)
	if !first && by.Abs() < time.Second {
		return false
	}
	c.wallSet = now
	return !first
}

// correctDeadlines corrects the wall-clock times of the deadlines after the wall clock was set. Intervals are monotonic
// (L13), but clients and the next controller receive only the wall-clock time of a deadline.
func (a *record) correctDeadlines(now time.Time) {
	deadlines := []*time.Time{&a.until, &a.restart.until}
	if a.drain.current != nil {
		deadlines = append(deadlines, &a.drain.current.deadline)
	}
	for _, at := range deadlines {
		if at.After(now) {
			*at = now.Add(at.Sub(now))
		}
	}
}
