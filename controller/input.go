package controller

import (
	"time"

	"gcity/agent"
	"gcity/city"
	"gcity/session"
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
		err      error // why the files on disk cannot come into force
	}
	// inObserved is the result of a list effect.
	inObserved struct {
		turn     uint64 // of the effect: what the machine did to an agent since then is newer than this
		sessions []session.Status
		err      error
	}
	// inLost is the result of a list effect that found another controller in charge of the city.
	inLost struct{ err error }
	// inExited is an end that the provider told of by itself.
	inExited struct{ exit session.Exit }
	// inStarted is the result of a start or resume effect.
	inStarted struct {
		agent  string
		status session.Status
		err    error
	}
	// inStopped is the result of a stop effect.
	inStopped struct {
		agent string
		err   error
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
	// inCommand is somebody's wish; id names the answer.
	inCommand struct {
		id  uint64
		cmd city.Command
	}
	// inShutdown ends the city: its agents too, unless leave.
	inShutdown struct{ leave bool }
	// inHurry takes the grace out of a shutdown under way.
	inHurry struct{}
	// inMode says that the city is run in another way now: its console is gone.
	inMode struct{ mode string }
	// inHealth is the event log's own word on its health.
	inHealth struct{ degraded string }
)

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
func (inLost) input()       {}
func (inExited) input()     {}
func (inStarted) input()    {}
func (inStopped) input()    {}
func (inCaptured) input()   {}
func (inTyped) input()      {}
func (inEdited) input()     {}
func (inCommand) input()    {}
func (inShutdown) input()   {}
func (inHurry) input()      {}
func (inMode) input()       {}
func (inHealth) input()     {}

// conf is a configuration as the machine needs it.
type conf struct {
	name      string
	revision  string
	suspended bool
	wants     []agent.Want   // in name order; all possible members of pools too
	pools     []agent.Pool   // in name order
	rigs      []agent.Rig    // in name order
	overrides map[string]int // of pools, by hand
	onDisk    bool           // crash_history = "disk"
	warnings  []string
	patrol    time.Duration
	grace     time.Duration // shutdown_timeout
	window    time.Duration // restart_window
}
