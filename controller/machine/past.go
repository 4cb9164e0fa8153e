package machine

import (
	"time"

	"gcity/automation"
	"gcity/controller/effect"
)

// Past is what a machine is told of the controller before it, and of the program that runs it.
type Past struct {
	Mode      string // of this run
	Measures  bool   // the session provider measures what sessions use
	Histories map[string]effect.Memo
	Unread    string // why the crash histories are not known
	Deeds     map[string]automation.Memory
	Forgot    string // why it is not known what automations did
}

// New returns the machine of a controller that takes over.
func New(past Past) *Machine {
	m := newMachine()
	m.mode, m.gauge.able = past.Mode, past.Measures
	m.keeper.recalled, m.keeper.unread = past.Histories, past.Unread
	m.runs.Inherit(past.Deeds, past.Forgot)
	return m
}

// Configuration returns the configuration in force.
func (m *Machine) Configuration() *effect.Configuration { return m.conf }

// runsCity shows the machine to the automations' runs.
type runsCity struct{ m *Machine }

func (c runsCity) Configuration() *effect.Configuration { return c.m.conf }
func (c runsCity) Running() bool                        { return c.m.ending == alive }
func (c runsCity) Settling() bool                       { return c.m.settling }
func (c runsCity) Away() bool                           { return c.m.away != "" }
func (c runsCity) StoreProblem() string                 { return c.m.work.storeProblem("") }
func (c runsCity) CountWork()                           { c.m.work.count() }

// Settle makes the machine leave agents alone that end.
func (m *Machine) Settle() { m.settling = true }

// Standing is what the loop has to know of the machine after a turn.
type Standing struct {
	Looked  bool      // a look at the sessions has come back, or has failed
	News    bool      // a snapshot would show something that the one before did not
	StopBy  time.Time // when a stop under way is given up; zero unless agents are being stopped
	Ended   bool
	Left    bool   // the agents were left running
	Lost    error  // another controller was found in charge of the city
	Remains string // what may still run after a stop that did not end in time; "" = it did
}

// Standing returns how things stand now.
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

// Published says that a snapshot shows all news.
func (m *Machine) Published() { m.step.Changed = false }

// Tells says that events were written, which a snapshot shows.
func (m *Machine) Tells() { m.step.Changed = true }

// LastMemory returns the crash histories that are still to be written when the loop has ended. It is due unless the
// file has them already, or another controller writes it.
func (m *Machine) LastMemory() (content []byte, due bool, err error) {
	if m.lost != nil || !m.keeper.unwritten() && !m.keeper.busy {
		return nil, false, nil
	}
	content, err = m.keeper.memory()
	return content, true, err
}
