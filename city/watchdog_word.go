package city

// Status words of watchdogs besides the freshness.
const (
	WatchdogCalls     = "calls"     // it has escalated and waits for a user
	WatchdogSuspended = "suspended" // it makes no checks
)

// Calls reports whether it has escalated and no user has acknowledged.
func (w *Watchdog) Calls() bool { return w.Escalated != nil && !w.Escalated.Seen }

// Word returns the status of a watchdog as all outputs show it: whether it calls or is suspended, or otherwise the
// freshness of the heartbeat.
func (w *Watchdog) Word() string {
	switch {
	case w.Calls():
		return WatchdogCalls
	case w.Suspended:
		return WatchdogSuspended
	}
	return string(w.Freshness)
}

// Ill reports whether a watchdog needs attention: it calls, its mode is not the configured one, or the monitored
// agent has been silent for long. A suspended watchdog does not need attention.
func (w *Watchdog) Ill() bool {
	if w.Suspended {
		return w.Calls()
	}
	return w.Calls() || w.Degraded != "" || w.Freshness == VeryStale || w.Freshness == Dead
}
