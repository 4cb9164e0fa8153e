package effect

import (
	"time"

	"gcity/city"
	"gcity/restart"
)

// Memo is the saved crash history of one agent. Its times are wall-clock times, because only that clock continues
// after a process has ended.
type Memo struct {
	// fingerprint of the agent's specification; an agent with another one has no history
	Fingerprint string `json:"fingerprint"`
	restart.History
	// backoff, quarantined or failed, until Until; "" = the agent does not wait
	State   city.State `json:"state,omitempty"`
	Until   time.Time  `json:"until,omitzero"`
	Since   time.Time  `json:"since,omitzero"`
	Why     string     `json:"why,omitempty"`
	Struck  int        `json:"struck,omitempty"`  // number of crashes that led to the quarantine
	Because string     `json:"because,omitempty"` // reason of the next start
	End     string     `json:"end,omitempty"`     // ID of the newest session that was counted
}
