package effect

import (
	"slices"
	"time"

	"gcity/agent"
	"gcity/automation"
	"gcity/beads"
	"gcity/beads/guard"
	"gcity/city"
	"gcity/config"
	"gcity/events"
	"gcity/formula"
	"gcity/session"
	"gcity/watchdog"
)

// Input is an event from outside the machine. The loop receives inputs and passes them to the machine.
type Input interface{ input() }

// isInput is embedded in every type of input.
type isInput struct{}

func (isInput) input() {}

type (
	// Tick starts a patrol.
	Tick struct{ isInput }
	// Stalled reports that the whole program was suspended until now. Earlier observations are out of date.
	Stalled struct{ isInput }
	// Wake reports that the time requested by the machine has been reached (see Machine.Next).
	Wake struct{ isInput }
	// SessionsChanged reports that the sessions should be listed now; see session.Changer.
	SessionsChanged struct{ isInput }
	// ConfigChanged reports that the configuration might have changed.
	ConfigChanged struct{ isInput }
	// Loaded is the result of a load effect. If Conf, Err and Away are not set, nothing has changed.
	Loaded struct {
		isInput
		Revision string
		Conf     *Configuration
		// the configuration differs only because a missing program was installed
		ProgramFound bool
		Err          error // reason why the files on disk are rejected
		// reason why the files were not read: the city's folder is not at its path
		Away error
	}
	// Listed is the result of a list effect.
	Listed struct {
		isInput
		// step in which the list was requested
		Step     uint64
		Sessions []session.Status
		Past     *Inherited // nil = List.Inherit was not set
		Err      error
	}
	// ListedLate is the response of a provider that did not respond in time for Listed.
	ListedLate struct {
		isInput
		Step     uint64
		Provider string
		Sessions []session.Status
		Past     *Inherited
		Err      error
	}
	// OwnershipLost reports that another controller owns the city.
	OwnershipLost struct {
		isInput
		Err error
	}
	// FolderMoved reports why the city's folder is not at its path; "" = the folder is back.
	FolderMoved struct {
		isInput
		Why string
	}
	// Exited is an exit that a provider reported.
	Exited struct {
		isInput
		Exit session.Exit
	}
	// DialogAnswered reports that gcity answered a question from an agent's program during a start.
	DialogAnswered struct {
		isInput
		Agent, Session string
		Dialog         session.Dialog
	}
	// StartProgress reports the session of a start in flight, or a change in what the start is waiting for: a user's
	// answer to a question in the agent's terminal (Question), something else (Waits), or neither.
	StartProgress struct {
		isInput
		Agent  string
		Status session.Status // without an ID if it has not changed
		// reason why the start waits for an answer; "" = no question is open
		Question string
		About    string // what the question is about; "" = unknown
		// reason why the provider is still waiting, if no question is open; "" = none
		Waits string
	}
	// Started is the result of a start or resume effect.
	Started struct {
		isInput
		Agent        string
		Status       session.Status
		Copied       string   // files that were copied into the agent's folder; "" = none
		CopyProblems []string // files that could not be copied, with the reasons
		Err          error
	}
	// Stopped is the result of a stop effect.
	Stopped struct {
		isInput
		Agent string
		Err   error
	}
	// ProviderChecked is the result of a CheckProvider effect.
	ProviderChecked struct {
		isInput
		Provider string
		Err      error // reason why the provider cannot run sessions
	}
	// StartChecked is the result of a CheckStart effect.
	StartChecked struct {
		isInput
		Agent string
		Err   error // reason why the agent cannot start
	}
	// Captured is the result of a capture effect.
	Captured struct {
		isInput
		Agent, ID string
		Tail      string // last lines of output, as plain text
		File      string // path of the saved output, relative to the city; "" = not saved
		Err       error
	}
	// Typed is the result of a Type effect.
	Typed struct {
		isInput
		Agent string
		Err   error
	}
	// Sent is the result of a Send effect.
	Sent struct {
		isInput
		Agent string
		ID    uint64
		// reason why the message was held back; "" = it was not
		Held      city.Hold
		Wait      time.Duration // time until the next attempt
		Disturbed bool          // the message was held back because a user is typing
		// number of bytes that the session had printed when the message was submitted; MaxUint64 = unknown
		Output uint64
		Err    error // reason why the message was rejected; a retry would fail too
	}
	// ScreenRead is the result of a ReadScreen effect.
	ScreenRead struct {
		isInput
		Agent, Life string
		Question    *session.Dialog // nil = the program asks nothing
		Printed     uint64          // Status.Output before the screen was read; 0 = unknown
		Unchanged   bool            // the screen was not read, because of ReadScreen.Unless
		Err         error
	}
	// Edited is the result of an Edit effect.
	Edited struct {
		isInput
		Edit Edit
		Err  error
	}
	// PoolChecked is the result of a pool's check.
	PoolChecked struct {
		isInput
		Pool   string
		Check  string
		Value  int
		Err    error
		Kind   string // kind of Err; repeated errors of the same kind are reported once
		Output string // last part of the output, as plain text
		Took   time.Duration
	}
	// DrainMarked is the result of a MarkDrain effect.
	DrainMarked struct {
		isInput
		Agent, Session string
		Drain          session.Drain
		Err            error
	}
	// Scaled is the result of a Scale effect.
	Scaled struct {
		isInput
		Scale Scale
		Err   error
	}
	// SnapshotsWatched reports that a client is watching the snapshots.
	SnapshotsWatched struct{ isInput }
	// Measured is the result of a Measure effect: the resource usage by session name. If Err is set, there are no
	// measurements.
	Measured struct {
		isInput
		Usage map[string]session.Usage
		At    time.Time
		Err   error
	}
	// HistoriesSaved is the result of SaveHistories.
	HistoriesSaved struct {
		isInput
		Err error
	}
	// FoldersChanged reports that automation folders might have changed.
	FoldersChanged struct{ isInput }
	// Scanned is the result of a scan effect.
	Scanned struct {
		isInput
		Catalog automation.Catalog
		Newest  uint64 // sequence number of the newest event in the log
		Trouble string // problems with folders, or with links to formulas
		Away    bool   // the city's folder is not at its path, so nothing was read
	}
	// RunsSwept is the result of SweepRuns.
	RunsSwept struct {
		isInput
		Interrupted []city.Run  // runs that were open and are closed now
		Runs        []city.Run  // newest runs, including those in Interrupted
		Unclosable  string      // records that can never be closed, with the reasons
		Logged      *LoggedRuns // the log's information about the runs; nil = unknown
		Err         error
	}
	// EventsReceived contains events that automations subscribed to, in order.
	EventsReceived struct {
		isInput
		Subscription uint64
		Events       []events.Event
	}
	// SubscriptionEnded reports that a subscription has ended although the controller did not cancel it.
	SubscriptionEnded struct {
		isInput
		Subscription uint64
		Err          error
	}
	// ConditionChecked is the result of an automation's check.
	ConditionChecked struct {
		isInput
		Scoped string
		Check  string
		Code   int
		Err    string // reason why the exit code is unknown
	}
	// RunOpened is the result of creating a run's record.
	RunOpened struct {
		isInput
		Run  automation.Run
		Bead beads.Bead
		Err  error
	}
	// RunEnded is the end of a run.
	RunEnded struct {
		isInput
		Scoped, Bead   string
		Outcome        automation.Outcome
		Code           *int
		Problem        string
		Output         string
		Created, Title string // root bead that the formula created, and its title
		Rig            string // rig of the store that contains Created; "" = the city
		Formula        bool
		TimedOut       bool
		Canceled       bool
	}
	// RunClosed is the result of closing a run's record.
	RunClosed struct {
		isInput
		Bead string
		At   *time.Time // when the store closed the record; nil = unknown
		Err  error
	}
	// AutomationsSaved is the result of SaveAutomations.
	AutomationsSaved struct {
		isInput
		Rev uint64
		Err error
	}
	// BeadChanged is the result of ChangeBead.
	BeadChanged struct {
		isInput
		ID      uint64
		Events  []events.Event // events for the changes, in order; empty = nothing changed
		Bead    beads.Bead
		Message string // reply to the command; "" = derived from the event
		Err     *city.Error
	}
	// WorkCounted is the result of CountWork. If Unchanged is set, the counts are the same as before.
	WorkCounted struct {
		isInput
		Work      city.Work
		Rigs      map[string]city.RigWork // by rig; a rig that could not be counted is missing
		Unchanged bool
		Tasks     map[string]string  // newest bead in progress, by assignee
		Gated     map[string]string  // gate that the bead in Tasks waits for, by assignee
		Held      map[string]Holding // all unfinished work, by assignee
		Mail      city.MailTally
		Unknown   bool  // some counts are missing, because a store has never been counted
		Err       error // reason why some counts are out of date
	}
	// WorkReturned is the result of ReturnWork. If Err is set, part of the work might still have been returned.
	WorkReturned struct {
		isInput
		Done []Returned // in the order in which the work was returned
		Err  error
	}
	// StoresReported contains the problems of all stores.
	StoresReported struct {
		isInput
		guard.Report
	}
	// StoresProbed reports that failed stores were tried again.
	StoresProbed struct{ isInput }
	// Purged is the result of Purge.
	Purged struct {
		isInput
		N   int
		Err error
	}
	// BackedUp is the result of BackUp.
	BackedUp struct {
		isInput
		Err error
	}
	// Command is a command from a client. The reply has the same ID.
	Command struct {
		isInput
		ID   uint64
		Cmd  city.Command
		Peer city.Peer
	}
	// UnclosedRunsClosed is the result of CloseUnclosedRuns.
	UnclosedRunsClosed struct {
		isInput
		Err error
	}
	// CommandAbandoned reports that the client of a city.Fire is no longer waiting for the reply.
	CommandAbandoned struct {
		isInput
		ID uint64
	}
	// Shutdown requests that the controller end. The controller first stops the agents, unless Leave is set.
	Shutdown struct {
		isInput
		Leave bool
	}
	// Hurry ends the grace period of a stop in progress.
	Hurry struct{ isInput }
	// ModeChanged reports that the city runs in a different mode, for example because the console has closed.
	ModeChanged struct {
		isInput
		Mode string
	}
	// LogHealth reports why the event log is degraded; "" = the log works. Written is set if no event is queued.
	LogHealth struct {
		isInput
		Degraded string
		Written  bool
	}
	// HeartbeatRead is the content of a heartbeat file. If Stamp and Problem are empty, the file does not exist.
	HeartbeatRead struct {
		isInput
		Tier, Path string
		Stamp      time.Time
		Agents     watchdog.Agents
		Problem    string
		ReadFailed bool
	}
	// Escalated is the result of an escalation.
	Escalated struct {
		isInput
		Tier   string
		Call   time.Time
		Events []events.Event
		Err    string // reason why no mail was sent
		Ran    bool   // the escalate_command was run
		Failed string // description of the command's failure; "" = it succeeded
		Output string
	}
	// ListenerChanged reports the state of the TCP listener.
	ListenerChanged struct {
		isInput
		Listener city.Listener
	}
)

