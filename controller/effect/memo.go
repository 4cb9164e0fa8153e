package effect

import (
	"time"

	"gcity/city"
	"gcity/restart"
)

// Memo is what is kept of one agent. Its times are the wall clock's, for want of another that outlives a process.
type Memo struct {
	// of what it was started with: the same name with another is another agent
	Fingerprint string `json:"fingerprint"`
	restart.History
	// it waits for Until: backoff, quarantined or failed
	State   city.State `json:"state,omitempty"`
	Until   time.Time  `json:"until,omitzero"`
	Since   time.Time  `json:"since,omitzero"`
	Why     string     `json:"why,omitempty"`
	Struck  int        `json:"struck,omitempty"`  // crashes that led to the quarantine
	Because string     `json:"because,omitempty"` // why it will be started
	End     string     `json:"end,omitempty"`     // the id of the newest life that is counted in it
}
