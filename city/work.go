package city

import (
	"time"

	"gcity/beads"
)

// Automation is one automation as an operator sees it. JSON shape: the API's.
type Automation struct {
	Name        string `json:"name"` // scoped: "x", or "x:rig:demo"
	Description string `json:"description,omitempty"`
	Rig         string `json:"rig,omitempty"`
	Source      string `json:"source"` // its file, relative to the city where it is below it
	Layer       string `json:"layer,omitempty"`

	// "cooldown", "cron", "condition", "event", "manual"; "" = broken
	Gate string `json:"gate"`
	// the gate's own word: "5m0s", "0 3 * * *", a shell line, "bead.closed"
	When    string `json:"when,omitempty"`
	Exec    string `json:"exec,omitempty"`    // the shell line that it runs, or …
	Formula string `json:"formula,omitempty"` // … the formula that it cooks
	Pool    string `json:"pool,omitempty"`    // who works on what the formula makes; qualified

	// a run that takes longer is ended; 0 = broken
	Timeout time.Duration `json:"timeout_ns,omitempty"`
	Retry   int           `json:"retry,omitempty"` // how often a run that failed is tried again
	// "skip", "queue": what becomes of an opening while a run goes
	Overlap string `json:"overlap,omitempty"`

	// it fires by itself though its rig or the city is suspended
	WhileSuspended bool `json:"while_suspended,omitempty"`

	State AutomationState `json:"state"`
	// what its gate says, in words; of a broken one, what is wrong
	Reason   string     `json:"reason"`
	Next     *time.Time `json:"next,omitempty"`     // when it will be due by itself
	Since    *time.Time `json:"since,omitempty"`    // of the run that goes, or of being due
	Failures int        `json:"failures"`           // in a row
	Last     *Run       `json:"last,omitempty"`     // the newest run; it may still go
	Warnings []string   `json:"warnings,omitempty"` // about its file
}

// AutomationState is where an automation stands.
type AutomationState string

const (
	AutomationIdle    AutomationState = "idle"    // its gate is closed
	AutomationDue     AutomationState = "due"     // it waits for a place
	AutomationRunning AutomationState = "running" // a run goes
	AutomationBackoff AutomationState = "backoff" // a run failed, and is tried again
	AutomationOff     AutomationState = "off"     // disabled, or of a suspended rig or city
	AutomationBroken  AutomationState = "broken"  // its file cannot be used
)

// AutomationFailing is the word of an automation whose newest run failed, and AutomationManual that of one which
// only a hand begins.
const (
	AutomationFailing = "failing"
	AutomationManual  = "manual"
)

// Word is how an automation stands, as all that people read say it: its state, but for these two.
func (a *Automation) Word() string {
	switch {
	case a.State == AutomationBackoff || a.State == AutomationIdle && a.Failures > 0:
		return AutomationFailing
	case a.State == AutomationIdle && a.Gate == "manual":
		return AutomationManual
	}
	return string(a.State)
}

// Run is one run of an automation. Its record is a bead, labelled RunLabel + its automation's name.
type Run struct {
	ID         string     `json:"id"` // of the bead
	Automation string     `json:"automation"`
	Reason     string     `json:"reason"`       // why it began
	By         string     `json:"by,omitempty"` // who asked for it, "" = its gate
	Retry      int        `json:"retry,omitempty"`
	Events     int        `json:"events,omitempty"` // that it deals with
	Seq        uint64     `json:"seq,omitempty"`    // of the newest of them
	Opened     time.Time  `json:"opened"`
	Ended      *time.Time `json:"ended,omitempty"`
	// "ok", "failed", "interrupted", RunVoid; "" = it goes; see Ending
	Outcome  string `json:"outcome,omitempty"`
	Code     *int   `json:"code,omitempty"`   // of an exec run that came to its end
	Error    string `json:"error,omitempty"`  // why it failed, where the code does not say it
	Output   string `json:"output,omitempty"` // the end of it, cleaned
	Made     string `json:"made,omitempty"`   // the root of what a formula run made
	TimedOut bool   `json:"timed_out,omitempty"`
}

// RunVoid is the outcome of a run that never was: its record was made after it had been given up.
const RunVoid = "void"

// RunLabel begins the label of an automation's runs, and of what they make.
const RunLabel = "automation-run:"

// PoolLabel begins the label that says which pool a bead is for.
const PoolLabel = "pool:"

// The metadata of a run's bead.
const (
	RunReason   = "reason"
	RunBy       = "by"
	RunRetry    = "retry"
	RunEvents   = "events"
	RunOutcome  = "outcome"
	RunCode     = "code"
	RunError    = "error"
	RunOutput   = "output"
	RunMade     = "made"
	RunTimedOut = "timed_out" // "true" = it was ended at its timeout
)

// RunOf reads a run from its bead.
func RunOf(b beads.Bead) Run { return runOf(b) }

// Work counts what is to be done.
type Work struct {
	Open       int            `json:"open"`
	InProgress int            `json:"in_progress"`
	Pools      map[string]int `json:"pools,omitempty"` // open or in progress, by pool
}

// Automation finds an automation by its scoped name.
func (s *Snapshot) Automation(name string) (*Automation, bool) {
	for i := range s.Automations {
		if s.Automations[i].Name == name {
			return &s.Automations[i], true
		}
	}
	return nil, false
}
