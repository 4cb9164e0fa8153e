package city

import (
	"maps"
	"time"
)

// Automation is an automation in a snapshot.
type Automation struct {
	Name        string `json:"name"` // scoped: "x", or "x:rig:demo"
	Description string `json:"description,omitempty"`
	Rig         string `json:"rig,omitempty"`
	// relative to the city if possible
	Source string `json:"source"`
	Layer  string `json:"layer,omitempty"`

	Gate string `json:"gate"` // one of AutomationGates; "" = broken
	// the gate's condition: "5m0s", "0 3 * * *", a shell line, "bead.closed"
	When string `json:"when,omitempty"`
	// shell line; "" = a run uses Formula
	Exec string `json:"exec,omitempty"`
	// turned into work; "" = a run uses Exec
	Formula string `json:"formula,omitempty"`
	// gets the formula's work
	Pool string `json:"pool,omitempty"`

	// of a run; 0 = the automation is broken
	Timeout time.Duration `json:"timeout_ns,omitempty"`
	Retry   int           `json:"retry,omitempty"` // number of retries after a failed run
	// what happens if the automation becomes due during a run: "skip" or "queue"
	Overlap string `json:"overlap,omitempty"`

	// the gate starts runs even while the rig or the city is suspended
	WhileSuspended bool `json:"while_suspended,omitempty"`

	// by the configuration; a request to run it is rejected
	Disabled bool `json:"disabled,omitempty"`

	State AutomationState `json:"state"`
	// state of the gate in words, or the error of a broken automation
	Reason string     `json:"reason"`
	Next   *time.Time `json:"next,omitempty"`
	// when the current run started, or when the automation became due
	Since    *time.Time `json:"since,omitempty"`
	Failures int        `json:"failures"`       // consecutive
	Last     *Run       `json:"last,omitempty"` // can be in progress
	// Last is nil because the records of earlier runs have not been read
	LastUnknown bool `json:"last_unknown,omitempty"`

	Warnings []string `json:"warnings,omitempty"` // about the automation's file
}

// AutomationState is the state of an automation.
type AutomationState string

const (
	AutomationIdle    AutomationState = "idle"    // the gate is closed
	AutomationDue     AutomationState = "due"     // waiting for a free slot
	AutomationRunning AutomationState = "running" // a run is in progress
	AutomationBackoff AutomationState = "backoff" // a run failed and will be retried
	AutomationOff     AutomationState = "off"     // disabled, or suspended with the rig or the city
	AutomationBroken  AutomationState = "broken"  // the automation's file cannot be used
)

// AutomationStates lists all states of automations.
var AutomationStates = [...]AutomationState{AutomationIdle, AutomationDue, AutomationRunning,
	AutomationBackoff, AutomationOff, AutomationBroken}

// AutomationGates lists all gates of automations.
var AutomationGates = [...]string{"cooldown", "cron", "condition", "event", "manual"}

// Status words in addition to the states.
const (
	AutomationFailing = "failing"
	AutomationManual  = "manual"
)

// Word returns the status of an automation: its state, AutomationFailing or AutomationManual.
func (a *Automation) Word() string {
	switch {
	case a.State == AutomationBackoff || a.State == AutomationIdle && a.Failures > 0:
		return AutomationFailing
	case a.State == AutomationIdle && a.Gate == "manual":
		return AutomationManual
	}
	return string(a.State)
}

// Run is one run of an automation, recorded in a bead.
type Run struct {
	ID         string `json:"id"` // of the bead that records the run
	Automation string `json:"automation"`
	Reason     string `json:"reason"`
	// user or agent that requested it; "" = the gate
	By     string     `json:"by,omitempty"`
	Retry  int        `json:"retry,omitempty"`
	Events int        `json:"events,omitempty"` // number of events that the run handles
	Seq    uint64     `json:"seq,omitempty"`    // of the newest of these events
	Depth  int        `json:"depth,omitempty"`  // see automation.Depth
	Opened time.Time  `json:"opened"`
	Ended  *time.Time `json:"ended,omitempty"`
	// "ok", "failed", "interrupted", RunVoid; "" = in progress; see Ending
	Outcome   string `json:"outcome,omitempty"`
	Code      *int   `json:"code,omitempty"`   // exit code, if an exec run finished
	Error     string `json:"error,omitempty"`  // other than a nonzero exit code
	Output    string `json:"output,omitempty"` // end of the output, without control sequences
	Made      string `json:"made,omitempty"`   // root of the beads that a formula run created
	MadeTitle string `json:"made_title,omitempty"`
	TimedOut  bool   `json:"timed_out,omitempty"`
	Canceled  bool   `json:"canceled,omitempty"` // a user ended it
}

// Creation returns the ID and the title of the bead that the run created, or "".
func (r *Run) Creation() string {
	if r.Made == "" || r.MadeTitle == "" {
		return r.Made
	}
	return r.Made + ": " + r.MadeTitle
}

// RunVoid is the outcome of a run that was canceled before its start.
const RunVoid = "void"

// RunLabel is the prefix of the label on an automation's runs and their beads. The automation's name follows it.
const RunLabel = "automation-run:"

// PoolLabel is the prefix of the label that assigns a bead to a pool.
const PoolLabel = "pool:"

// Metadata keys of the bead that records a run.
const (
	RunReason   = "reason"
	RunBy       = "by"
	RunRetry    = "retry"
	RunEvents   = "events"
	RunDepth    = "depth"
	RunOutcome  = "outcome"
	RunCode     = "code"
	RunError    = "error"
	RunOutput   = "output"
	RunMade     = "made"
	RunTitle    = "made_title"
	RunTimedOut = "timed_out" // "true" = it was stopped at its timeout
	RunCanceled = "canceled"  // "true" = a user ended it
)

// MadeBy is the metadata key of a molecule for the ID of the run that created it.
const MadeBy = "run_id"

// MadeSteps is the metadata key of a molecule that a run created, for the number of its steps.
const MadeSteps = "run_steps"

// Work counts unfinished work.
type Work struct {
	Open       int `json:"open"`
	Ready      int `json:"ready"` // open beads without unmet needs
	InProgress int `json:"in_progress"`
	// number of open or in-progress beads, by pool
	Pools map[string]int `json:"pools,omitempty"`
}

// Same reports whether two counts are equal.
func (w Work) Same(x Work) bool {
	return w.Open == x.Open && w.Ready == x.Ready && w.InProgress == x.InProgress &&
		maps.Equal(w.Pools, x.Pools)
}

// Automation returns the automation with this scoped name.
func (s *Snapshot) Automation(name string) (*Automation, bool) {
	return find(s.Automations, func(a *Automation) bool { return a.Name == name })
}
