package city

// What people read of a watchdog besides its freshness.
const (
	WatchdogCalls     = "calls"     // for a person, and none has answered
	WatchdogSuspended = "suspended" // it does not beat
)

// Calls reports whether it calls for a person, and nobody has said that they have seen it.
func (w *Watchdog) Calls() bool { return w.Escalated != nil && !w.Escalated.Seen }

// Word is how a watchdog stands, as all that people read say it: whether it calls, else how fresh the watched is.
func (w *Watchdog) Word() string {
	switch {
	case w.Calls():
		return WatchdogCalls
	case w.Suspended:
		return WatchdogSuspended
	}
	return string(w.Freshness)
}

// Ill reports whether somebody should look at it: it calls, it is not judged as declared, or the watched has been
// silent for long. One that does not beat says nothing of anybody.
func (w *Watchdog) Ill() bool {
	if w.Suspended {
		return w.Calls()
	}
	return w.Calls() || w.Degraded != "" || w.Freshness == VeryStale || w.Freshness == Dead
}
