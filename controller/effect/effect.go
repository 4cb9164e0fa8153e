// Package effect has the inputs and the effects of a controller. An input is something that happened; an effect is
// something that the machine wants done. Both are plain values.
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

// Farewell limits the time after the last decision of a city: effects in flight, cleanup, and last messages to
// scripts.
const Farewell = 6 * time.Second

// Effect is something the machine wants done. Effects with a key run outside the loop, at most one per key (L1),
// and return inputs.
type Effect interface{ Key() string }

type (
	// Start starts an agent's session and brings it to readiness. → Started
	Start struct {
		Want  *agent.Want
		Brief *Brief // a file for it to read; nil = not needed
		Ends  []UnrecordedEnd
	}
	// Resume brings an adopted session to readiness. → Started
	Resume struct {
		Want   *agent.Want
		Status session.Status
	}
	// Stop stops the process tree of a session. → Stopped
	Stop struct {
		Agent, Session string
		Grace          time.Duration
	}
	// Vet asks a provider whether it could run sessions. → Vetted
	Vet struct{ Provider string }
	// Kill kills the process tree of a session while a stop is in flight. It returns no input; the stop does.
	Kill struct{ Agent, Session string }
	// Cancel ends the wait of a start in flight; its Started still follows.
	Cancel struct{ Agent string }
	// Capture saves the last output of a dead session. → Captured
	Capture struct {
		Agent, Session, ID string
		At                 time.Time
		Cols, Rows         int
	}
	// Acknowledge lets the provider forget an exit that was recorded.
	Acknowledge struct{ Agent, Session, ID string }
	// Type presses keys in a session, interrupts or clears it. → Typed
	Type struct {
		Agent, Session string
		Cmd            city.Command
	}
	// Send types a text into a session and submits it; a polite one only while no viewer types there. → Sent
	Send struct {
		Agent, Session, Life string
		ID                   uint64
		Text                 string
		Polite               bool
		Provider             string // of the session; "" = there is only one provider
		// of the line in which the agent's program waits for input; "" = unknown
		Prefix string
	}
	// List lists all sessions. → Listed
	List struct {
		Turn    uint64
		Inherit bool // sessions of the previous controller may be seen for the first time
		First   bool // no list has shown any session so far
	}
	// Load reads the configuration if its revision has changed. → Loaded
	Load struct {
		Known   string // the revision in force
		Refused string // the one that was last refused
		Sighted string // the one that the last patrol saw
		Now     bool   // the file is complete: load it even if it was not seen before
		Force   bool   // a command waits for the result, changed or not
	}
	// Edit writes the suspended flag of an agent, a pool or a rig; of the city if neither is named. → Edited
	Edit struct {
		Agent, Rig string
		On         bool
		ID         uint64 // of its command
	}
	// CheckPool runs a pool's check. → PoolChecked
	CheckPool struct{ Pool *agent.Pool }
	// MarkDrain writes the drain marks of a session; the zero Drain removes them. → DrainMarked
	MarkDrain struct {
		Agent, Session, ID string
		Drain              session.Drain
	}
	// Scale writes or removes the size of a pool set by a user. → Scaled
	Scale struct {
		Pool string
		Size *int
		ID   uint64 // of its command
	}
	// Scan looks for automations in layers of folders. → Scanned
	Scan struct {
		Layers  []formula.Layer
		Rigs    []agent.Rig
		Options automation.Options
	}
	// SweepRuns closes the records of runs that the previous controller left open. It also returns the newest
	// record of each automation in Of. → RunsSwept
	SweepRuns struct{ Of []string }
	// CloseUnclosedRuns closes open records of runs that are older than a time, except known ones. →
	// UnclosedRunsClosed
	CloseUnclosedRuns struct {
		Known  []string // beads, sorted
		Before time.Time
	}
	// Follow delivers events of these types after a sequence number, and replaces the previous Follow. → Happened
	Follow struct {
		ID    uint64 // of this effect; events of earlier ones are ignored
		After uint64
		Types []string
	}
	// CheckCondition runs an automation's check. → ConditionChecked
	CheckCondition struct {
		In *config.City
		Of automation.Definition
	}
	// OpenRun creates the record of a run. → RunOpened
	OpenRun struct{ Run automation.Run }
	// Run executes a run. → RunEnded
	Run struct {
		In     *config.City // the configuration when the run was opened
		Run    automation.Run
		Bead   string
		Memory uint64    // revision of the saved state that this run needs
		Failed *city.Run // the failed run that triggered it; nil: it was not triggered by a failure
	}
	// CancelRun ends a run on request. Its result comes back as an input.
	CancelRun struct{ Bead, By string }
	// CancelRuns cancels all runs; each returns its own result.
	CancelRuns struct{}
	// CloseRun closes a run's record. → RunClosed
	CloseRun struct {
		Run     city.Run
		Formula bool
		Kind    string // of the event about the end; "" = it is already recorded
		Msg     string
		Again   *Retry // when it is retried; nil: it is not
		Failed  bool   // the last attempt
	}
	// SaveAutomations saves the state of automations. → AutomationsSaved
	SaveAutomations struct {
		Rev    uint64
		Memory []byte
	}
	// ChangeBead creates or changes a piece of work. → BeadChanged
	ChangeBead struct {
		ID  uint64
		Cmd city.Command
	}
	// CountWork counts open work. → WorkCounted
	CountWork struct{ Pools []string }
	// ReturnWork returns work of members that have left their pools for good. → WorkReturned
	ReturnWork struct{ Of []Leaver }
	// ProbeStores checks whether stores that failed work again. → StoresProbed; StoresReported has the details
	ProbeStores struct{}
	// Purge removes wisps that were closed longer ago than Wisps (0 = never), and old records of runs except the
	// newest of each automation. → Purged
	Purge struct {
		Wisps, Runs time.Duration
		Of          []string
	}
	// BackUp makes the backups of work that are due. → BackedUp
	BackUp struct{}
	// Measure samples the resources that sessions use. → Measured
	Measure struct{}
	// SaveHistories saves the crash histories of all agents as JSON; nil removes the file. → HistoriesSaved
	SaveHistories struct{ Memory []byte }
	// Record appends an event. The answers are sent with its sequence number after it is written (L9).
	Record struct {
		Event   events.Event
		Answers []Answer
	}
	// ReadHeartbeat reads the heartbeat file of a watchdog's agent. → HeartbeatRead
	ReadHeartbeat struct{ Tier, Path string }
	// Escalate notifies a person by mail, and by a command if configured. → Escalated
	Escalate struct {
		Tier, From, To, Subject, Text string
		Call                          time.Time // time of the escalation
		Command                       string
		Env                           []string
		In                            *config.City
	}
	// Listen sets where the city listens for TCP. → ListenerChanged, at each change
	Listen struct{ Want config.API }
	// Emit writes an event of a client and answers its command.
	Emit struct {
		ID    uint64
		Event events.Event
	}
	// Reply answers a command that causes no event.
	Reply struct{ Answer }
)

