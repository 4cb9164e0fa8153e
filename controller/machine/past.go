package machine

import (
	"time"

	"gcity/automation"
	"gcity/controller/effect"
)

// Past is the state that a machine gets from the previous controller and the program that runs it.
type Past struct {
	Mode      string // of this run
	Measures  bool   // the session provider can measure resources
	Histories map[string]effect.Memo
	Unread    string // why the crash histories could not be read
	Deeds     map[string]automation.Memory
	Forgot    string // why the state of automations could not be read
}

// New returns the machine of a new controller.
func New(past Past) *Machine {
	m := newMachine()
	m.mode, m.gauge.able = past.Mode, past.Measures
	m.keeper.recalled, m.keeper.unread = past.Histories, past.Unread
	m.runs.Inherit(past.Deeds, past.Forgot)
	return m
}

// Configuration returns the configuration in force.
func (m *Machine) Configuration() *effect.Configuration { return m.conf }

// runsCity shows the machine to controller/runs.
type runsCity struct{ m *Machine }

func (c runsCity) Configuration() *effect.Configuration { return c.m.conf }
func (c runsCity) Running() bool                        { return c.m.ending == alive }
func (c runsCity) Settling() bool                       { return c.m.settling }
func (c runsCity) Away() bool                           { return c.m.away != "" }
func (c runsCity) StoreProblem() string                 { return c.m.work.storeProblem("") }
func (c runsCity) CountWork()                           { c.m.work.count() }

// Settle makes the machine ignore exits of agents.
func (m *Machine) Settle() { m.settling = true }

// Standing is what the loop needs to know after a step.
type Standing struct {
	Looked  bool      // a list of sessions has returned or failed
	News    bool      // a snapshot would differ from the previous one
	StopBy  time.Time // when a stop in progress is given up; zero unless agents are stopping
	Ended   bool
	Left    bool   // the agents were left running
	Lost    error  // another controller owns the city
	Remains string // what may still run after a stop that timed out; "" = nothing
}

// Standing returns the current state for the loop.
func (m *Machine) Standing() Standing {
	s := Standing{
		Looked: m.looks.listed || m.looks.unlisted != "", News: m.step.Changed,
		Ended: m.ending == ended,
		Left:  m.left, Lost: m.lost,
	}
	if m.ending == stopAgents {
		s.StopBy = m.finale.by
	}
	if m.finale.gaveUp {
		s.Remains = m.finale.giveUp
	}
	return s
}

// Published notes that a snapshot shows all changes.
func (m *Machine) Published() { m.step.Changed = false }

// EventsWritten notes that events were written, which a snapshot shows.
func (m *Machine) EventsWritten() { m.step.Changed = true }

// LastMemory returns the crash histories that must be saved after the loop has ended. It is due unless the file is
// current or another controller owns it.
func (m *Machine) LastMemory() (content []byte, due bool, err error) {
	if m.lost != nil || !m.keeper.unwritten() && !m.keeper.busy {
		return nil, false, nil
	}
	content, err = m.keeper.memory()
	return content, true, err
}
