package city

// Status words for watchdogs, in addition to the Freshness values.
const (
	WatchdogEscalated = "calls" // waits for a user
	WatchdogSuspended = "suspended"
)

// IsEscalated reports whether the watchdog has escalated and no user has acknowledged that.
func (w *Watchdog) IsEscalated() bool { return w.Escalated != nil && !w.Escalated.Seen }

// StatusWord returns the status that users see.
func (w *Watchdog) StatusWord() string {
	switch {
	case w.IsEscalated():
		return WatchdogEscalated
	case w.Suspended:
		return WatchdogSuspended
	}
	return string(w.Freshness)
}

// NeedsAttention reports whether a user should look at a watchdog. If it is suspended, only an escalation counts.
func (w *Watchdog) NeedsAttention() bool {
	if w.Suspended {
		return w.IsEscalated()
	}
	return w.IsEscalated() || w.Degraded != "" || w.Freshness == VeryStale || w.Freshness == Dead
}
