package effect

import (
	"encoding/json"
	"time"

	"gcity/events"
)

// LoggedRuns summarizes the newest log events about runs.
type LoggedRuns struct {
	// time of the oldest of these events; the log may contain older ones
	Since time.Time
	Fired map[string]bool // IDs of runs with a start event
	Ended map[string]bool // IDs of runs with an end event
}

// Retry describes the next retry of a failed run.
type Retry struct {
	Try int       `json:"try"` // number of the retry
	Of  int       `json:"of"`
	At  time.Time `json:"at"`
}

// RunsIn summarizes events about runs. The newest event must be first.
func RunsIn(newest []events.Event) *LoggedRuns {
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
