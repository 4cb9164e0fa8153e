package city

// Status words of watchdogs, in addition to the Freshness values.
const (
	WatchdogEscalated = "calls"     // the watchdog has escalated and is waiting for a user
	WatchdogSuspended = "suspended" // the watchdog does not run checks
)

// IsEscalated reports whether the watchdog has escalated and no user has acknowledged the escalation.
func (w *Watchdog) IsEscalated() bool { return w.Escalated != nil && !w.Escalated.Seen }

// StatusWord returns the status of a watchdog as all outputs show it. It is the freshness of the heartbeat, unless the
// watchdog has escalated or is suspended.
func (w *Watchdog) StatusWord() string {
	switch {
	case w.IsEscalated():
		return WatchdogEscalated
	case w.Suspended:
		return WatchdogSuspended
	}
	return string(w.Freshness)
}

// NeedsAttention reports whether a watchdog needs attention: it has escalated, its mode is not the configured one, or
// the monitored agent has been silent for too long. A suspended watchdog needs attention only if it has escalated.
func (w *Watchdog) NeedsAttention() bool {
	if w.Suspended {
		return w.IsEscalated()
	}
	return w.IsEscalated() || w.Degraded != "" || w.Freshness == VeryStale || w.Freshness == Dead
}
