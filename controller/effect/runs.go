package effect

import (
	"time"
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
