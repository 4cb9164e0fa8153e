package watchdog

import "time"

// Chain remembers what beats have done and whether that helped. A deed has failed if the next beat that can tell
// finds no heartbeat since: after a wake that is the next one, unless a new session has begun meanwhile; after a
// start or a restart, and with a new session, the next one that finds the session dead or very stale; one that
// finds it being started or stopped cannot tell. Only a sign of the agent's own makes up for failed ones. The zero
// value: nothing has been done.
type Chain struct {
	Failed int // deeds in a row that did not help
	Wakes  int // of those, the newest ones in a row that were wakes
	// decisions of a triage in a row that did less than the thresholds would, with no heartbeat in between
	Spared int

	did   Decision // that is not settled; "" = none
	at    time.Time
	stamp time.Time // of the newest heartbeat at the newest decision of Spared
}

// Before settles, at a beat, what the ones before have done. v is what the thresholds say now. It reports whether
// the agent has recovered after something had failed.
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

// Spare counts a decision of a triage. v is what the thresholds say at that time, and d is zero for a person's
// decision, which no threshold overrules.
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

// acts reports whether a decision is a remedy for an agent that is dead or very stale.
func (d Decision) acts() bool { return d == Start || d == Wake || d == Restart }

// After takes what a beat has done.
func (c Chain) After(d Decision, now time.Time) Chain {
	if d.acts() {
		c.did, c.at = d, now
	}
	return c
}
