package machine

import (
	"time"

	"gcity/city"
	"gcity/controller/effect"
	"gcity/events"
)

// shutdown begins the end: of the city, or of the controller alone.
func (m *Machine) shutdown(now time.Time, leave bool) {
	if m.ending != alive {
		return
	}
	m.step.Changed = true
	m.refuseAll(m.asking, city.Unavailable, "the city is being stopped")
	m.refuseAll(m.waiting, city.Unavailable, "the city is being stopped")
	m.asking, m.waiting = nil, nil
	m.refuseGroups(city.Unavailable, "the city is being stopped")
	for _, a := range m.order {
		m.refuse(a, city.Unavailable, "the city is being stopped")
	}
	if leave {
		m.ending = leaveAgents
		return
	}
	m.ending = stopAgents
	m.finale = finale{since: now, by: now.Add(m.StopLimit())}
	m.runs.Stop()
	m.decideAll(now)
	m.look()
}

// finish ends a step: what may be forgotten is acknowledged, and an ending city looks whether it has ended.
func (m *Machine) finish(now time.Time) {
	if at := m.hurryAt(); !at.IsZero() && !now.Before(at) {
		m.hurry(now)
	}
	m.deps.ripple(now)
	if len(m.groups) > 0 {
		m.settleGroups()
	}
	m.step.AppendLate()
	for _, a := range m.order {
		// its events come first
		if len(a.act.acks) > 0 && a.act.op != opStop && a.act.queued == 0 && !a.act.endFiles {
			m.flushAcks(a)
		}
	}
	switch m.ending {
	case stopAgents:
		if !m.listing && m.quiet() && (m.early || m.lookedAt < m.lastOp() || m.due(now)) {
			m.relook = time.Time{}
			m.look()
		}
		m.noteWaits()
	case leaveAgents:
		m.left = true
		m.end(now, "agents are left running")
	}
}

// due reports that a look that failed is to be tried again.
func (m *Machine) due(now time.Time) bool { return !m.relook.IsZero() && !now.Before(m.relook) }

// quiet reports that nothing is in flight for any agent.
func (m *Machine) quiet() bool {
	if len(m.queue) > 0 {
		return false
	}
	for _, a := range m.order {
		if a.act.op != opNone {
			return false
		}
	}
	return m.runs.Quiet()
}

func (m *Machine) lastOp() uint64 {
	var last uint64
	for _, a := range m.order {
		last = max(last, a.act.opTurn)
	}
	return last
}

// seenEmpty ends a city that stops, once a look that is newer than all stops has shown nothing alive.
func (m *Machine) seenEmpty(now time.Time, turn uint64) {
	if m.ending != stopAgents {
		return
	}
	if !m.quiet() {
		m.early = true
		return
	}
	for _, a := range m.order {
		if a.sess.alive || a.sess.unsure || a.act.opTurn > turn {
			return
		}
	}
	m.end(now, "all agents are stopped")
}

// end answers those who asked for it; the loop stops after this step.
func (m *Machine) end(now time.Time, msg string) {
	m.ending = ended
	m.finale.by, m.finale.waits, m.step.Changed = now.Add(effect.Farewell),
		[]string{"all is decided, and what is under way comes to its end"}, true
	m.texts.giveUpMail(now)
	m.releaseRecords(time.Time{})
	for i := range m.leaving {
		if m.gaveUp {
			m.leaving[i].Err = &city.Error{Code: city.Unavailable,
				Message: "the stop of the city was " + msg + "; " + LookFor}
			continue
		}
		m.leaving[i].Receipt.Message = msg
	}
	m.step.Do(effect.Record{Event: events.Event{Type: events.ControllerStopped,
		Actor: effect.ActorController, Message: msg}, Answers: m.leaving})
	m.leaving = nil
}

// Rest reports that a one-shot has nothing left to do.
func (m *Machine) Rest() bool {
	for _, p := range m.sizes.poolOrder {
		if p.asks > 0 {
			return false
		}
	}
	return m.listed && m.quiet() && !m.listing && m.awaited == 0 && !m.loading &&
		len(m.sizes.checking) == 0 && !m.vetting()
}
