package machine

import (
	"time"

	"gcity/controller/effect"
	"gcity/events"
	"gcity/session"
)

// unrecorded returns the ends of an agent's lives whose events wait in the queue.
func (m *Machine) unrecorded(a *record) (ends []effect.UnrecordedEnd) {
	for i := range m.journal.queue {
		if q := &m.journal.queue[i]; q.agent == a && q.end != nil {
			ends = append(ends, effect.UnrecordedEnd{Exit: *q.end, Event: q.Event})
		}
	}
	return ends
}

// begin orders a start, which keeps the ends that are not recorded yet.
func (m *Machine) begin(a *record) {
	f := a.outfit()
	f.Ends = m.unrecorded(a)
	a.act.endFiles = len(f.Ends) > 0
	m.step.Do(f)
}

// inheritEnds records what the predecessor could not. Ends that a look shows too are left to it.
func (m *Machine) inheritEnds(now time.Time, in *effect.Inherited, listed []session.Status) {
	shown := map[string]bool{}
	for i := range listed {
		shown[listed[i].ID] = true
	}
	for _, e := range in.Ends {
		id := e.Exit.ID
		ack := effect.Acknowledge{Agent: e.Exit.Agent, Session: e.Exit.Name, ID: id}
		a := m.agents[e.Exit.Agent]
		switch {
		case shown[id]:
		case in.Recorded[id]:
			m.step.Do(ack)
		case a == nil: // it is not declared any more
			m.step.Do(effect.Record{Event: e.Event})
			m.step.Do(ack)
		default:
			m.decided(now, a, "record", "the controller before could not: "+e.Event.Message)
			m.inheritEnd(now, a, e)
			m.journal.past[id] = true
			a.act.acks = append(a.act.acks, ack)
		}
	}
}

// inheritEnd counts and records the end of an earlier life of an agent.
func (m *Machine) inheritEnd(now time.Time, a *record, e effect.UnrecordedEnd) {
	if e.Event.Type != events.AgentCrashed || a.want == nil {
		m.journal.inOrder(queuedRecord{Record: effect.Record{Event: e.Event}, agent: a})
		return
	}
	if !a.called() {
		a.rest.history.Died(now, effect.Death(&e.Exit), a.want.Policy)
	}
	m.journal.tellCrash(now, a, e.Exit, e.Event)
}
