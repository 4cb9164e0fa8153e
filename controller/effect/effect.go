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

// Effect is an action that the machine requests. Most effects run outside the loop, and their results return as inputs.
type Effect interface{ effect() }

// isEffect is embedded in every type of effect.
type isEffect struct{}

func (isEffect) effect() {}

type (
	// Start starts an agent's session and waits until it is ready. The result is Started.
	Start struct {
		isEffect
		Want  *agent.Want
		Brief *Brief // file for the agent to read; nil = none
		Ends  []UnrecordedEnd
	}
	// Resume waits until an adopted session is ready. The result is Started.
	Resume struct {
		isEffect
		Want   *agent.Want
		Status session.Status
	}
	// Stop stops a session's process tree. The result is Stopped.
	Stop struct {
		isEffect
		Agent, Session string
		Grace          time.Duration
		Force          bool // abandon the session if its host does not confirm that it has ended
	}
	// CheckProvider asks a provider whether it could run sessions. The result is ProviderChecked.
	CheckProvider struct {
		isEffect
		Provider string
	}
	// CheckStart checks whether an agent could start on this machine. The result is StartChecked.
	CheckStart struct {
		isEffect
		Want *agent.Want
	}
	// Kill kills a session's process tree while a Stop is in flight. It does not return a result.
	Kill struct {
		isEffect
		Agent, Session string
		Force          bool
	}
	// Cancel cancels a start in flight. The start still returns its result, Started.
	Cancel struct {
		isEffect
		Agent string
	}
	// Capture saves the last output of a dead session. The result is Captured.
	Capture struct {
		isEffect
		Agent, Session, ID string
		At                 time.Time
		Cols, Rows         int
	}
	// Acknowledge notifies the provider that an exit was recorded, so that the provider may drop it.
	Acknowledge struct {
		isEffect
		Agent, Session, ID string
	}
	// Type presses keys in a session, interrupts it, or clears its output. The result is Typed.
	Type struct {
		isEffect
		Agent, Session string
		Cmd            city.Command
	}
	// Send types a message into a session and submits it. If Polite is set, it does not type while a viewer is typing.
	// The result is Sent.
	Send struct {
		isEffect
		Agent, Session, Life string
		ID                   uint64
		Text                 string
		Polite               bool
		Provider             string // provider of the session; "" = the only one
		// prefix of the line in which the agent's program waits for input; "" = unknown
		Prefix  string
		Dialogs []session.Dialog // questions that the program may ask
	}
	// ReadScreen looks for a question on a session's screen. The result is ScreenRead.
	ReadScreen struct {
		isEffect
		Agent, Session, Life string
		Provider             string // provider of the session; "" = the only one
		Prefix               string // as in Send
		Dialogs              []session.Dialog
		// do not read the screen if the session has printed only this (Status.Output); 0 = read it
		Unless uint64
	}
	// List lists all sessions. The result is Listed.
	List struct {
		isEffect
		Step uint64
		// the list might be the first one that contains sessions from the previous controller
		Inherit bool
		First   bool // the sessions have not been listed successfully before
	}
	// Load reads the configuration if its revision has changed. The result is Loaded.
	Load struct {
		isEffect
		Known        string // revision that need not be loaded again; "" = none
		HeldRevision string // revision that waits for a confirmation
		SeenAtPatrol string // revision that the latest patrol read
		// load a new revision even if no earlier patrol has read it
		Now   bool
		Force bool // return a result even if nothing has changed
	}
	// Edit writes the suspended flag of an agent, a pool, a rig or, if none is named, the city. The result is Edited.
	Edit struct {
		isEffect
		Agent, Rig string
		On         bool
		ID         uint64
		By         city.Peer
	}
	// CheckPool runs a pool's check. The result is PoolChecked.
	CheckPool struct {
		isEffect
		Pool *agent.Pool
	}
	// MarkDrain writes a drain to a session's marks. The zero Drain removes the marks. The result is DrainMarked.
	MarkDrain struct {
		isEffect
		Agent, Session, ID string
		Drain              session.Drain
	}
	// Scale saves the size that a user has set for a pool, or removes it. The result is Scaled.
	Scale struct {
		isEffect
		Pool string
		Size *int
		ID   uint64
		By   city.Peer
	}
	// Scan looks for automations in layers of folders. The result is Scanned.
	Scan struct {
		isEffect
		Source  *config.City // the configuration in force
		Layers  []formula.Layer
		Rigs    []agent.Rig
		Options automation.Options
	}
	// SweepRuns closes the run records that the previous controller left open. For each automation in Of, it also reads
	// the latest record. The result is RunsSwept.
	SweepRuns struct {
		isEffect
		Of []string
	}
	// CloseUnclosedRuns closes run records that are still open and were created before a given time. It skips the known
	// records. The result is UnclosedRunsClosed.
	CloseUnclosedRuns struct {
		isEffect
		Known  []string // IDs, sorted
		Before time.Time
	}
	// Subscribe subscribes to events of these types after a sequence number. It replaces the previous Subscribe. The
	// result is EventsReceived.
	Subscribe struct {
		isEffect
		ID    uint64 // ID of this effect; inputs with lower IDs are ignored
		After uint64
		Types []string
	}
	// CheckCondition runs an automation's check. The result is ConditionChecked.
	CheckCondition struct {
		isEffect
		In *config.City
		Of automation.Definition
	}
	// OpenRun creates the record of a run. The result is RunOpened.
	OpenRun struct {
		isEffect
		Run automation.Run
	}
	// Run executes a run. The result is RunEnded.
	Run struct {
		isEffect
		In   *config.City // configuration that was in force when the run was opened
		Run  automation.Run
		Bead string
		// revision of the automation state that must be saved before the run starts
		Memory uint64
		Failed *city.Run // the failed run that triggered this one; nil = none
	}
	// CancelRun cancels a run on request. The run still returns its result, RunEnded.
	CancelRun struct {
		isEffect
		Bead, By string
	}
	// CancelRuns cancels all runs. Each run still returns its result, RunEnded.
	CancelRuns struct{ isEffect }
	// CloseRun closes a run's record. The result is RunClosed.
	CloseRun struct {
		isEffect
		Run     city.Run
		Formula bool
		Kind    string // type of the event that reports the run's end; "" = already written
		Msg     string
		Again   *Retry // nil = no retry
		Failed  bool   // an earlier attempt to close the record failed
	}
	// SaveAutomations saves the state of automations. The result is AutomationsSaved.
	SaveAutomations struct {
		isEffect
		Rev    uint64
		Memory []byte
	}
	// ChangeBead creates or changes a bead. The result is BeadChanged.
	ChangeBead struct {
		isEffect
		ID  uint64
		Cmd city.Command
		By  string // actor of the events, unless Cmd names one
	}
	// CountWork counts open work. The result is WorkCounted.
	CountWork struct {
		isEffect
		Pools []string
	}
	// ReturnWork returns the work of members that have permanently left their pools. The result is WorkReturned.
	ReturnWork struct {
		isEffect
		Of []Leaver
	}
	// ProbeStores tries to use failed stores again. The results are StoresProbed and StoresReported.
	ProbeStores struct{ isEffect }
	// Purge removes wisps that have been closed for longer than Wisps (0 = never). It also removes run records that are
	// older than Runs, except the newest of each automation, and old files of agents that are not in Agents. The result
	// is Purged.
	Purge struct {
		isEffect
		Wisps, Runs time.Duration
		Of          []string // automations
		Agents      []string // also includes possible members of pools
	}
	// BackUp makes the backups that are due. The result is BackedUp.
	BackUp struct{ isEffect }
	// Measure samples the resource usage of all sessions. The result is Measured.
	Measure struct{ isEffect }
	// SaveHistories saves the crash histories of all agents, encoded as JSON. Nil removes the file. The result is
	// HistoriesSaved.
	SaveHistories struct {
		isEffect
		Memory []byte
	}
	// Record appends an event to the log. After that, the replies are sent with the event's sequence number (L9).
	Record struct {
		isEffect
		Event   events.Event
		Replies []Reply
		End     *session.Exit // exit that the event records; nil = none
	}
	// ReadHeartbeat reads the heartbeat file of a watched agent. The result is HeartbeatRead.
	ReadHeartbeat struct {
		isEffect
		Tier, Path string
	}
	// Escalate notifies a user by mail, and runs the escalate_command if there is one. The result is Escalated.
	Escalate struct {
		isEffect
		Tier, From, To, Subject, Text string
		Call                          time.Time // time of the escalation
		Command                       string
		Env                           []string
		In                            *config.City
	}
	// Listen configures the TCP listener. A ListenerChanged reports each change of the listener's state.
	Listen struct {
		isEffect
		Want config.API
	}
	// Emit writes a client's event to the log and replies to the client's command.
	Emit struct {
		isEffect
		ID    uint64
		Event events.Event
	}
	// SendReply replies to a command that does not cause an event.
	SendReply struct {
		isEffect
		Reply
	}
)

// Reply is the reply to the command with this ID.
type Reply struct {
	ID      uint64
	Receipt city.Receipt
	Err     *city.Error
}

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
