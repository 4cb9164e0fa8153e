package lifecycle

import "time"

// passedLimit leaves time for a slow session list between the check and the stop.
const passedLimit = 2 * time.Minute

// Check is the latest check whether a provider can run sessions, or whether an agent can start.
type Check struct {
	Busy bool      // a check is in flight
	Why  string    // reason of the latest failure; "" = the latest check has passed
	At   time.Time // end of the latest check; zero = its result must not be used
	step uint64    // step in which the latest check began
}

// Begin reports whether a check must be carried out now, and then marks c as busy. A result is out of date if its check
// began before the step since. The interval between failed checks is retry.
func (c *Check) Begin(now time.Time, step, since uint64, retry time.Duration) bool {
	limit := passedLimit
	if c.Why != "" {
		limit = retry
	}
	if c.Busy || !c.At.IsZero() && c.step >= since && now.Sub(c.At) < limit {
		return false
	}
	c.Busy, c.step = true, step
	return true
}

// Ended records the result of a check.
func (c *Check) Ended(now time.Time, err error) {
	c.Busy, c.At, c.Why = false, now, ""
	if err != nil {
		c.Why = err.Error()
	}
}
