package effect

import (
	"time"

	"gcity/automation"
	"gcity/beads"
	"gcity/beads/guard"
	"gcity/city"
	"gcity/events"
	"gcity/session"
	"gcity/watchdog"
)

// Input is something that happened. The loop converts the outside world into inputs.
type Input interface{ input() }

type (
	// Tick starts a patrol.
	Tick struct{}
	// Stalled says that the whole program was suspended until now, so earlier observations are out of date.
	Stalled struct{}
	// Wake is a time that the machine asked for (see Machine.Next).
	Wake struct{}
	// Poked says that the configuration may have changed.
	Poked struct{}
	// Loaded is the result of a load effect. Without Conf and Err, nothing has changed.
	Loaded struct {
		Revision string // of the files that were read
		Conf     *Configuration
		// the configuration differs although its files do not: programs were installed
		Found bool
		Err   error // why the files on disk are refused
	}
	// Listed is the result of a list effect.
	Listed struct {
		// of the effect: actions of the machine after it are newer than this list
		Turn     uint64
		Sessions []session.Status
		Past     *Inherited // nil: it contains no sessions of the previous controller
		Err      error
	}
	// ListedLate is the answer of one provider that was late.
	ListedLate struct {
		Turn     uint64
		Provider string
		Sessions []session.Status
		Past     *Inherited
		Err      error
	}
	// Lost is the result of a list effect that found another controller in charge of the city.
	Lost struct{ Err error }
	// FolderMoved says that the city's folder is not at its path, and why; "" = it is back.
	FolderMoved struct{ Why string }
	// Exited is an exit that the provider reported on its own.
	Exited struct{ Exit session.Exit }
	// DialogAnswered says that a question of an agent's program was answered during its start.
	DialogAnswered struct {
		Agent, Session string // the session's id
		Dialog         session.Dialog
	}
	// Asking says that an agent's program asks a question during its start that a user has to answer in its
	// terminal.
	Asking struct {
		Agent  string
		Status session.Status // of its session
		About  string         // the question; "" = it no longer asks
		Waits  string         // what the provider waits for instead; "" = nothing
	}
	// Started is the result of a start or resume effect.
	Started struct {
		Agent    string
		Status   session.Status
		Equipped string   // what was copied into its folder; "" = nothing
		Troubles []string // what could not be copied
		Err      error
	}
	// Stopped is the result of a stop effect.
	Stopped struct {
		Agent string
		Err   error
	}
	// Vetted is the result of a vet effect.
	Vetted struct {
		Provider string
		Err      error // why it cannot run sessions
	}
	// Captured is the result of a capture effect.
	Captured struct {
		Agent, ID string
		Tail      string // last lines, plain text
		File      string // the saved output, relative to the city; "" = not saved
		Err       error
	}
	// Typed is the result of a Type effect.
	Typed struct {
		Agent string
		Err   error
	}
	// Sent is the result of a Send effect.
	Sent struct {
		Agent     string
		ID        uint64        // of the delivery
		Held      string        // why it was held back; "" = it was typed, if Err is nil
		Wait      time.Duration // until the next attempt
		Disturbed bool          // a user was typing
		// bytes printed until it was submitted; the largest number = unknown
		Output uint64
		Err    error // it was refused, and a retry would be too
	}
	// Edited is the result of an Edit effect; a load follows automatically.
	Edited struct {
		Edit Edit
		Err  error
	}
	// PoolChecked is the result of a check of a pool.
	PoolChecked struct {
		Pool   string
		Check  string // the command that ran
		Value  int
		Err    error         // why the result is invalid
		Kind   string        // of Err: only the first error of a kind is reported
		Output string        // end of the output, cleaned
		Took   time.Duration // run time
	}
	// DrainMarked is the result of a MarkDrain effect.
	DrainMarked struct {
		Agent, Session string // Session is the ID of the session
		Drain          session.Drain
		Err            error
	}
	// Scaled is the result of a Scale effect.
	Scaled struct {
		Scale Scale
		Err   error
	}
	// Watched says that a client watches the snapshots.
	Watched struct{}
	// Measured has the resources that sessions used, by name. With Err, nothing is known.
	Measured struct {
		Usage map[string]session.Usage
		At    time.Time
		Err   error
	}
	// HistoriesSaved is the result of SaveHistories.
	HistoriesSaved struct{ Err error }
	// FoldersChanged says that folders of automations may have changed.
	FoldersChanged struct{}
	// Scanned is the result of a scan effect.
	Scanned struct {
		Catalog automation.Catalog
		Newest  uint64 // sequence number of the newest event in the log
		Trouble string // with folders, or with links to formulas
		Away    bool   // the city is not at its path: nothing was read
	}
	// RunsSwept is the result of SweepRuns.
	RunsSwept struct {
		Interrupted []city.Run  // were open and are closed now
		Runs        []city.Run  // the newest, including those
		Odd         string      // records that can never be closed, and why
		Told        *LoggedRuns // what the log contains about them; nil: unknown
		Err         error
	}
	// Happened has events that automations wait for, in order.
	Happened struct {
		Follow uint64 // ID of the Follow effect
		Events []events.Event
	}
	// FollowEnded says that a Follow effect ended on its own.
	FollowEnded struct {
		Follow uint64
		Err    error
	}
	// ConditionChecked is the result of an automation's check.
	ConditionChecked struct {
		Scoped string
		Check  string // the command that ran
		Code   int
		Err    string // why it has no exit code
	}
	// RunOpened is the result of creating the record of a run.
	RunOpened struct {
		Run  automation.Run
		Bead beads.Bead
		Err  error
	}
	// RunEnded is the end of a run.
	RunEnded struct {
		Scoped, Bead string
		Outcome      automation.Outcome
		Code         *int
		Problem      string
		Output       string
		Made, Title  string // the root bead that a formula created
		Formula      bool
		TimedOut     bool
		Halted       bool // it was canceled on request
		Took         time.Duration
	}
	// RunClosed is the result of closing the record of a run.
	RunClosed struct {
		Bead string
		Err  error
	}
	// AutomationsSaved is the result of SaveAutomations.
	AutomationsSaved struct {
		Rev uint64
		Err error
	}
	// BeadChanged is the result of a command about work.
	BeadChanged struct {
		ID      uint64
		Events  []events.Event // of the changes; empty = nothing changed
		Bead    beads.Bead
		Message string // answer to the command; "" = as the event says
		Err     *city.Error
	}
	// WorkCounted is the result of CountWork. Unchanged: the same as the last count.
	WorkCounted struct {
		Work      city.Work
		Rigs      map[string]city.RigWork // of rigs that could be counted
		Unchanged bool
		Tasks     map[string]string  // by assignee: the newest work in progress
		Gated     map[string]string  // by assignee: the gate that this work waits for
		Held      map[string]Holding // by assignee: all unfinished work
		Mail      city.MailTally
		Unknown   bool  // Work is incomplete, because a store was never counted
		Err       error // why some counts are old
	}
	// WorkReturned is the result of returning work to pools. Some of it may be done despite an error.
	WorkReturned struct {
		Done []Returned // in the order in which it was done
		Err  error
	}
	// StoresReported has the problems of the stores.
	StoresReported struct{ guard.Report }
	// StoresProbed says that the stores that failed were tried again.
	StoresProbed struct{}
	// Purged is the result of removing old wisps.
	Purged struct {
		N   int
		Err error
	}
	// BackedUp is the result of BackUp.
	BackedUp struct{ Err error }
	// Command is a command of a client; ID identifies the answer.
	Command struct {
		ID   uint64
		Cmd  city.Command
		Peer city.Peer
	}
	// UnclosedRunsClosed is the result of CloseUnclosedRuns.
	UnclosedRunsClosed struct{ Err error }
	// CommandAbandoned says that no client waits for the answer to a city.Fire any more.
	CommandAbandoned struct{ ID uint64 }
	// Shutdown stops the city: its agents too, unless Leave is set.
	Shutdown struct{ Leave bool }
	// Hurry ends the grace period of a shutdown in flight.
	Hurry struct{}
	// ModeChanged says that the city runs in another mode: its console has closed.
	ModeChanged struct{ Mode string }
	// LogHealth says why the event log is degraded; "" = it is healthy.
	LogHealth struct{ Degraded string }
	// HeartbeatRead is the content of a heartbeat file. Without Stamp and Problem, the file does not exist.
	HeartbeatRead struct {
		Tier, Path string
		Stamp      time.Time
		Agents     watchdog.Agents // as the heartbeat reports them
		Problem    string
		Unread     bool // the file could not be read
	}
	// Escalated is the result of an escalation.
	Escalated struct {
		Tier   string
		Call   time.Time
		Events []events.Event
		Err    string // why no mail was sent
		Ran    bool   // escalate_command ran
		Failed string // how it failed
		Output string
	}
	// ListenerChanged is the state of the TCP listener.
	ListenerChanged struct{ Door city.Listener }
)

