package watchdog

import "time"

// Chain records the actions of a watchdog's beats and whether they helped. An action has failed if no heartbeat was
// seen up to the next beat that can judge it. After a wake, that is the next beat, unless a new session has
// started. After a start or a restart, and in a new session, it is the next beat that finds the session dead or
// very stale. A beat during a start or stop judges nothing. Only a heartbeat of the agent itself resets the
// failures. The zero value is a chain without actions.
type Chain struct {
	Failed int // actions in a row that did not help
	Wakes  int // the newest of those that were wakes in a row
	// triage decisions in a row that did less than the thresholds ask for, without a heartbeat in between
	Spared int

	did   Decision // the action to be judged; "" = none
	at    time.Time
	stamp time.Time // time of the newest heartbeat at the last counted decision of Spared
}

// Before judges the last action at the start of a beat. v is the verdict of the thresholds. It reports whether the
// agent has recovered after failed actions.
func (c Chain) Before(heartbeat Sight, f Facts, v Verdict) (_ Chain, recovered bool) {
	if c.did != "" && heartbeat.After(c.at) || c.Failed > 0 && v.Freshness == Fresh && !f.Never {
		return Chain{Spared: c.Spared, stamp: c.stamp}, c.Failed > 0
	}
	switch {
	case c.did == "", f.Starts, f.Stops:
	case c.did == Wake && v.Freshness != Fresh, v.Decision == Start, v.Decision == Wake,
		v.Decision == Restart:
		c.Failed++
		if c.Wakes++; c.did != Wake {
			c.Wakes = 0
		}
		c.did = ""
	}
	return c, false
}

// Spare counts a triage decision. v is the verdict of the thresholds at that time. d is zero for a person's
// decision, which the thresholds never overrule.
func (c Chain) Spare(heartbeat Sight, v Verdict, d Decision) Chain {
	if d == "" || !v.Decision.acts() || d.acts() {
		c.Spared = 0
		return c
	}
	if c.Spared > 0 && !heartbeat.Stamp.Equal(c.stamp) {
		c.Spared = 0
	}
	c.Spared++
	c.stamp = heartbeat.Stamp
	return c
}

// acts reports whether a decision tries to revive an agent that is dead or very stale.
func (d Decision) acts() bool { return d == Start || d == Wake || d == Restart }

// After records the decision of a beat if it tried to revive the agent.
func (c Chain) After(d Decision, now time.Time) Chain {
	if d.acts() {
		c.did, c.at = d, now
	}
	return c
}