// Configuration is a city's configuration in the form that the machine uses.
type Configuration struct {
	Name      string
	Revision  string
	Suspended bool
	Wants     []agent.Want // sorted by name; contains all possible members of pools
	Pools     []agent.Pool // sorted by name
	Rigs      []agent.Rig  // sorted by name
	Tiers     []config.Watchdog
	Overrides map[string]int // sizes that users have set, by pool
	OnDisk    bool           // crash histories are saved: crash_history = "disk"

	Dir     string
	Source  *config.City // the configuration that this one was converted from
	Backups bool         // work is backed up once a day
	// the city has no stores, so work is not counted and no automation runs
	NoWork      bool
	Layers      []formula.Layer
	Automations automation.Options
	// wisp_gc_interval and wisp_ttl; both are 0 or both are positive
	WispEvery, WispTTL time.Duration
	Warnings           []string
	Waiting            []string // changed keys that take effect at the controller's next start
	Environ            []string // environment variables that override the file
	Console            city.Console
	API                config.API // the TCP listener; zero = none
	Store              city.WorkStore
	Patrol             time.Duration
	Grace              time.Duration // shutdown_timeout
	Window             time.Duration // restart_window
}

// Rig returns the rig with this name, or nil.
func (c *Configuration) Rig(name string) *agent.Rig {
	for i := range c.Rigs {
		if c.Rigs[i].Name == name {
			return &c.Rigs[i]
		}
	}
	return nil
}

// RigNames returns the names of all rigs.
func (c *Configuration) RigNames() []string {
	names := make([]string, len(c.Rigs))
	for i := range c.Rigs {
		names[i] = c.Rigs[i].Name
	}
	return names
}

// Leaver is a member that has permanently left its pool.
type Leaver struct {
	Agent, Pool string
	MailOnly    bool // return its mail, but not its work
}

// Returned is a bead that was returned to a pool.
type Returned struct {
	Leaver
	Bead  string
	Note  bool // the bead is a message
	Event events.Event
}

// Holding is the unfinished work of an assignee.
type Holding struct {
	IDs []string // IDs of some of the beads; beads in progress are first
	N   int
}

// Same reports whether two holdings are equal.
func (h Holding) Same(o Holding) bool { return h.N == o.N && slices.Equal(h.IDs, o.IDs) }

// With returns the combined work of h and o.
func (h Holding) With(o Holding) Holding {
	h.N += o.N
	h.IDs = slices.Concat(h.IDs, o.IDs[:min(len(o.IDs), city.StrandedIDs-len(h.IDs))])
	return h
}
