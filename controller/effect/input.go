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

// Input is something that happened. The loop turns the world into inputs; the machine never looks at the world
// itself.
type Input interface{ input() }

type (
	// Tick is the patrol.
	Tick struct{}
	// Stalled says that the whole program stood still until now: what it knows of the time before is of no use.
	Stalled struct{}
	// Wake is a time that the machine asked for (see machine.next).
	Wake struct{}
	// Poked says that the configuration may have changed.
	Poked struct{}
	// Loaded is the result of a load effect. With neither conf nor err there was nothing new.
	Loaded struct {
		Revision string // that was looked at
		Conf     *Configuration
		Found    bool  // conf differs although its files do not: programs are there that were not
		Err      error // why the files on disk cannot come into force
	}
	// Listed is the result of a list effect.
	Listed struct {
		// of the effect: what the machine did to an agent since then is newer than this
		Turn     uint64
		Sessions []session.Status
		Past     *Inherited // nil: nothing of a predecessor's can be among them
		Err      error
	}
	// ListedLate is the answer of a provider that was late for the look of a turn. Each that was late has one.
	ListedLate struct {
		Turn     uint64
		Provider string
		Sessions []session.Status
		Past     *Inherited
		Err      error
	}
	// Lost is the result of a list effect that found another controller in charge of the city.
	Lost struct{ Err error }
	// FolderMoved says that the city's folder is not where it was, and why; "" = it is there again.
	FolderMoved struct{ Why string }
	// Exited is an end that the provider told of by itself.
	Exited struct{ Exit session.Exit }
	// DialogAnswered tells that a question of an agent's program was answered at its start.
	DialogAnswered struct {
		Agent, Session string // the session's id
		Dialog         session.Dialog
	}
	// Asking tells that an agent's program asks something at its start that somebody at its terminal has to answer.
	Asking struct {
		Agent  string
		Status session.Status // of its session
		About  string         // "" = it does so no more
		Waits  string         // what the session provider waits for instead; "" = nothing
	}
	// Started is the result of a start or resume effect.
	Started struct {
		Agent    string
		Status   session.Status
		Equipped string   // what was put into its folder; "" = nothing
		Troubles []string // what was not, though it should have been
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
		Err      error // why it could run nothing
	}
	// Captured is the result of a capture effect.
	Captured struct {
		Agent, ID string
		Tail      string // last lines, plain text
		File      string // kept output, relative to the city; "" = none
		Err       error
	}
	// Typed is the result of a typing effect.
	Typed struct {
		Agent string
		Err   error
	}
	// Sent is the result of typing a text.
	Sent struct {
		Agent     string
		ID        uint64        // of the delivery
		Held      string        // why it was not typed; "" = it was, if err is nil
		Wait      time.Duration // before it is tried again
		Disturbed bool          // it was held back by somebody who types
		// bytes printed until it was submitted; the largest number = nobody knows
		Output uint64
		Err    error // it was refused, and will be again
	}
	// Edited is the result of an edit effect; a load effect follows by itself.
	Edited struct {
		Edit Edit
		Err  error
	}
	// PoolChecked is the result of a check effect.
	PoolChecked struct {
		Pool   string
		Check  string // the line that ran
		Value  int
		Err    error         // why it does not count
		Kind   string        // of err: of one kind only the first is told
		Output string        // end of what it printed, cleaned
		Took   time.Duration // it ran so long
	}
	// DrainMarked is the result of a mark effect.
	DrainMarked struct {
		Agent, Session string // session: the id of the life
		Drain          session.Drain
		Err            error
	}
	// Scaled is the result of writing an override.
	Scaled struct {
		Scale Scale
		Err   error
	}
	// Watched says that somebody watches just now.
	Watched struct{}
	// Measured is what sessions took at a time, by name. With err nothing is known.
	Measured struct {
		Usage map[string]session.Usage
		At    time.Time
		Err   error
	}
	// HistoriesSaved is the result of writing the crash histories down.
	HistoriesSaved struct{ Err error }
	// FoldersChanged says that folders of automations may have changed.
	FoldersChanged struct{}
	// Scanned is the result of a scan effect.
	Scanned struct {
		Catalog automation.Catalog
		Newest  uint64 // seq of the log's newest event
		Trouble string // with layers, or with what is linked from them
		Away    bool   // the city is not at its path: nothing was looked for
	}
	// RunsSwept is the result of looking at the records of runs.
	RunsSwept struct {
		Interrupted []city.Run  // were open, and are closed now
		Runs        []city.Run  // newest ones, those included
		Odd         string      // which cannot be closed, and why
		Told        *LoggedRuns // what the log says of them; nil: unknown
		Err         error
	}
	// Happened is events that automations wait for, in order.
	Happened struct {
		Follow uint64 // the effect that hands them in
		Events []events.Event
	}
	// FollowEnded says that a follow effect has come to its end by itself.
	FollowEnded struct {
		Follow uint64
		Err    error
	}
	// ConditionChecked is the result of an automation's check.
	ConditionChecked struct {
		Scoped string
		Check  string // the line that ran
		Code   int
		Err    string // why there is no code
	}
	// RunOpened is the result of making a run's record.
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
		Made, Title  string // the root of what a formula made
		Formula      bool
		TimedOut     bool
		Halted       bool // somebody wanted it ended
		Took         time.Duration
	}
	// RunClosed is the result of closing a run's record.
	RunClosed struct {
		Bead string
		Err  error
	}
	// AutomationsSaved is the result of writing down what automations have done.
	AutomationsSaved struct {
		Rev uint64
		Err error
	}
	// BeadChanged is the result of a command about work.
	BeadChanged struct {
		ID      uint64
		Events  []events.Event // of what has changed; none = it was so already
		Bead    beads.Bead
		Message string // for whoever asked; "" = the event says it
		Err     *city.Error
	}
	// WorkCounted is how much work there is. Unchanged: as when it was last counted.
	WorkCounted struct {
		Work      city.Work
		Rigs      map[string]city.RigWork // of those whose work could be counted
		Unchanged bool
		Tasks     map[string]string  // by assignee: his newest work in progress
		Gated     map[string]string  // by assignee: the gate that this work awaits
		Held      map[string]Holding // by assignee: all that he has not done
		Mail      city.MailTally
		Unknown   bool  // work says nothing, because some of it was never counted
		Err       error // why some of it is as it was counted before
	}
	// WorkReturned is the result of giving work back to pools. Some of it may be done though there is an error.
	WorkReturned struct {
		Done []Returned // in the order in which it was done
		Err  error
	}
	// StoresReported is what is wrong with the stores.
	StoresReported struct{ guard.Report }
	// StoresProbed says that the stores that failed have been tried.
	StoresProbed struct{}
	// Purged is the result of removing old wisps.
	Purged struct {
		N   int
		Err error
	}
	// BackedUp is the result of BackUp.
	BackedUp struct{ Err error }
	// Command is somebody's wish; id names the answer.
	Command struct {
		ID   uint64
		Cmd  city.Command
		Peer city.Peer
	}
	// UnclosedRunsClosed is the result of closing records of runs that never were.
	UnclosedRunsClosed struct{ Err error }
	// CommandAbandoned says that nobody waits any more for the answer to a city.Fire.
	CommandAbandoned struct{ ID uint64 }
	// Shutdown ends the city: its agents too, unless leave.
	Shutdown struct{ Leave bool }
	// Hurry takes the grace out of a shutdown under way.
	Hurry struct{}
	// ModeChanged says that the city is run in another way now: its console is gone.
	ModeChanged struct{ Mode string }
	// LogHealth is the event log's own word on its health.
	LogHealth struct{ Degraded string }
	// HeartbeatRead is the result of looking at a heartbeat's file. With neither stamp nor problem there is none.
	HeartbeatRead struct {
		Tier, Path string
		Stamp      time.Time
		Agents     watchdog.Agents // as it reports them
		Problem    string
		Unread     bool // what lies there could not be looked at
	}
	// Escalated is the result of calling a person.
	Escalated struct {
		Tier   string
		Call   time.Time
		Events []events.Event
		Err    string // why no mail was sent
		Ran    bool   // a command
		Failed string // how it failed
		Output string
	}
	// ListenerChanged is what has become of the wish to answer over TCP.
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
