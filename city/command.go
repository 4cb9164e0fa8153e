package city

import (
	"encoding/json"
	"time"

	"gcity/beads"
	"gcity/events"
)

// Command is an operation on a city. The set of commands is closed.
type Command interface {
	Verb() string   // the command's name in URLs and on the command line
	Target() string // agent, pool, rig, automation or bead; "" = the city
}

type (
	// Restart stops an agent's session and starts a new one. This does not count as a crash.
	Restart struct {
		Agent string `json:"-"`
	}
	// Stop stops an agent's session and suspends the agent until it is resumed.
	Stop struct {
		Agent string `json:"-"`
	}
	// Kill kills an agent's session immediately. The agent then restarts.
	Kill struct {
		Agent string `json:"-"`
		// do not wait for the session's host to confirm the exit
		Force bool `json:"force,omitempty"`
	}
	// Suspend sets the suspended flag in the configuration. Agent "" = the whole city.
	Suspend struct {
		Agent string `json:"-"`
	}
	// Resume removes the suspended flag. Agent "" = the whole city.
	Resume struct {
		Agent string `json:"-"`
	}
	// Release ends an agent's quarantine or backoff and resets its crash history.
	Release struct {
		Agent string `json:"-"`
	}
	// Interrupt sends Ctrl-C to the agent's terminal.
	Interrupt struct {
		Agent string `json:"-"`
	}
	// Clear deletes the agent's stored output.
	Clear struct {
		Agent string `json:"-"`
	}
	// RequestRestart is an agent's request to be restarted.
	RequestRestart struct {
		Agent string `json:"-"`
	}
	// Drain asks an agent to finish its work. The session stops when the agent acknowledges the drain, or at the
	// deadline. After a Final drain, only Undrain, Restart, Release or a change to the configuration starts a new
	// session.
	Drain struct {
		Agent string `json:"-"`
		Final bool   `json:"final,omitempty"`
		// why the agent's host wants the drain; "" = a user wants it. With a reason, the agent restarts regardless of
		// its policy.
		Why string `json:"why,omitempty"`
	}
	// Undrain cancels a Drain. After a Final drain, a new session starts.
	Undrain struct {
		Agent string `json:"-"`
	}
	// DrainAck reports that an agent has finished its work.
	DrainAck struct {
		Agent string `json:"-"`
	}
	// Scale sets a pool's size within its bounds. Auto returns control to the pool's check.
	Scale struct {
		Pool string `json:"-"`
		Size int    `json:"size"`
		Auto bool   `json:"auto,omitempty"`
	}
	// RestartPool restarts all wanted members of a pool at the same time, or one by one if Rolling is set. It fails if
	// a member does not start, or exits early.
	RestartPool struct {
		Pool    string `json:"-"`
		Rolling bool   `json:"rolling,omitempty"`
	}
	// CheckPool runs a pool's check now. The command is done when the check has finished.
	CheckPool struct {
		Pool string `json:"-"`
	}
	// SuspendRig sets a rig's suspended flag in the configuration.
	SuspendRig struct {
		Rig string `json:"-"`
	}
	// ResumeRig removes a rig's suspended flag.
	ResumeRig struct {
		Rig string `json:"-"`
	}
	// Nudge types text into an agent's terminal and submits it. It waits until the agent is ready and the input line is
	// empty.
	Nudge struct {
		Agent string `json:"-"`
		Text  string `json:"text"`
		// ignore a draft on the input line
		Now bool `json:"now,omitempty"`
		// number of automation runs that led to the nudge
		Depth int `json:"depth,omitempty"`
	}
	// Unsend cancels queued nudges.
	Unsend struct {
		Agent string `json:"-"`
		ID    uint64 `json:"id,omitempty"` // 0 = all nudges queued for the agent
	}
	// SendKeys sends named keys to an agent's terminal.
	SendKeys struct {
		Agent string   `json:"-"`
		Keys  []string `json:"keys"`
	}
	// Fire starts a run of an automation, even if its gate is closed.
	Fire struct {
		Automation string `json:"-"` // scoped name
		By         string `json:"by,omitempty"`
	}
	// EndRun stops an automation's current run. The run is not retried.
	EndRun struct {
		Automation string `json:"-"` // scoped name
		By         string `json:"by,omitempty"`
	}
	// CreateBead creates a bead.
	CreateBead struct {
		// The bead is stored in the store of this rig; "" = the city's store. A digest is always stored with its wisp.
		Rig  string     `json:"rig,omitempty"`
		Bead beads.Bead `json:"bead"`
	}
	// UpdateBead changes a bead.
	UpdateBead struct {
		ID    string      `json:"-"`
		Patch beads.Patch `json:"patch"`
		// also close a molecule that has open steps, and leave the steps open
		Force bool `json:"force,omitempty"`
	}
	// Reload reads the configuration now. Confirm applies a configuration that is waiting for confirmation.
	Reload struct {
		Confirm bool `json:"confirm,omitempty"`
		// revision to confirm; "" = the configuration that is waiting
		Revision string `json:"revision,omitempty"`
	}
	// Emit writes a user-defined event.
	Emit struct {
		Event events.Event `json:"event"`
	}
	// Shutdown stops the controller and, unless Leave is set, its agents.
	Shutdown struct {
		Leave bool `json:"leave,omitempty"`
	}
)

