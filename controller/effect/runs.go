package effect

import (
	"encoding/json"
	"time"

	"gcity/events"
)

// LoggedRuns is what the newest events say of runs.
type LoggedRuns struct {
	// of the oldest of these events: what happened before may be in the log too
	Since time.Time
	Fired map[string]bool // ids of the runs whose beginning is among them
	Ended map[string]bool // and of those whose end is
}

// Retry is when a run that failed is tried again.
type Retry struct {
	Try int       `json:"try"` // of so many …
	Of  int       `json:"of"`
	At  time.Time `json:"at"`
}

// TellsOf returns what some events, the newest first, say of runs.
func TellsOf(newest []events.Event) *LoggedRuns {
	t := &LoggedRuns{Fired: map[string]bool{}, Ended: map[string]bool{}}
	for i := range newest {
		e := &newest[i]
		of := t.Ended
		switch t.Since = e.TS; e.Type {
		case events.AutomationFired:
			of = t.Fired
		case events.AutomationCompleted, events.AutomationFailed:
		default:
			continue
		}
		var about struct{ Run string }
		if json.Unmarshal(e.Payload, &about) == nil {
			of[about.Run] = true
		}
	}
	return t
}
