package watchdog

import "time"

// Chain records whether a watchdog's actions have helped. A wake has failed if the next beat finds no new heartbeat. A
// start or restart has failed if a beat finds the session dead or very stale. The zero value is a chain without
// actions.
type Chain struct {
	Failed int // consecutive actions that did not help
	Wakes  int // consecutive failed wakes
	// consecutive decisions of a triage agent that were milder than those of the thresholds
	Spared int

	did   Decision // the latest action, until it is known whether it helped; "" = none
	at    time.Time
	stamp time.Time // latest heartbeat when Spared last increased
}

// Before decides at the start of a beat whether the latest action has helped. v is the thresholds' verdict. recovered
// is true if the agent is healthy again after failed actions.
func (c Chain) Before(heartbeat Sighting, f Facts, v Verdict) (_ Chain, recovered bool) {
	if c.did != "" && heartbeat.After(c.at) || c.Failed > 0 && v.Freshness == Fresh &&
		!f.NoHeartbeat {
		return Chain{Spared: c.Spared, stamp: c.stamp}, c.Failed > 0
	}
	switch {
	case c.did == "", f.Starting, f.Stopping:
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

// Spare updates Spared after decision d of a triage agent. The parameter v is the thresholds' verdict. A user's
// decision (d is "") resets the count.
func (c Chain) Spare(heartbeat Sighting, v Verdict, d Decision) Chain {
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

func (d Decision) acts() bool { return d == Start || d == Wake || d == Restart }

// After returns the chain after a beat with the decision d. It ignores decisions that do not act on the agent.
func (c Chain) After(d Decision, now time.Time) Chain {
	if d.acts() {
		c.did, c.at = d, now
	}
	return c
}