// ResponseLimit returns how long a client waits for the response to a command. The city responds to a command that
// stops agents only after they have exited, which can take as long as `shutdown_timeout`. The response to a restart
// comes after the start, which waits up to ten minutes while the program asks a question.
func ResponseLimit(c Command) time.Duration {
	switch c.(type) {
	case Restart, Stop, Kill, Suspend, SuspendRig, RestartPool, Shutdown:
		return 12 * time.Minute
	}
	return 3 * time.Minute
}

func (Restart) Verb() string        { return "restart" }
func (Stop) Verb() string           { return "stop" }
func (Kill) Verb() string           { return "kill" }
func (Suspend) Verb() string        { return "suspend" }
func (Resume) Verb() string         { return "resume" }
func (Release) Verb() string        { return "release" }
func (Interrupt) Verb() string      { return "interrupt" }
func (Clear) Verb() string          { return "clear" }
func (RequestRestart) Verb() string { return "request-restart" }
func (Drain) Verb() string          { return "drain" }
func (Undrain) Verb() string        { return "undrain" }
func (DrainAck) Verb() string       { return "drain-ack" }
func (Scale) Verb() string          { return "scale" }
func (RestartPool) Verb() string    { return "restart-pool" }
func (CheckPool) Verb() string      { return "check-pool" }
func (SuspendRig) Verb() string     { return "suspend-rig" }
func (ResumeRig) Verb() string      { return "resume-rig" }
func (Nudge) Verb() string          { return "nudge" }
func (Unsend) Verb() string         { return "unsend" }
func (SendKeys) Verb() string       { return "send-keys" }
func (Fire) Verb() string           { return "run" }
func (EndRun) Verb() string         { return "end-run" }
func (CreateBead) Verb() string     { return "create-bead" }
func (UpdateBead) Verb() string     { return "update-bead" }
func (Reload) Verb() string         { return "reload" }
func (Emit) Verb() string           { return "emit" }
func (Shutdown) Verb() string       { return "shutdown" }

func (c Restart) Target() string        { return c.Agent }
func (c Stop) Target() string           { return c.Agent }
func (c Kill) Target() string           { return c.Agent }
func (c Suspend) Target() string        { return c.Agent }
func (c Resume) Target() string         { return c.Agent }
func (c Release) Target() string        { return c.Agent }
func (c Interrupt) Target() string      { return c.Agent }
func (c Clear) Target() string          { return c.Agent }
func (c RequestRestart) Target() string { return c.Agent }
func (c Drain) Target() string          { return c.Agent }
func (c Undrain) Target() string        { return c.Agent }
func (c DrainAck) Target() string       { return c.Agent }
func (c Scale) Target() string          { return c.Pool }
func (c RestartPool) Target() string    { return c.Pool }
func (c CheckPool) Target() string      { return c.Pool }
func (c SuspendRig) Target() string     { return c.Rig }
func (c ResumeRig) Target() string      { return c.Rig }
func (c Nudge) Target() string          { return c.Agent }
func (c Unsend) Target() string         { return c.Agent }
func (c SendKeys) Target() string       { return c.Agent }
func (c Fire) Target() string           { return c.Automation }
func (c EndRun) Target() string         { return c.Automation }
func (CreateBead) Target() string       { return "" }
func (c UpdateBead) Target() string     { return c.ID }
func (Reload) Target() string           { return "" }
func (Emit) Target() string             { return "" }
func (Shutdown) Target() string         { return "" }

// Encode returns the body that verb.Decode decodes.
func Encode(c Command) ([]byte, error) { return json.Marshal(c) }