func (HeartbeatRead) input()      {}
func (Escalated) input()          {}
func (UnclosedRunsClosed) input() {}
func (CommandAbandoned) input()   {}
func (Vetted) input()             {}
func (FoldersChanged) input()     {}
func (Scanned) input()            {}
func (RunsSwept) input()          {}
func (Happened) input()           {}
func (FollowEnded) input()        {}
func (ConditionChecked) input()   {}
func (RunOpened) input()          {}
func (RunEnded) input()           {}
func (RunClosed) input()          {}
func (AutomationsSaved) input()   {}
func (BeadChanged) input()        {}
func (WorkCounted) input()        {}
func (WorkReturned) input()       {}
func (Purged) input()             {}
func (BackedUp) input()           {}
func (StoresReported) input()     {}
func (StoresProbed) input()       {}
func (Tick) input()               {}
func (Stalled) input()            {}
func (PoolChecked) input()        {}
func (DrainMarked) input()        {}
func (Scaled) input()             {}
func (Measured) input()           {}
func (Watched) input()            {}
func (HistoriesSaved) input()     {}
func (Wake) input()               {}
func (Poked) input()              {}
func (Loaded) input()             {}
func (Listed) input()             {}
func (ListedLate) input()         {}
func (Lost) input()               {}
func (FolderMoved) input()        {}
func (Exited) input()             {}
func (Started) input()            {}
func (DialogAnswered) input()     {}
func (Asking) input()             {}
func (Stopped) input()            {}
func (Captured) input()           {}
func (Typed) input()              {}
func (Sent) input()               {}
func (Edited) input()             {}
func (Command) input()            {}
func (Shutdown) input()           {}
func (Hurry) input()              {}
func (ModeChanged) input()        {}
func (LogHealth) input()          {}
func (ListenerChanged) input()    {}
