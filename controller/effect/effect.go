// Package effect defines the inputs and effects of a controller's machine. An input is something that has happened.
// An effect is something that the machine requests. Both are plain values.
package effect

import (
	"time"

	"gcity/agent"
	"gcity/automation"
	"gcity/city"
	"gcity/config"
	"gcity/events"
	"gcity/formula"
	"gcity/session"
)

// ShutdownLimit is the time limit for all work after a city's last decision, such as effects in flight and cleanup.
const ShutdownLimit = 6 * time.Second

// Effect is an action that the machine requests. Effects with a key run outside the loop, at most one at a time per
// key (L1). Their results return as inputs.
type Effect interface{ Key() string }

type (
	// Start starts an agent's session and waits until it is ready. The result is Started.
	Start struct {
		Want  *agent.Want
		Brief *Brief // file for the agent to read; nil = none
		Ends  []UnrecordedEnd
	}
	// Resume waits until an adopted session is ready. The result is Started.
	Resume struct {
		Want   *agent.Want
		Status session.Status
	}
	// Stop stops a session's process tree. The result is Stopped.
	Stop struct {
		Agent, Session string
		Grace          time.Duration
		Force          bool // abandon the session if its host does not confirm that it has ended
	}
	// CheckProvider asks a provider whether it could run sessions. The result is ProviderChecked.
	CheckProvider struct{ Provider string }
	// Kill kills a session's process tree while a Stop is in flight. It does not return a result.
	Kill struct {
		Agent, Session string
		Force          bool
	}
	// Cancel cancels a start in flight. The start still returns its result, Started.
	Cancel struct{ Agent string }
	// Capture saves the last output of a dead session. The result is Captured.
	Capture struct {
		Agent, Session, ID string
		At                 time.Time
		Cols, Rows         int
	}
	// Acknowledge notifies the provider that an exit was recorded, so that the provider may drop it.
	Acknowledge struct{ Agent, Session, ID string }
	// Type presses keys in a session, interrupts it, or clears its output. The result is Typed.
	Type struct {
		Agent, Session string
		Cmd            city.Command
	}
	// Send types a message into a session and submits it. If Polite is set, it does not type while a viewer is typing.
	// The result is Sent.
	Send struct {
		Agent, Session, Life string
		ID                   uint64
		Text                 string
		Polite               bool
		Provider             string // provider of the session; "" = the only one
		// prefix of the line in which the agent's program waits for input; "" = unknown
		Prefix string
	}
	// List lists all sessions. The result is Listed.
	List struct {
		Step uint64
		// the list might be the first one that contains sessions from the previous controller
		Inherit bool
		First   bool // the sessions have not been listed successfully before
	}
	// Load reads the configuration if its revision has changed. The result is Loaded.
	Load struct {
		Known            string // revision of the configuration in force
		RejectedRevision string // the latest rejected revision
		SeenAtPatrol     string // revision that the latest patrol read
		// load a new revision even if no earlier patrol has read it
		Now   bool
		Force bool // return a result even if nothing has changed
	}
	// Edit writes the suspended flag of an agent, a pool, a rig or, if none is named, the city. The result is Edited.
	Edit struct {
		Agent, Rig string
		On         bool
		ID         uint64
	}
	// CheckPool runs a pool's check. The result is PoolChecked.
	CheckPool struct{ Pool *agent.Pool }
	// MarkDrain writes a drain to a session's marks. The zero Drain removes the marks. The result is DrainMarked.
	MarkDrain struct {
		Agent, Session, ID string
		Drain              session.Drain
	}
	// Scale saves the size that a user has set for a pool, or removes it. The result is Scaled.
	Scale struct {
		Pool string
		Size *int
		ID   uint64
	}
	// Scan looks for automations in layers of folders. The result is Scanned.
	Scan struct {
		Layers  []formula.Layer
		Rigs    []agent.Rig
		Options automation.Options
	}
	// SweepRuns closes the run records that the previous controller left open. For each automation in Of, it also reads
	// the latest record. The result is RunsSwept.
	SweepRuns struct{ Of []string }
	// CloseUnclosedRuns closes run records that are still open and were created before a given time. It skips the known
	// records. The result is UnclosedRunsClosed.
	CloseUnclosedRuns struct {
		Known  []string // IDs, sorted
		Before time.Time
	}
	// Subscribe subscribes to events of these types after a sequence number. It replaces the previous Subscribe. The
	// result is EventsReceived.
	Subscribe struct {
		ID    uint64 // ID of this effect; inputs with lower IDs are ignored
		After uint64
		Types []string
	}
	// CheckCondition runs an automation's check. The result is ConditionChecked.
	CheckCondition struct {
		In *config.City
		Of automation.Definition
	}
	// OpenRun creates the record of a run. The result is RunOpened.
	OpenRun struct{ Run automation.Run }
	// Run executes a run. The result is RunEnded.
	Run struct {
		In   *config.City // configuration that was in force when the run was opened
		Run  automation.Run
		Bead string
		// revision of the automation state that must be saved before the run starts
		Memory uint64
		Failed *city.Run // the failed run that triggered this one; nil = none
	}
	// CancelRun cancels a run on request. The run still returns its result, RunEnded.
	CancelRun struct{ Bead, By string }
	// CancelRuns cancels all runs. Each run still returns its result, RunEnded.
	CancelRuns struct{}
	// CloseRun closes a run's record. The result is RunClosed.
	CloseRun struct {
		Run     city.Run
		Formula bool
		Kind    string // type of the event that reports the run's end; "" = already written
		Msg     string
		Again   *Retry // nil = no retry
		Failed  bool   // an earlier attempt to close the record failed
	}
	// SaveAutomations saves the state of automations. The result is AutomationsSaved.
	SaveAutomations struct {
		Rev    uint64
		Memory []byte
	}
	// ChangeBead creates or changes a bead. The result is BeadChanged.
	ChangeBead struct {
		ID  uint64
		Cmd city.Command
	}
	// CountWork counts open work. The result is WorkCounted.
	CountWork struct{ Pools []string }
	// ReturnWork returns the work of members that have permanently left their pools. The result is WorkReturned.
	ReturnWork struct{ Of []Leaver }
	// ProbeStores tries to use failed stores again. The results are StoresProbed and StoresReported.
	ProbeStores struct{}
	// Purge removes wisps that have been closed for longer than Wisps (0 = never). It also removes run records that are
	// older than Runs, except the newest of each automation. The result is Purged.
	Purge struct {
		Wisps, Runs time.Duration
		Of          []string
	}
	// BackUp makes the backups that are due. The result is BackedUp.
	BackUp struct{}
	// Measure samples the resource usage of all sessions. The result is Measured.
	Measure struct{}
	// SaveHistories saves the crash histories of all agents, encoded as JSON. Nil removes the file. The result is
	// HistoriesSaved.
	SaveHistories struct{ Memory []byte }
	// Record appends an event to the log. After that, the replies are sent with the event's sequence number (L9).
	Record struct {
		Event   events.Event
		Replies []Reply
	}
	// ReadHeartbeat reads the heartbeat file of a watched agent. The result is HeartbeatRead.
	ReadHeartbeat struct{ Tier, Path string }
	// Escalate notifies a user by mail, and runs the escalate_command if there is one. The result is Escalated.
	Escalate struct {
		Tier, From, To, Subject, Text string
		Call                          time.Time // time of the escalation
		Command                       string
		Env                           []string
		In                            *config.City
	}
	// Listen configures the TCP listener. A ListenerChanged reports each change of the listener's state.
	Listen struct{ Want config.API }
	// Emit writes a client's event to the log and replies to the client's command.
	Emit struct {
		ID    uint64
		Event events.Event
	}
	// SendReply replies to a command that does not cause an event.
	SendReply struct{ Reply }
)

