// Package runs makes the decisions about a city's automations and their runs.
package runs

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"time"

	"gcity/automation"
	"gcity/city"
	"gcity/controller/describe"
	"gcity/controller/effect"
	"gcity/controller/step"
	"gcity/internal/toml"
)

// Runs is the state of a city's automations. automation.Runs decides when they run. Runs turns these decisions into
// effects.
type Runs struct {
	city City
	out  *step.Output

	Schedule *automation.Runs
	catalog  automation.Catalog
	known    bool // the automations were read at least once
	// saved by the previous controller; nil once it has been passed to Schedule
	Inherited map[string]automation.Memory
	// seq of the newest event when the automations were read
	logSeq      uint64
	RecordsRead bool // the records that a previous controller left open have been closed
	sweeping    bool
	// start and end events for runs of the previous controller; nil once the records are read
	recorded map[string]bool
	Scans

	SubscriptionID   uint64
	handledSeq       uint64 // seq of the latest handled event
	subscribedTypes  []string
	subscriptionLost bool // the next patrol subscribes again

	Current map[string]*city.Run // by scoped name; ID "" = the record is being created
	Last    map[string]*city.Run // by automation
	failed  map[string]*city.Run // the latest failed or interrupted run of each automation

	earlyFires    []earlyFire
	FireWaiters   map[string][]uint64 // commands that wait for a run to start, by scoped name
	cancelWaiters map[string][]uint64 // commands that wait for a run to end, by ID of the record

	Queued      []effect.Run               // runs that start when the state is saved
	OpenRecords map[string]effect.CloseRun // records that are not closed yet, by ID
	SavedRev    uint64
	saving      bool
	Problems
	firstPatrol time.Time
	// zero = no check is necessary
	unclosedCheck time.Time
}

// Problems contains the problems of a city's automations. "" = no problem.
type Problems struct {
	StateNotRead     string
	FoldersNotRead   string
	RecordsNotRead   string
	Unclosable       string // records that can never be closed, with the reasons
	NoEvents         string
	RecordNotCreated string
	RecordNotClosed  string
	StateNotSaved    string
}

// City is the view of the city that Runs uses.
type City interface {
	Configuration() *effect.Configuration // nil before the first configuration
	Running() bool                        // the city is not being stopped
	Stops() bool                          // the city and its agents are stopping or have stopped
	Observed() bool                       // the city has no controller, so no run may start
	OneShot() bool                        // no run may start
	FolderMoved() bool
	StoreProblem() string // why the city's store cannot be used; "" = no problem
	CountWork()
}

