package effect

import (
	"encoding/json"
	"time"

	"gcity/events"
)

// LoggedRuns contains the information of the newest log events about runs.
type LoggedRuns struct {
	// time of the oldest of these events; the log may contain older ones
	Since time.Time
	Fired map[string]bool // IDs of runs with an event of their start
	Ended map[string]bool // IDs of runs with an event of their end
}

// Retry describes the next retry of a failed run.
type Retry struct {
	Try int       `json:"try"` // number of the retry
	Of  int       `json:"of"`
	At  time.Time `json:"at"`
}

// RunsIn collects the information of events about runs. The newest event must be first.
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
