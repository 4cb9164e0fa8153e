// Package runs decides about the automations of a city and their runs.
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

// Runs is the state of the automations of a city. automation.Runs decides when an automation runs; Runs turns these
// decisions into effects and reports their results back.
type Runs struct {
	city City
	out  *step.Output

	Schedule *automation.Runs
	catalog  automation.Catalog
	known    bool // the catalog was read at least once
	// what the previous controller saved; nil after it was passed to schedule
	Inherited map[string]automation.Memory
	// depth of runs that have not ended yet, by bead; see automation.Depth
	Depths           map[string]int
	logSeq           uint64 // of the newest event when the catalog was read
	RecordsRead      bool   // records that a previous controller left open are closed
	sweeping         bool   // a sweep is in flight
	Scanning, rescan bool

	FeedID   uint64   // ID of the newest Follow effect
	fedTo    uint64   // sequence number of the newest event that the automations have seen
	fedTypes []string // event types that the feed delivers
	feedLost bool     // the feed ended; the next patrol starts another

	Current map[string]*city.Run // by scoped name; ID "" = its record is being created
	Last    map[string]*city.Run // the newest run of each automation
	failed  map[string]*city.Run // the newest run of each automation if it failed

	earlyFires    []earlyFire
	FireWaiters   map[string][]uint64 // by scoped name: commands that wait for a run to start
	cancelWaiters map[string][]uint64 // by bead: commands that wait for a run to end

	Queued      []effect.Run               // runs that start after the state was saved
	OpenRecords map[string]effect.CloseRun // by bead: records that are not closed yet
	SavedRev    uint64                     // revision of the state that is on disk
	saving      bool
	Problems
	firstPatrol time.Time
	// when to look for records of runs that were given up; zero = not needed
	strayCheck time.Time
}

// Problems are reasons why automations are degraded; "" means no problem.
type Problems struct {
	Forgotten  string // why their saved state could not be read
	Unread     string // why their folders cannot be read
	Unswept    string // why the records of earlier runs cannot be read
	Unclosable string // which records of runs can never be closed, and why
	Unfed      string // why they receive no events
	Unopened   string // why no records of runs can be created
	Unclosed   string // why records of runs cannot be closed
	Unsaved    string // why their state cannot be saved
}

// City is what runs need to know of the city.
type City interface {
	Configuration() *effect.Configuration // nil until one was read
	Running() bool                        // the city is not being stopped
	Settling() bool                       // the controller lists sessions once and starts nothing
	Away() bool                           // the folder of the city was moved
	StoreProblem() string                 // why the city's store cannot be used; "" = it can
	CountWork()
}

// New returns the state of a city without automations. Effects go to out.
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

// Inherit takes the state that the previous controller saved, or why it cannot be read.
func (rs *Runs) Inherit(state map[string]automation.Memory, problem string) {
	rs.Forgotten = problem
	if state != nil {
		rs.Inherited = state
	}
}

// Checked takes the result of the check of an automation with a condition.
func (rs *Runs) Checked(now time.Time, in effect.ConditionChecked) {
	rs.Schedule.Checked(in.Scoped, in.Check, in.Code, in.Err)
	rs.Turn(now)
}

// Next returns when an automation may be due; zero if none is.
func (rs *Runs) Next(now time.Time) time.Time {
	if !rs.RecordsRead {
		return time.Time{}
	}
	return rs.Schedule.Next(now)
}

// Going returns the names of automations that run, sorted.
func (rs *Runs) Going() []string { return slices.Sorted(maps.Keys(rs.Current)) }

// Closing returns how many records of runs are being closed.
func (rs *Runs) Closing() (n int) {
	for _, f := range rs.OpenRecords {
		if !f.Failed {
			n++
		}
	}
	return n
}

// Quiet reports whether no run and no closing of a record is in flight.
func (rs *Runs) Quiet() bool { return len(rs.Current) == 0 && rs.Closing() == 0 }

// Remembered returns the names of automations with saved state, sorted.
func (rs *Runs) Remembered() []string { return slices.Sorted(maps.Keys(rs.Schedule.Memory())) }

// Warnings returns the problems found in the folders of automations.
func (rs *Runs) Warnings() toml.Problems { return rs.catalog.Warnings }
