package effect

import (
	"time"

	"gcity/city"
	"gcity/restart"
)

// Memo is the crash history of one agent. Its times use the wall clock, the only clock that outlives a process.
type Memo struct {
	// of its specification: the same name with another fingerprint is another agent
	Fingerprint string `json:"fingerprint"`
	restart.History
	// it waits until Until: backoff, quarantined or failed
	State   city.State `json:"state,omitempty"`
	Until   time.Time  `json:"until,omitzero"`
	Since   time.Time  `json:"since,omitzero"`
	Why     string     `json:"why,omitempty"`
	Struck  int        `json:"struck,omitempty"`  // crashes that led to the quarantine
	Because string     `json:"because,omitempty"` // why it will start
	End     string     `json:"end,omitempty"`     // ID of the newest session that is counted in it
}