// Reply is the reply to the command with this ID.
type Reply struct {
	ID      uint64
	Receipt city.Receipt
	Err     *city.Error
}

func (f Start) Key() string         { return "agent:" + f.Want.Name }
func (f Resume) Key() string        { return "agent:" + f.Want.Name }
func (f Stop) Key() string          { return "agent:" + f.Agent }
func (f CheckProvider) Key() string { return "vet:" + f.Provider }
func (f Kill) Key() string          { return "kill:" + f.Agent }
func (f Cancel) Key() string        { return "" }
func (f Capture) Key() string       { return "capture:" + f.Agent + ":" + f.ID }
func (f Acknowledge) Key() string   { return "ack:" + f.Agent + ":" + f.ID }
func (f Type) Key() string          { return "type:" + f.Agent }

// Key returns the same value as Type.Key, so that messages and pressed keys stay in order.
func (f Send) Key() string              { return "type:" + f.Agent }
func (f List) Key() string              { return "list" }
func (f Load) Key() string              { return "load" }
func (f Edit) Key() string              { return "edit" }
func (f Scan) Key() string              { return "scan" }
func (f CloseUnclosedRuns) Key() string { return "strays" }
func (f SweepRuns) Key() string         { return "sweep" }
func (f Subscribe) Key() string         { return "" }
func (f CheckCondition) Key() string    { return "condition:" + f.Of.Scoped() }
func (f OpenRun) Key() string           { return "run:" + f.Run.Definition.Scoped() }
func (f Run) Key() string               { return "run:" + f.Run.Definition.Scoped() }
func (f CancelRun) Key() string         { return "" }
func (f CancelRuns) Key() string        { return "" }
func (f CloseRun) Key() string          { return "shut:" + f.Run.ID }
func (f SaveAutomations) Key() string   { return "memorise" }
func (f ChangeBead) Key() string        { return "" }
func (f CountWork) Key() string         { return "count" }
func (f ReturnWork) Key() string        { return "return" }
func (f ProbeStores) Key() string       { return "probe" }
func (f Purge) Key() string             { return "purge" }
func (f BackUp) Key() string            { return "backup" }
func (f CheckPool) Key() string         { return "check:" + f.Pool.Name }
func (f MarkDrain) Key() string         { return "mark:" + f.Agent }
func (f Scale) Key() string             { return "scale" }
func (f Measure) Key() string           { return "measure" }
func (f SaveHistories) Key() string     { return "remember" }
func (f Record) Key() string            { return "" }
func (f ReadHeartbeat) Key() string     { return "heartbeat:" + f.Tier }
func (f Escalate) Key() string          { return "escalate:" + f.Tier }
func (f Listen) Key() string            { return "" }
func (f Emit) Key() string              { return "" }
func (f SendReply) Key() string         { return "" }

// Brief is a file for a triage agent, written before the agent starts.
type Brief struct {
	Path string
	Data []byte
}

// Values for the actor of an event.
const (
	ActorController = "controller"
	ActorOperator   = "operator"
)

const (
	// SendAgain is the interval between attempts to type a message that is held back.
	SendAgain = 2 * time.Second
	// TypingPause is how long a message is held back after a viewer has pressed a key.
	TypingPause = 2 * time.Second
	// CaptureLimit is the timeout for saving a dead session's output.
	CaptureLimit = 2 * time.Second
)
