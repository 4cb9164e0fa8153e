package controller

import (
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

// input is something that happened. The loop turns the world into inputs; the machine never looks at the world itself.
type input interface{ input() }

type (
	// inTick is the patrol.
	inTick struct{}
	// inStalled says that the whole program stood still until now: what it knows of the time before is of no use.
	inStalled struct{}
	// inWake is a time that the machine asked for (see machine.next).
	inWake struct{}
	// inPoke says that the configuration may have changed.
	inPoke struct{}
	// inConfig is the result of a load effect. With neither conf nor err there was nothing new.
	inConfig struct {
		revision string // that was looked at
		conf     *conf
		found    bool  // conf differs although its files do not: programs are there that were not
		err      error // why the files on disk cannot come into force
	}
	// inObserved is the result of a list effect.
	inObserved struct {
		turn     uint64 // of the effect: what the machine did to an agent since then is newer than this
		sessions []session.Status
		past     *inherited // nil: nothing of a predecessor's can be among them
		err      error
	}
	// inCaughtUp is the answer of a provider that was late for the look of a turn. Each that was late has one.
	inCaughtUp struct {
		turn     uint64
		provider string
		sessions []session.Status
		past     *inherited
		err      error
	}
	// inLost is the result of a list effect that found another controller in charge of the city.
	inLost struct{ err error }
	// inAway says that the city's folder is not where it was, and why; "" = it is there again.
	inAway struct{ why string }
	// inExited is an end that the provider told of by itself.
	inExited struct{ exit session.Exit }
	// inAnswered tells that a question of an agent's program was answered at its start.
	inAnswered struct {
		agent, session string // the session's id
		dialog         session.Dialog
	}
	// inAsks tells that an agent's program asks something at its start that somebody at its terminal has to answer.
	inAsks struct {
		agent  string
		status session.Status // of its session
		about  string         // "" = it does so no more
	}
	// inStarted is the result of a start or resume effect.
	inStarted struct {
		agent    string
		status   session.Status
		equipped string   // what was put into its folder; "" = nothing
		troubles []string // what was not, though it should have been
		err      error
	}
	// inStopped is the result of a stop effect.
	inStopped struct {
		agent string
		err   error
	}
	// inVetted is the result of a vet effect.
	inVetted struct {
		provider string
		err      error // why it could run nothing
	}
	// inCaptured is the result of a capture effect.
	inCaptured struct {
		agent, id string
		tail      string // last lines, plain text
		file      string // kept output, relative to the city; "" = none
		err       error
	}
	// inTyped is the result of a typing effect.
	inTyped struct {
		agent string
		err   error
	}
	// inSent is the result of typing a text.
	inSent struct {
		agent     string
		id        uint64        // of the delivery
		held      string        // why it was not typed; "" = it was, if err is nil
		wait      time.Duration // before it is tried again
		disturbed bool          // it was held back by somebody who types
		output    uint64        // bytes printed until it was submitted; the largest number = nobody knows
		err       error         // it was refused, and will be again
	}
	// inEdited is the result of an edit effect; a load effect follows by itself.
	inEdited struct {
		edit fxEdit
		err  error
	}
	// inChecked is the result of a check effect.
	inChecked struct {
		pool   string
		check  string // the line that ran
		value  int
		err    error         // why it does not count
		kind   string        // of err: of one kind only the first is told
		output string        // end of what it printed, cleaned
		took   time.Duration // it ran so long
	}
	// inMarked is the result of a mark effect.
	inMarked struct {
		agent, session string // session: the id of the life
		drain          session.Drain
		err            error
	}
	// inScaled is the result of writing an override.
	inScaled struct {
		scale fxScale
		err   error
	}
	// inWatched says that somebody watches just now.
	inWatched struct{}
	// inMeasured is what sessions took at a time, by name. With err nothing is known.
	inMeasured struct {
		usage map[string]session.Usage
		at    time.Time
		err   error
	}
	// inRemembered is the result of writing the crash histories down.
	inRemembered struct{ err error }
	// inRescan says that folders of automations may have changed.
	inRescan struct{}
	// inScanned is the result of a scan effect.
	inScanned struct {
		catalog automation.Catalog
		newest  uint64 // seq of the log's newest event
		trouble string // with layers, or with what is linked from them
		away    bool   // the city is not at its path: nothing was looked for
	}
	// inSwept is the result of looking at the records of runs.
	inSwept struct {
		interrupted []city.Run // were open, and are closed now
		runs        []city.Run // newest ones, those included
		odd         string     // which cannot be closed, and why
		told        *toldRuns  // what the log says of them; nil: unknown
		err         error
	}
	// inHappened is events that automations wait for, in order.
	inHappened struct {
		follow uint64 // the effect that hands them in
		events []events.Event
	}
	// inDeaf says that a follow effect has come to its end by itself.
	inDeaf struct {
		follow uint64
		err    error
	}
	// inCondition is the result of an automation's check.
	inCondition struct {
		scoped string
		check  string // the line that ran
		code   int
		err    string // why there is no code
	}
	// inOpened is the result of making a run's record.
	inOpened struct {
		run  automation.Run
		bead beads.Bead
		err  error
	}
	// inRan is the end of a run.
	inRan struct {
		scoped, bead string
		outcome      automation.Outcome
		code         *int
		problem      string
		output       string
		made, title  string // the root of what a formula made
		formula      bool
		timedOut     bool
		halted       bool // somebody wanted it ended
		took         time.Duration
	}
	// inShut is the result of closing a run's record.
	inShut struct {
		bead string
		err  error
	}
	// inMemorised is the result of writing down what automations have done.
	inMemorised struct {
		rev uint64
		err error
	}
	// inBead is the result of a command about work.
	inBead struct {
		id      uint64
		events  []events.Event // of what has changed; none = it was so already
		bead    beads.Bead
		message string // for whoever asked; "" = the event says it
		err     *city.Error
	}
	// inCounted is how much work there is. Unchanged: as when it was last counted.
	inCounted struct {
		work      city.Work
		rigs      map[string]city.RigWork // of those whose work could be counted
		unchanged bool
		tasks     map[string]string  // by assignee: his newest work in progress
		gated     map[string]string  // by assignee: the gate that this work awaits
		held      map[string]holding // by assignee: all that he has not done
		mail      city.MailTally
		unknown   bool  // work says nothing, because some of it was never counted
		err       error // why some of it is as it was counted before
	}
	// inReturned is the result of giving work back to pools. Some of it may be done though there is an error.
	inReturned struct {
		done []returned // in the order in which it was done
		err  error
	}
	// inStores is what is wrong with the stores.
	inStores struct{ guard.Report }
	// inProbed says that the stores that failed have been tried.
	inProbed struct{}
	// inPurged is the result of removing old wisps.
	inPurged struct {
		n   int
		err error
	}
	// inBackedUp is the result of fxBackUp.
	inBackedUp struct{ err error }
	// inCommand is somebody's wish; id names the answer.
	inCommand struct {
		id   uint64
		cmd  city.Command
		peer city.Peer
	}
	// inStrays is the result of closing records of runs that never were.
	inStrays struct{ err error }
	// inUnasked says that nobody waits any more for the answer to a city.Fire.
	inUnasked struct{ id uint64 }
	// inShutdown ends the city: its agents too, unless leave.
	inShutdown struct{ leave bool }
	// inHurry takes the grace out of a shutdown under way.
	inHurry struct{}
	// inMode says that the city is run in another way now: its console is gone.
	inMode struct{ mode string }
	// inHealth is the event log's own word on its health.
	inHealth struct{ degraded string }
	// inHeartbeat is the result of looking at a heartbeat's file. With neither stamp nor problem there is none.
	inHeartbeat struct {
		tier, path string
		stamp      time.Time
		agents     watchdog.Agents // as it reports them
		problem    string
		unread     bool // what lies there could not be looked at
	}
	// inEscalated is the result of calling a person.
	inEscalated struct {
		tier   string
		call   time.Time
		events []events.Event
		err    string // why no mail was sent
		ran    bool   // a command
		failed string // how it failed
		output string
	}
	// inDoor is what has become of the wish to answer over TCP.
	inDoor struct{ door city.Door }
)

func (inHeartbeat) input()  {}
func (inEscalated) input()  {}
func (inStrays) input()     {}
func (inUnasked) input()    {}
func (inVetted) input()     {}
func (inRescan) input()     {}
func (inScanned) input()    {}
func (inSwept) input()      {}
func (inHappened) input()   {}
func (inDeaf) input()       {}
func (inCondition) input()  {}
func (inOpened) input()     {}
func (inRan) input()        {}
func (inShut) input()       {}
func (inMemorised) input()  {}
func (inBead) input()       {}
func (inCounted) input()    {}
func (inReturned) input()   {}
func (inPurged) input()     {}
func (inBackedUp) input()   {}
func (inStores) input()     {}
func (inProbed) input()     {}
func (inTick) input()       {}
func (inStalled) input()    {}
func (inChecked) input()    {}
func (inMarked) input()     {}
func (inScaled) input()     {}
func (inMeasured) input()   {}
func (inWatched) input()    {}
func (inRemembered) input() {}
func (inWake) input()       {}
func (inPoke) input()       {}
func (inConfig) input()     {}
func (inObserved) input()   {}
func (inCaughtUp) input()   {}
func (inLost) input()       {}
func (inAway) input()       {}
func (inExited) input()     {}
func (inStarted) input()    {}
func (inAnswered) input()   {}
func (inAsks) input()       {}
func (inStopped) input()    {}
func (inCaptured) input()   {}
func (inTyped) input()      {}
func (inSent) input()       {}
func (inEdited) input()     {}
func (inCommand) input()    {}
func (inShutdown) input()   {}
func (inHurry) input()      {}
func (inMode) input()       {}
func (inHealth) input()     {}
func (inDoor) input()       {}

// conf is a configuration as the machine needs it.
type conf struct {
	name      string
	revision  string
	suspended bool
	wants     []agent.Want // in name order; all possible members of pools too
	pools     []agent.Pool // in name order
	rigs      []agent.Rig  // in name order
	tiers     []config.Watchdog
	overrides map[string]int // of pools, by hand
	onDisk    bool           // crash_history = "disk"

	dir                string       // of the city
	source             *config.City // what all this was made of
	backups            bool         // work is backed up once a day
	nowork             bool         // there are no stores: nothing is counted, nothing runs by itself
	layers             []formula.Layer
	automations        automation.Options
	wispEvery, wispTTL time.Duration // both or none are 0
	warnings           []string
	environ            []string // that beats the file
	console            city.Console
	api                config.API // zero = nowhere
	store              city.WorkStore
	patrol             time.Duration
	grace              time.Duration // shutdown_timeout
	window             time.Duration // restart_window
}
