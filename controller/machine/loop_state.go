package machine

import (
	"slices"
	"time"

	"gcity/automation"
	"gcity/controller/effect"
	"gcity/events"
)

// InitialState is the state that the previous controller saved, and facts about this run.
type InitialState struct {
	Mode               string
	Measures           bool
	Histories          effect.Histories
	HistoriesProblem   string
	Automations        map[string]automation.Memory
	AutomationsProblem string
	// nil in a controller
	Observes *Observation
}

// New returns the machine of a new controller.
func New(past InitialState) *Machine {
	m := newMachine()
	m.mode, m.gauge.able, m.observes = past.Mode, past.Measures, past.Observes
	m.histories.fromFile, m.histories.readProblem = past.Histories, past.HistoriesProblem
	m.runs.Inherit(past.Automations, past.AutomationsProblem)
	return m
}

func (m *Machine) stops() bool { return m.ending != running && !m.leftRunning }

// Configuration returns the configuration in force.
func (m *Machine) Configuration() *effect.Configuration { return m.conf }

type runsCity struct{ m *Machine }

func (c runsCity) Configuration() *effect.Configuration { return c.m.conf }
func (c runsCity) Record(e events.Event, replies ...effect.Reply) {
	c.m.journal.record(nil, e, replies...)
}
func (c runsCity) Listed() bool         { return c.m.lists.listed }
func (c runsCity) OneShot() bool        { return c.m.oneShot }
func (c runsCity) FolderMoved() bool    { return c.m.folderMoved != "" }
func (c runsCity) StoreProblem() string { return c.m.work.storeProblem("") }
func (c runsCity) CountWork()           { c.m.work.count() }
func (c runsCity) Stops() bool          { return c.m.stops() }
func (c runsCity) Observed() bool       { return c.m.observes != nil }
func (c runsCity) Running() bool        { return c.m.ending == running && c.m.observes == nil }

// SetOneShot makes the machine ignore agents' exits, for a one-shot run.
func (m *Machine) SetOneShot() { m.oneShot = true }

// LoopState is the state that the loop reads after a step.
type LoopState struct {
	Listed  bool // the sessions were listed, or listing them failed
	Changed bool
	// a count of work is in flight
	Counting bool
	// when the controller gives up stopping the agents; zero = it is not stopping them
	StopBy      time.Time
	Ended       bool
	LeftRunning bool
	Lost        error // another controller owns the city
	Unwritten   bool  // the machine waits for LogHealth.Written
	// what might still be running after the stop timed out
	StillRunning string
}

func (m *Machine) LoopState() LoopState {
	s := LoopState{
		Listed: m.lists.listed || m.lists.problem != "", Changed: m.step.Changed,
		Counting:    m.work.counting,
		Ended:       m.ending == ended,
		LeftRunning: m.leftRunning, Lost: m.lost, Unwritten: m.journal.waitsForLog(),
	}
	if m.ending == stopAgents {
		s.StopBy = m.cityStop.by
	}
	if m.cityStop.gaveUp {
		s.StillRunning = m.cityStop.giveUp
	}
	return s
}

// Published records that a snapshot was published.
func (m *Machine) Published() { m.step.Changed = false }

// Late handles the result of a change to work that ended after the loop. It returns only events and replies, because no
// other effect can start.
func (m *Machine) Late(now time.Time, in effect.Input) []effect.Effect {
	m.stepNumber++
	m.step.Begin()
	switch in.(type) {
	case effect.BeadChanged, effect.WorkReturned:
		m.takeWork(now, in)
	case effect.Escalated:
		m.takeWatchdog(now, in)
	}
	return slices.DeleteFunc(m.step.Effects, func(f effect.Effect) bool {
		switch f.(type) {
		case effect.Record, effect.SendReply:
			return false
		}
		return true
	})
}

// LastMemory returns the crash histories to save after the loop has ended. The second result is false if there is
// nothing to write.
func (m *Machine) LastMemory() (content []byte, due bool, err error) {
	switch {
	case m.lost != nil || m.conf == nil:
		return nil, false, nil
	case m.leftRunning:
		content, err = m.histories.encode((*record).toHandOver)
		return content, true, err
	case !m.histories.unsaved() && !m.histories.saving:
		return nil, false, nil
	}
	content, err = m.histories.encode(m.histories.toSave)
	return content, true, err
}