// Answer is the reply to the command with this ID.
type Answer struct {
	ID      uint64
	Receipt city.Receipt
	Err     *city.Error
}

func (f Start) Key() string       { return "agent:" + f.Want.Name }
func (f Resume) Key() string      { return "agent:" + f.Want.Name }
func (f Stop) Key() string        { return "agent:" + f.Agent }
func (f Vet) Key() string         { return "vet:" + f.Provider }
func (f Kill) Key() string        { return "kill:" + f.Agent }
func (f Cancel) Key() string      { return "" }
func (f Capture) Key() string     { return "capture:" + f.Agent + ":" + f.ID }
func (f Acknowledge) Key() string { return "ack:" + f.Agent + ":" + f.ID }
func (f Type) Key() string        { return "type:" + f.Agent }

// shares the key, so that it keeps the order with keys
func (f Send) Key() string              { return "type:" + f.Agent }
func (f List) Key() string              { return "list" }
func (f Load) Key() string              { return "load" }
func (f Edit) Key() string              { return "edit" }
func (f Scan) Key() string              { return "scan" }
func (f CloseUnclosedRuns) Key() string { return "strays" }
func (f SweepRuns) Key() string         { return "sweep" }
func (f Follow) Key() string            { return "" }
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
func (f Reply) Key() string             { return "" }

// Brief is a file that is written before a triage agent starts.
type Brief struct {
	Path string
	Data []byte
}
