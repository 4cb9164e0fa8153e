// Package effect has the two vocabularies of a controller: inputs, which are what happened, and effects, which are
// what the machine wants done. Both are values: nothing here decides or does anything.
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

// Farewell bounds the end of a city after its last decision: effects in flight, cleanup, and the last messages to
// scripts.
const Farewell = 6 * time.Second

// Effect is something the machine wants done. Effects with a key run off the loop, at most one per key at a time
// (L1), and come back as inputs.
type Effect interface{ Key() string }

type (
	// Start starts an agent's session and brings it to readiness. → Started
	Start struct {
		Want  *agent.Want
		Brief *Brief // a file that it is to find; nil = none
		Ends  []UnrecordedEnd
	}
	// Resume carries an adopted session on to readiness. → Started
	Resume struct {
		Want   *agent.Want
		Status session.Status
	}
	// Stop ends a session's tree. → Stopped
	Stop struct {
		Agent, Session string
		Grace          time.Duration
	}
	// Vet asks a provider whether it could run sessions. → Vetted
	Vet struct{ Provider string }
	// Kill ends a session's tree now, beside a stop under way. No input follows: the stop's own result does.
	Kill struct{ Agent, Session string }
	// Cancel ends the wait of a start under way; its Started still comes.
	Cancel struct{ Agent string }
	// Capture keeps what a dead session said. → Captured
	Capture struct {
		Agent, Session, ID string
		At                 time.Time
		Cols, Rows         int
	}
	// Acknowledge lets the provider forget a recorded exit.
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
		Provider             string // that runs it; "" = there is but one
		// of the line in which the agent's program waits for input; "" = unknown
		Prefix string
	}
	// List looks at reality. → Listed
	List struct {
		Turn    uint64
		Inherit bool // sessions that a predecessor started may be seen for the first time
		First   bool // no look has shown any session so far
	}
	// Load reads the configuration if it is no longer the known one. → Loaded
	Load struct {
		Known   string // the revision in force
		Refused string // the one that was refused last
		Sighted string // the one that a patrol saw last
		Now     bool   // the file is known to be whole: load whatever it is
		Force   bool   // somebody wants to hear of it, new or not
	}
	// Edit writes the suspended flag of an agent, a pool or a rig; of the city if neither is named. → Edited
	Edit struct {
		Agent, Rig string
		On         bool
		ID         uint64 // of the command behind it
	}
	// CheckPool runs a pool's check. → PoolChecked
	CheckPool struct{ Pool *agent.Pool }
	// MarkDrain writes a session's drain marks; the zero Drain takes them away. → DrainMarked
	MarkDrain struct {
		Agent, Session, ID string
		Drain              session.Drain
	}
	// Scale writes a pool's override, or takes it out. → Scaled
	Scale struct {
		Pool string
		Size *int
		ID   uint64 // of the command behind it
	}
	// Scan looks for automations in layers of folders. → Scanned
	Scan struct {
		Layers  []formula.Layer
		Rigs    []agent.Rig
		Options automation.Options
	}
	// SweepRuns closes the records of runs that a predecessor left open. The newest of each of some automations is
	// told, too, however many newer ones others have. → RunsSwept
	SweepRuns struct{ Of []string }
	// CloseUnclosedRuns closes the records of runs that are open and older than a time, but for those that are
	// known. → UnclosedRunsClosed
	CloseUnclosedRuns struct {
		Known  []string // beads, sorted
		Before time.Time
	}
	// Follow hands in events of these types after a seq, instead of those it handed in before. → Happened
	Follow struct {
		ID    uint64 // of this one: what those before it still hand in is not used
		After uint64
		Types []string
	}
	// CheckCondition runs an automation's check. → ConditionChecked
	CheckCondition struct {
		In *config.City
		Of automation.Definition
	}
	// OpenRun makes the record of a run. → RunOpened
	OpenRun struct{ Run automation.Run }
	// Run carries a run out. → RunEnded
	Run struct {
		In     *config.City // in force when the run was opened
		Run    automation.Run
		Bead   string
		Memory uint64    // revision of what is to be remembered that has to be on the disk before
		Failed *city.Run // whose failure it follows; nil: it follows none
	}
	// CancelRun ends a run on request. Its result comes back as an input.
	CancelRun struct{ Bead, By string }
	// CancelRuns ends all runs that go; each comes back by itself.
	CancelRuns struct{}
	// CloseRun closes a run's record. → RunClosed
	CloseRun struct {
		Run     city.Run
		Formula bool
		Kind    string // of the event that tells of it; "" = it has been told
		Msg     string
		Again   *Retry // it is tried again; nil: it is not
		Failed  bool   // the last try
	}
	// SaveAutomations writes down what automations have done. → AutomationsSaved
	SaveAutomations struct {
		Rev    uint64
		Memory []byte
	}
	// ChangeBead makes or changes a piece of work. → BeadChanged
	ChangeBead struct {
		ID  uint64
		Cmd city.Command
	}
	// CountWork counts open work. → WorkCounted
	CountWork struct{ Pools []string }
	// ReturnWork gives back to their pools what is assigned to members that have left for good. → WorkReturned
	ReturnWork struct{ Of []Leaver }
	// ProbeStores finds out whether stores that failed are well again. → StoresProbed; StoresReported tells of them
	ProbeStores struct{}
	// Purge removes what was closed so long ago: wisps, 0 = they stay; and records of runs, but for the newest of
	// each of these automations. → Purged
	Purge struct {
		Wisps, Runs time.Duration
		Of          []string
	}
	// BackUp makes the backups of work that are due. → BackedUp
	BackUp struct{}
	// Measure samples what sessions take. → Measured
	Measure struct{}
	// SaveHistories writes the crash histories down, all agents' as JSON; nil removes the file. → HistoriesSaved
	SaveHistories struct{ Memory []byte }
	// Record appends an event; the answers hear its seq once it is written (L9).
	Record struct {
		Event   events.Event
		Answers []Answer
	}
	// ReadHeartbeat looks at the file of a watchdog's agent. → HeartbeatRead
	ReadHeartbeat struct{ Tier, Path string }
	// Escalate calls a person: by mail, and by a command if there is one. → Escalated
	Escalate struct {
		Tier, From, To, Subject, Text string
		Call                          time.Time // when it was
		Command                       string
		Env                           []string
		In                            *config.City
	}
	// Listen says where the city is to answer over TCP. → ListenerChanged, whenever that changes
	Listen struct{ Want config.API }
	// Emit writes an event of a client and answers the command: it is in the log, or it is refused.
	Emit struct {
		ID    uint64
		Event events.Event
	}
	// Reply answers commands that no event proves.
	Reply struct{ Answer }
)

// Answer is the reply to the command of this id.
type Answer struct {
	ID      uint64
	Receipt city.Receipt
	Err     *city.Error
}

func (f Start) Key() string             { return "agent:" + f.Want.Name }
func (f Resume) Key() string            { return "agent:" + f.Want.Name }
func (f Stop) Key() string              { return "agent:" + f.Agent }
func (f Vet) Key() string               { return "vet:" + f.Provider }
func (f Kill) Key() string              { return "kill:" + f.Agent }
func (f Cancel) Key() string            { return "" }
func (f Capture) Key() string           { return "capture:" + f.Agent + ":" + f.ID }
func (f Acknowledge) Key() string       { return "ack:" + f.Agent + ":" + f.ID }
func (f Type) Key() string              { return "type:" + f.Agent }
func (f Send) Key() string              { return "type:" + f.Agent } // in one order with keys
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

// Brief is a file that a triage finds at its start.
type Brief struct {
	Path string
	Data []byte
}