// New returns an empty Runs that adds its effects to out.
func New(c City, out *step.Output) Runs {
	return Runs{
		city:          c,
		out:           out,
		Schedule:      automation.NewRuns(0),
		Inherited:     map[string]automation.Memory{},
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

// Next returns the earliest time at which an automation might be due, or zero.
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

// Warnings returns the problems that the latest scan found in automation folders.
func (rs *Runs) Warnings() toml.Problems { return rs.catalog.Warnings }

func (rs *Runs) subscribe() {
	from, ok := rs.Schedule.From()
	if !ok {
		return
	}
	var on []string
	for _, d := range rs.catalog.Automations {
		if d.Gate == automation.Event && !slices.Contains(on, d.On) {
			on = append(on, d.On)
		}
	}
	slices.Sort(on)
	if slices.Equal(on, rs.subscribedTypes) && from >= rs.handledSeq {
		return
	}
	rs.subscribedTypes, rs.handledSeq = on, from
	rs.SubscriptionID++
	rs.out.Do(effect.Subscribe{ID: rs.SubscriptionID, After: from, Types: on})
}

// SubscriptionEnded handles the end of the subscription. The next patrol subscribes again.
func (rs *Runs) SubscriptionEnded(in effect.SubscriptionEnded) {
	if in.Subscription != rs.SubscriptionID {
		return
	}
	rs.subscriptionLost = true
	rs.out.Note(&rs.NoEvents, "the events that trigger automations cannot be read: "+in.Err.Error())
}

func (rs *Runs) resubscribe() {
	if !rs.subscriptionLost {
		rs.out.Note(&rs.NoEvents, "")
		return
	}
	rs.subscriptionLost, rs.subscribedTypes = false, nil
	rs.subscribe()
}

// EventsReceived handles events that automations wait for.
func (rs *Runs) EventsReceived(now time.Time, in effect.EventsReceived) {
	// events from an earlier subscription would be out of order
	if in.Subscription != rs.SubscriptionID {
		return
	}
	for _, e := range in.Events {
		rs.Schedule.See(e)
		rs.handledSeq = max(rs.handledSeq, e.Seq)
	}
	rs.Advance(now)
}

// save saves the state if it has changed, and starts the queued runs that no longer need to wait for a save.
func (rs *Runs) save() {
	if rev := rs.Schedule.Rev(); rev != rs.SavedRev && !rs.saving {
		data, err := json.Marshal(rs.Schedule.Memory())
		if err != nil {
			rs.out.Note(&rs.StateNotSaved, err.Error())
			return
		}
		rs.saving = true
		rs.out.Do(effect.SaveAutomations{Rev: rev, Memory: data})
	}
	rs.Queued = slices.DeleteFunc(rs.Queued, func(f effect.Run) bool {
		if f.Memory > rs.SavedRev && (rs.saving || rs.StateNotSaved == "") {
			return false
		}
		rs.out.Do(f)
		return true
	})
}

// Saved handles the result of saving the state. After a failure, the waiting runs start anyway.
func (rs *Runs) Saved(now time.Time, in effect.AutomationsSaved) {
	rs.saving = false
	if in.Err != nil {
		rs.out.Note(&rs.StateNotSaved, "the automation state cannot be saved: "+in.Err.Error())
	} else {
		rs.SavedRev = in.Rev
		rs.out.Note(&rs.StateNotSaved, "")
		rs.save()
		return
	}
	for _, f := range rs.Queued {
		rs.out.Do(f)
	}
	rs.Queued = nil
}

// Snapshot returns all automations, including broken ones, sorted by name.
func (rs *Runs) Snapshot() []city.Automation {
	out := []city.Automation{}
	broken := func(name string) bool {
		return slices.ContainsFunc(rs.catalog.Broken, func(b automation.Broken) bool {
			return b.Scoped() == name
		})
	}
	leaving := slices.DeleteFunc(rs.Schedule.Leaving(), func(s automation.Status) bool {
		return broken(s.Definition.Scoped())
	})
	for _, s := range append(rs.Schedule.Status(), leaving...) {
		v := describe.Automation(rs.city.Configuration().Dir, s.Definition)
		v.State, v.Reason, v.Next, v.Failures = city.AutomationState(s.State), s.Reason,
			shown(s.Until), s.Memory.Failures
		switch {
		case rs.city.Stops() && s.Run == nil:
			v.State, v.Reason, v.Next = city.AutomationOff, "the city was stopped", nil
		case rs.city.Observed():
			if s.Run != nil {
				v.Reason = s.Run.Reason
			}
			v.Reason += "; " + unattended
		case s.Run != nil:
			v.Since = shown(s.Since)
		}
		out = append(out, v)
	}
	if !rs.RecordsRead {
		for _, d := range rs.catalog.Automations {
			v := describe.Automation(rs.city.Configuration().Dir, d)
			if v.Reason = cmp.Or(rs.city.StoreProblem(), rs.whyUnknown()); d.Off != "" {
				v.State, v.Reason = city.AutomationOff, d.Off
			}
			out = append(out, v)
		}
	}
	for _, b := range rs.catalog.Broken {
		out = append(out, describe.Broken(rs.city.Configuration().Dir, b))
	}
	for i := range out {
		out[i].Last, out[i].LastUnknown = rs.Last[out[i].Name], !rs.RecordsRead
	}
	slices.SortFunc(out, func(a, b city.Automation) int { return cmp.Compare(a.Name, b.Name) })
	return out
}

func (rs *Runs) whyUnknown() string {
	if rs.RecordsNotRead != "" {
		return "the records of earlier runs are not available: " + rs.RecordsNotRead
	}
	return "the records of earlier runs are being read"
}

func shown(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}
