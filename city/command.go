package city

import (
	"encoding/json"

	"gcity/beads"
	"gcity/events"
)

// Command is something to be done to a city. The set is closed; Encode and verb.Decode are its only codec.
type Command interface {
	Verb() string   // as in a URL and on the command line
	Target() string // the agent, pool, rig, automation or bead it is about, "" = the city
}

type (
	// Restart stops an agent's session and starts it anew. Not counted as a crash.
	Restart struct {
		Agent string `json:"-"`
	}
	// Stop ends an agent's session and keeps it ended: it is suspended until resumed.
	Stop struct {
		Agent string `json:"-"`
	}
	// Kill ends an agent's session at once and lets it be restarted.
	Kill struct {
		Agent string `json:"-"`
	}
	// Suspend writes the suspended flag into the configuration. Agent "" = the whole city.
	Suspend struct {
		Agent string `json:"-"`
	}
	// Resume takes the suspended flag out again. Agent "" = the whole city.
	Resume struct {
		Agent string `json:"-"`
	}
	// Release lets an agent out of quarantine or backoff now, its crashes forgotten.
	Release struct {
		Agent string `json:"-"`
	}
	// Interrupt does what Ctrl-C in the agent's terminal does.
	Interrupt struct {
		Agent string `json:"-"`
	}
	// Clear forgets the agent's kept output.
	Clear struct {
		Agent string `json:"-"`
	}
	// RequestRestart is an agent's own wish to be restarted.
	RequestRestart struct {
		Agent string `json:"-"`
	}
	// Drain tells an agent to finish what it is doing. Acknowledged, or at its deadline, its session ends; if it is
	// still wanted a new one begins, but after a Final one only when somebody says so: by Undrain, Restart, Release
	// or an edit.
	Drain struct {
		Agent string `json:"-"`
		Final bool   `json:"final,omitempty"`
	}
	// Undrain takes a Drain back: the same session goes on. Where a Final one has ended it already, a new one begins.
	Undrain struct {
		Agent string `json:"-"`
	}
	// DrainAck is an agent's own word that it has finished.
	DrainAck struct {
		Agent string `json:"-"`
	}
	// Scale sets a pool's size within its bounds, over what its check says, until Auto gives it back to the check.
	Scale struct {
		Pool string `json:"-"`
		Size int    `json:"size"`
		Auto bool   `json:"auto,omitempty"`
	}
	// SuspendRig writes a rig's suspended flag into the configuration.
	SuspendRig struct {
		Rig string `json:"-"`
	}
	// ResumeRig takes it out again.
	ResumeRig struct {
		Rig string `json:"-"`
	}
	// Nudge sends a text: it is typed into an agent's terminal and submitted once the agent is ready and nobody's
	// draft is on its line. The receipt says how far it came.
	Nudge struct {
		Agent string `json:"-"`
		Text  string `json:"text"`
		Now   bool   `json:"now,omitempty"` // whatever is on its line
	}
	// Unsend takes back texts that wait.
	Unsend struct {
		Agent string `json:"-"`
		ID    uint64 `json:"id,omitempty"` // of one; 0 = all that wait for this agent
	}
	// SendKeys presses named keys in an agent's terminal.
	SendKeys struct {
		Agent string   `json:"-"`
		Keys  []string `json:"keys"`
	}
	// Fire runs an automation now, past its gate.
	Fire struct {
		Automation string `json:"-"` // scoped name
		By         string `json:"by,omitempty"`
	}
	// EndRun ends the run of an automation that goes, with all its processes. It has failed then, and is not tried
	// again.
	EndRun struct {
		Automation string `json:"-"` // scoped name
		By         string `json:"by,omitempty"`
	}
	// CreateBead makes a piece of work, in the store of a rig or, with "", of the city.
	CreateBead struct {
		Rig  string     `json:"rig,omitempty"`
		Bead beads.Bead `json:"bead"`
	}
	// UpdateBead changes one.
	UpdateBead struct {
		ID    string      `json:"-"`
		Patch beads.Patch `json:"patch"`
		// closes also a molecule whose steps are open: they stay so
		Force bool `json:"force,omitempty"`
	}
	// Reload reads the configuration now. Confirm lets one come into force that is held because it would remove most of
	// the running agents.
	Reload struct {
		Confirm bool `json:"confirm,omitempty"`
		// the held one that was shown; "" = whatever is held now
		Revision string `json:"revision,omitempty"`
	}
	// Emit writes an event of somebody's own.
	Emit struct {
		Event events.Event `json:"event"`
	}
	// Shutdown ends the controller; its agents too, unless Leave.
	Shutdown struct {
		Leave bool `json:"leave,omitempty"`
	}
)

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

// Encode gives the body that verb.Decode reads back; verb and target travel beside it.
func Encode(c Command) ([]byte, error) { return json.Marshal(c) }
