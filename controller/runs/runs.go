// Package runs makes the decisions about a city's automations and their runs.
package runs

import (
	"maps"
	"slices"
	"time"

	"gcity/automation"
	"gcity/city"
	"gcity/controller/effect"
	"gcity/controller/step"
	"gcity/internal/toml"
)

// Runs is the state of a city's automations. automation.Runs decides when an automation runs. Runs turns these
// decisions into effects, and passes the results back.
type Runs struct {
	city City
	out  *step.Output

	Schedule *automation.Runs
	catalog  automation.Catalog
	known    bool // the automations were read at least once
	// state that the previous controller saved; nil after it was passed to Schedule
	Inherited map[string]automation.Memory
	// depths of active runs, by ID of their record; see automation.Depth
	Depths map[string]int
	// sequence number of the newest event when the automations were read
	logSeq           uint64
	RecordsRead      bool // the records that a previous controller left open are closed
	sweeping         bool // a SweepRuns is in flight
	Scanning, rescan bool

	SubscriptionID   uint64   // ID of the latest Subscribe effect
	handledSeq       uint64   // sequence number of the latest event that was handled
	subscribedTypes  []string // event types in the subscription
	subscriptionLost bool     // the subscription has ended, and the next patrol subscribes again

	Current map[string]*city.Run // active runs by scoped name; ID "" = the record is being created
	Last    map[string]*city.Run // newest run of each automation
	failed  map[string]*city.Run // newest run of each automation, if that run failed

	earlyFires    []earlyFire
	FireWaiters   map[string][]uint64 // commands that wait for a run to start, by scoped name
	cancelWaiters map[string][]uint64 // commands that wait for a run to end, by ID of the record

	Queued      []effect.Run               // runs that start when the state is saved
	OpenRecords map[string]effect.CloseRun // records that are not closed yet, by ID
	SavedRev    uint64                     // revision of the saved state
	saving      bool
	Problems
	firstPatrol time.Time
	// time of the next search for open records of runs that were given up; zero = none is necessary
	unclosedCheck time.Time
}

// Problems contains the problems of a city's automations. An empty field means no problem.
type Problems struct {
	StateNotRead     string // reason why the saved state could not be read
	FoldersNotRead   string // reason why automation folders cannot be read
	RecordsNotRead   string // reason why the records of earlier runs cannot be read
	Unclosable       string // records that can never be closed, with the reasons
	NoEvents         string // reason why automations do not receive events
	RecordNotCreated string // reason why run records cannot be created
	RecordNotClosed  string // reason why run records cannot be closed
	StateNotSaved    string // reason why the state cannot be saved
}

// City is the view of the city that Runs uses.
type City interface {
	Configuration() *effect.Configuration // nil before the first configuration
	Running() bool                        // the city is not being stopped
	Observed() bool                       // the city has no controller, so no run may start
	OneShot() bool                        // one-shot mode, in which no run may start
	FolderMoved() bool                    // the city's folder is not at its path
	StoreProblem() string                 // reason why the city's store cannot be used; "" = it can
	CountWork()
}

// New returns an empty Runs. Effects are added to out.
func New(c City, out *step.Output) Runs {
	return Runs{
		city:          c,
		out:           out,
		Schedule:      automation.NewRuns(0),
		Inherited:     map[string]automation.Memory{},
		Depths:        map[string]int{},
		Current:       map[string]*city.Run{},
		Last:          map[string]*city.Run{},
		failed:        map[string]*city.Run{},
		FireWaiters:   map[string][]uint64{},
		cancelWaiters: map[string][]uint64{},
		OpenRecords:   map[string]effect.CloseRun{},
	}
}

// Inherit sets the state that the previous controller saved, or the reason why it cannot be read.
func (rs *Runs) Inherit(state map[string]automation.Memory, problem string) {
	rs.StateNotRead = problem
	if state != nil {
		rs.Inherited = state
	}
}

// Checked handles the result of an automation's check.
func (rs *Runs) Checked(now time.Time, in effect.ConditionChecked) {
	rs.Schedule.Checked(in.Scoped, in.Check, in.Code, in.Err)
	rs.Advance(now)
}

// Next returns the earliest time at which an automation may be due, or zero.
func (rs *Runs) Next(now time.Time) time.Time {
	if !rs.RecordsRead {
		return time.Time{}
	}
	return rs.Schedule.Next(now)
}

// ActiveNames returns the names of automations with an active run, sorted.
func (rs *Runs) ActiveNames() []string { return slices.Sorted(maps.Keys(rs.Current)) }

// Closing returns the number of records that are being closed.
func (rs *Runs) Closing() (n int) {
	for _, f := range rs.OpenRecords {
		if !f.Failed {
			n++
		}
	}
	return n
}

// Quiet reports whether no run is active and no record is being closed.
func (rs *Runs) Quiet() bool { return len(rs.Current) == 0 && rs.Closing() == 0 }

// SavedNames returns the names of automations with saved state, sorted.
func (rs *Runs) SavedNames() []string { return slices.Sorted(maps.Keys(rs.Schedule.Memory())) }

// Warnings returns the problems that the last scan found in automation folders.
func (rs *Runs) Warnings() toml.Problems { return rs.catalog.Warnings }
